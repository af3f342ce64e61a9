#define SODM_VECTOR_BYTES 32
#include "simd/linear_impl.inc"

namespace sodm {
extern const LinearOps<float> linear_float_avx2;
extern const LinearOps<double> linear_double_avx2;
const LinearOps<float> linear_float_avx2 = make_linear_ops<float>();
const LinearOps<double> linear_double_avx2 = make_linear_ops<double>();
}  // namespace sodm
