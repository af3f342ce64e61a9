#include <cstring>

#include "simd/linear_ops.hpp"
#include "simd/ops.hpp"

namespace sodm {

extern const LinearOps<float> linear_float_baseline;
extern const LinearOps<double> linear_double_baseline;
#ifdef SODM_X86
extern const LinearOps<float> linear_float_avx2, linear_float_avx512;
extern const LinearOps<double> linear_double_avx2, linear_double_avx512;
#endif

namespace {

// The table that goes with the instruction set SimdOps has chosen, so that there is one choice, made in one
// place.
template <class T>
const LinearOps<T>& matching(const LinearOps<T>& baseline, const LinearOps<T>* avx2,
                             const LinearOps<T>* avx512) {
    const char* name = simd_name();
    if (avx512 && std::strcmp(name, "avx512") == 0) return *avx512;
    if (avx2 && std::strcmp(name, "avx2") == 0) return *avx2;
    return baseline;
}

}  // namespace

#ifdef SODM_X86
template <>
const LinearOps<float>& linear_simd<float>() {
    return matching(linear_float_baseline, &linear_float_avx2, &linear_float_avx512);
}
template <>
const LinearOps<double>& linear_simd<double>() {
    return matching(linear_double_baseline, &linear_double_avx2, &linear_double_avx512);
}
#else
template <>
const LinearOps<float>& linear_simd<float>() {
    return linear_float_baseline;
}
template <>
const LinearOps<double>& linear_simd<double>() {
    return linear_double_baseline;
}
#endif

}  // namespace sodm
