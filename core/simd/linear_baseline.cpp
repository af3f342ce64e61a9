#define SODM_VECTOR_BYTES 16
#include "simd/linear_impl.inc"

namespace sodm {
extern const LinearOps<float> linear_float_baseline;
extern const LinearOps<double> linear_double_baseline;
const LinearOps<float> linear_float_baseline = make_linear_ops<float>();
const LinearOps<double> linear_double_baseline = make_linear_ops<double>();
}  // namespace sodm
