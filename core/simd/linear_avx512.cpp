#define SODM_VECTOR_BYTES 64
#include "simd/linear_impl.inc"

namespace sodm {
extern const LinearOps<float> linear_float_avx512;
extern const LinearOps<double> linear_double_avx512;
const LinearOps<float> linear_float_avx512 = make_linear_ops<float>();
const LinearOps<double> linear_double_avx512 = make_linear_ops<double>();
}  // namespace sodm
