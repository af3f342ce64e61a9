#define SODM_VECTOR_BYTES 32
#define SODM_ROWS 3
#include "simd/ops_impl.inc"

namespace sodm {
extern const SimdOps<float> ops_float_avx2;
extern const SimdOps<double> ops_double_avx2;
const SimdOps<float> ops_float_avx2 = make_ops<float>("avx2");
const SimdOps<double> ops_double_avx2 = make_ops<double>("avx2");
}  // namespace sodm
