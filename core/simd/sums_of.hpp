// Products with a tile of T that are summed as A: the same, or floats whose sums keep the digits of doubles.
#pragma once

#include <cstddef>
#include <type_traits>

#include "simd/ops.hpp"

namespace sodm {

template <class T, class A>
class SumsOf {
    static_assert(std::is_same<T, A>::value ||
                  (std::is_same<T, float>::value && std::is_same<A, double>::value));

  public:
    SumsOf() : ops_(simd<A>()) {}

    // The three of SimdOps.
    void add_rows(const T* tile, std::ptrdiff_t ld, int rows, int lanes, const A* a, A* y) const {
        if constexpr (std::is_same<T, A>::value)
            ops_.add_rows(tile, ld, rows, lanes, a, y);
        else
            ops_.add_float_rows(tile, ld, rows, lanes, a, y);
    }
    void add_columns(const T* tile, std::ptrdiff_t ld, int rows, int lanes, const A* b, A* z) const {
        if constexpr (std::is_same<T, A>::value)
            ops_.add_columns(tile, ld, rows, lanes, b, z);
        else
            ops_.add_float_columns(tile, ld, rows, lanes, b, z);
    }
    void add_both(const T* tile, std::ptrdiff_t ld, int rows, int lanes, const A* a, A* y, const A* b,
                  A* z) const {
        if constexpr (std::is_same<T, A>::value)
            ops_.add_both(tile, ld, rows, lanes, a, y, b, z);
        else
            ops_.add_float_both(tile, ld, rows, lanes, a, y, b, z);
    }

  private:
    const SimdOps<A>& ops_;
};

}  // namespace sodm
