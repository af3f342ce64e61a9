// What the processor and the system let a program use.
#pragma once

#ifdef SODM_X86
#ifdef _WIN32
// Clang has no __builtin_cpu_supports where it links Microsoft's runtime.
#include <immintrin.h>
#include <intrin.h>
#endif

namespace sodm {

#ifdef _WIN32
namespace cpu {

// Leaf 7 of CPUID says what the processor has; XCR0 which registers the system keeps for a program.
inline bool has(unsigned leaf7_ebx, unsigned leaf7_ecx, unsigned kept) {
    int r[4];
    __cpuid(r, 0);
    if (r[0] < 7) return false;
    __cpuidex(r, 1, 0);
    const unsigned fma_osxsave = (1u << 12) | (1u << 27);
    if ((static_cast<unsigned>(r[2]) & fma_osxsave) != fma_osxsave) return false;
    __cpuidex(r, 7, 0);
    if ((static_cast<unsigned>(r[1]) & leaf7_ebx) != leaf7_ebx) return false;
    if ((static_cast<unsigned>(r[2]) & leaf7_ecx) != leaf7_ecx) return false;
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & kept) == kept;
}

}  // namespace cpu

inline bool cpu_has_avx2() { return cpu::has((1u << 5) | (1u << 3) | (1u << 8), 0, 0x6); }
inline bool cpu_has_avx512() {  // F, DQ, BW, VL
    return cpu_has_avx2() && cpu::has((1u << 16) | (1u << 17) | (1u << 30) | (1u << 31), 0, 0xe6);
}
inline bool cpu_has_vnni() { return cpu_has_avx512() && cpu::has(0, 1u << 11, 0xe6); }
#else
inline bool cpu_has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
inline bool cpu_has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("bmi2");
}
inline bool cpu_has_vnni() { return __builtin_cpu_supports("avx512vnni"); }
#endif

}  // namespace sodm
#endif
