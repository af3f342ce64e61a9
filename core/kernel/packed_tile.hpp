// Tiles of kernel values in two bytes each: products with a Gram matrix take as long as its values take to
// come from memory, and half of the bytes take half of the time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

// k = base + step c^2 with c = 0..65535, where all values lie between that of rows far apart and the largest.
// Squares, because small values are many and want small errors: that of a value v of the range 0..1 is at
// most 1.5e-5 sqrt(v). (Equal steps: 7.6e-6 everywhere, three times as much on the whole for narrow kernels;
// floats of two bytes: 2.4e-4 v.)
template <class T>
struct Packing {
    static constexpr double kMost = 65535;

    T base = 0, step = 0;  // no step: values are kept as they are

    Packing() = default;
    Packing(double lowest, double highest)
        : base(static_cast<T>(lowest)), step(static_cast<T>((highest - lowest) / (kMost * kMost))) {}

    explicit operator bool() const { return step > 0; }
    T value(std::uint16_t count) const {
        return base + step * (static_cast<T>(count) * static_cast<T>(count));
    }
    // How far apart the values of a tile may be for it to be kept as one: a half millionth of the range, less
    // than rounding does to the values on the whole.
    double nothing() const { return static_cast<double>(step) * 2048; }
};

// The error of packed values, root of the mean square, by a fixed sample of pairs of rows; infinite where
// values cannot be packed. Of a narrow kernel it is small: zeros have none.
template <class T>
double packing_error(const KernelSource<T>& source, Threads& threads);

// A tile, row stride kTile: its values, or packed. Neither: it is not kept.
template <class T>
struct TileValues {
    T* whole = nullptr;
    std::uint16_t* packed = nullptr;

    std::size_t bytes_per_value() const {
        return whole ? sizeof(T) : packed ? sizeof(std::uint16_t) : std::size_t(0);
    }
};

// Products with tiles of either kind.
template <class T>
class TileProducts {
  public:
    explicit TileProducts(const Packing<T>& packing) : packing_(packing), ops_(simd<T>()) {}

    // Whether the first rows x columns values of `tile` are in range; then they are in `out`.
    bool pack(const T* tile, int rows, int columns, std::uint16_t* out) const {
        return ops_.pack(tile, kTile, rows, columns, packing_.base, T(1) / packing_.step, out);
    }
    T value(const TileValues<T>& tile, Index r, Index c) const {
        return tile.whole ? tile.whole[r * kTile + c] : packing_.value(tile.packed[r * kTile + c]);
    }

    // out[c] = sum_r a[r] k(r, c)
    void over_rows(const TileValues<T>& tile, int rows, int lanes, const T* a, T* out) const {
        std::fill(out, out + lanes, T(0));
        if (tile.whole) return ops_.add_rows(tile.whole, kTile, rows, lanes, a, out);
        ops_.add_packed_rows(tile.packed, kTile, rows, lanes, a, out);
        unpack(out, lanes, a, rows);
    }
    // out[r] = sum_c k(r, c) b[c]
    void over_columns(const TileValues<T>& tile, int rows, int lanes, const T* b, T* out) const {
        std::fill(out, out + rows, T(0));
        if (tile.whole) return ops_.add_columns(tile.whole, kTile, rows, lanes, b, out);
        ops_.add_packed_columns(tile.packed, kTile, rows, lanes, b, out);
        unpack(out, rows, b, lanes);
    }
    // Both at once: each value is read from memory one time only.
    void over_both(const TileValues<T>& tile, int rows, int lanes, const T* a, T* by_rows, const T* b,
                   T* by_columns) const {
        std::fill(by_rows, by_rows + lanes, T(0));
        std::fill(by_columns, by_columns + rows, T(0));
        if (tile.whole) return ops_.add_both(tile.whole, kTile, rows, lanes, a, by_rows, b, by_columns);
        ops_.add_packed_both(tile.packed, kTile, rows, lanes, a, by_rows, b, by_columns);
        unpack(by_rows, lanes, a, rows);
        unpack(by_columns, rows, b, lanes);
    }

  private:
    // From sums of w c^2 to sums of w (base + step c^2).
    void unpack(T* sums, int n, const T* weights, int count) const {
        const T level =
            packing_.base == 0 ? T(0) : packing_.base * std::accumulate(weights, weights + count, T(0));
        for (int k = 0; k < n; ++k) sums[k] = level + packing_.step * sums[k];
    }

    Packing<T> packing_;
    const SimdOps<T>& ops_;
};

}  // namespace sodm
