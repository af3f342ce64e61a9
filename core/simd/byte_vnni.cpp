#include <immintrin.h>

#include <utility>

#include "simd/byte_ops.hpp"

namespace sodm {
namespace {

constexpr int kLanes = 16, kPanelLanes = 32;
typedef std::int32_t Sum __attribute__((vector_size(64)));  // GCC 12 keeps arrays of __m512i in memory

inline __m512i four_bytes(const std::uint8_t* p) {
    std::int32_t bytes;
    __builtin_memcpy(&bytes, p, sizeof bytes);
    return _mm512_set1_epi32(bytes);
}

// Values for the R lanes of a panel that R rows are paired with, from their sums.
struct Ending {
    const std::int32_t* row_term;
    __m512i left, right, weight;
    __m512 factor;
    float* out;
    std::ptrdiff_t ldo;

    inline void store(int r, __m512i s0, __m512i s1) const {
        const __m512i term = _mm512_set1_epi32(row_term[r]);
        const __m512i a = _mm512_add_epi32(_mm512_add_epi32(term, left), _mm512_mullo_epi32(weight, s0));
        const __m512i b = _mm512_add_epi32(_mm512_add_epi32(term, right), _mm512_mullo_epi32(weight, s1));
        _mm512_storeu_ps(out + r * ldo, _mm512_mul_ps(factor, _mm512_cvtepi32_ps(a)));
        _mm512_storeu_ps(out + r * ldo + kLanes, _mm512_mul_ps(factor, _mm512_cvtepi32_ps(b)));
    }
};

// Rows R... in registers, two for each. Written without loops over them, which GCC 12 would unroll too late
// to keep the sums out of memory.
template <int... R>
inline void pair_rows(const std::uint8_t* x, std::ptrdiff_t stride, int quads, const std::uint32_t* panel,
                      const Ending& ending, std::integer_sequence<int, R...>) {
    Sum s[sizeof...(R)][2];
    ((s[R][0] = s[R][1] = Sum{}), ...);
    for (int q = 0; q < quads; ++q, x += 4, panel += kPanelLanes) {
        const __m512i z0 = _mm512_loadu_si512(panel), z1 = _mm512_loadu_si512(panel + kLanes);
        __m512i xr;
        ((xr = four_bytes(x + R * stride), s[R][0] = (Sum)_mm512_dpbusd_epi32((__m512i)s[R][0], xr, z0),
          s[R][1] = (Sum)_mm512_dpbusd_epi32((__m512i)s[R][1], xr, z1)),
         ...);
    }
    (ending.store(R, (__m512i)s[R][0], (__m512i)s[R][1]), ...);
}

void pair(const std::uint8_t* x, std::ptrdiff_t stride, int rows, int quads, const std::uint32_t* panel,
          const std::int32_t* row_term, const std::int32_t* column_term, std::int32_t weight, float factor,
          float* out, std::ptrdiff_t ldo) {
    Ending ending{row_term,
                  _mm512_loadu_si512(column_term),
                  _mm512_loadu_si512(column_term + kLanes),
                  _mm512_set1_epi32(weight),
                  _mm512_set1_ps(factor),
                  out,
                  ldo};
    int left = rows;
    auto take = [&](auto sequence, int count) {
        for (; left >= count; left -= count) {
            pair_rows(x, stride, quads, panel, ending, sequence);
            x += count * stride;
            ending.row_term += count;
            ending.out += count * ldo;
        }
    };
    take(std::make_integer_sequence<int, 12>{}, 12);
    take(std::make_integer_sequence<int, 4>{}, 4);
    take(std::make_integer_sequence<int, 1>{}, 1);
}

}  // namespace

extern const ByteOps byte_ops_vnni;
const ByteOps byte_ops_vnni = {pair};

}  // namespace sodm
