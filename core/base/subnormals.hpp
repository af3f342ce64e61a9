// Numbers too small for their full number of digits (floats below 1.2e-38) as zeros.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sodm {

// How a thread rounds and what it does with such numbers.
using FloatMode = std::uint64_t;

inline FloatMode float_mode() {
#if defined(__SSE2__)
    return _mm_getcsr();
#elif defined(__aarch64__)
    FloatMode mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
#else
    return 0;
#endif
}

inline void set_float_mode(FloatMode mode) {
#if defined(__SSE2__)
    _mm_setcsr(static_cast<unsigned>(mode));
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#else
    static_cast<void>(mode);
#endif
}

// While this lives, they count as zero on this thread and on those that work for it (Threads). Kernels of a
// large gamma are full of them, some processors take a hundred times as long for each, and to no sum do they
// matter: a factor of such a system took 2.7 s that takes .15 without them.
class FlushSubnormals {
  public:
    FlushSubnormals() : before_(float_mode()) {
#if defined(__SSE2__)
        set_float_mode(before_ | 0x8040);  // results, and what is read
#elif defined(__aarch64__)
        set_float_mode(before_ | (FloatMode(1) << 24));
#endif
    }
    ~FlushSubnormals() { set_float_mode(before_); }
    FlushSubnormals(const FlushSubnormals&) = delete;
    FlushSubnormals& operator=(const FlushSubnormals&) = delete;

  private:
    FloatMode before_;
};

}  // namespace sodm
