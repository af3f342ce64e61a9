#define SODM_VECTOR_BYTES 16
#define SODM_ROWS 1
#include "simd/ops_impl.inc"

namespace sodm {
extern const SimdOps<float> ops_float_baseline;
extern const SimdOps<double> ops_double_baseline;
const SimdOps<float> ops_float_baseline = make_ops<float>("baseline");
const SimdOps<double> ops_double_baseline = make_ops<double>("baseline");
}  // namespace sodm
