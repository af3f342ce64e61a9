#define SODM_VECTOR_BYTES 64
#define SODM_ROWS 6
#include "simd/ops_impl.inc"

namespace sodm {
extern const SimdOps<float> ops_float_avx512;
extern const SimdOps<double> ops_double_avx512;
const SimdOps<float> ops_float_avx512 = make_ops<float>("avx512");
const SimdOps<double> ops_double_avx512 = make_ops<double>("avx512");
}  // namespace sodm
