#include <cstring>

#include "simd/byte_ops.hpp"
#include "simd/cpu.hpp"
#include "simd/ops.hpp"

namespace sodm {

#ifdef SODM_X86
extern const ByteOps byte_ops_vnni;

const ByteOps* byte_ops() {
    static const bool available = cpu_has_vnni();
    return available && std::strcmp(simd_name(), "avx512") == 0 ? &byte_ops_vnni : nullptr;
}
#else
const ByteOps* byte_ops() { return nullptr; }
#endif

}  // namespace sodm
