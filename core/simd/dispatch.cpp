#include <atomic>
#include <cstring>

#include "simd/cpu.hpp"
#include "simd/ops.hpp"

namespace sodm {

extern const SimdOps<float> ops_float_baseline;
extern const SimdOps<double> ops_double_baseline;
#ifdef SODM_X86
extern const SimdOps<float> ops_float_avx2, ops_float_avx512;
extern const SimdOps<double> ops_double_avx2, ops_double_avx512;
#endif

namespace {

struct Choice {
    const SimdOps<float>* single;
    const SimdOps<double>* twice;
    bool available;
};

// Best first.
const Choice* choices(int& count) {
    static const Choice all[] = {
#ifdef SODM_X86
        {&ops_float_avx512, &ops_double_avx512, cpu_has_avx512()},
        {&ops_float_avx2, &ops_double_avx2, cpu_has_avx2()},
#endif
        {&ops_float_baseline, &ops_double_baseline, true},
    };
    count = static_cast<int>(sizeof all / sizeof all[0]);
    return all;
}

const Choice* best() {
    int count;
    const Choice* all = choices(count);
    for (int i = 0; i < count; ++i)
        if (all[i].available) return all + i;
    return all + count - 1;
}

std::atomic<const Choice*>& current() {
    static std::atomic<const Choice*> choice{best()};
    return choice;
}

}  // namespace

template <>
const SimdOps<float>& simd<float>() {
    return *current().load(std::memory_order_relaxed)->single;
}
template <>
const SimdOps<double>& simd<double>() {
    return *current().load(std::memory_order_relaxed)->twice;
}

const char* simd_name() { return current().load()->single->name; }

bool simd_select(const char* name) {
    int count;
    const Choice* all = choices(count);
    for (int i = 0; i < count; ++i)
        if (all[i].available && std::strcmp(all[i].single->name, name) == 0) {
            current() = all + i;
            return true;
        }
    return false;
}

}  // namespace sodm
