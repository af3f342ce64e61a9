// Tiles of kernel values in two bytes each: products with a Gram matrix take as long as its values take to
// come from memory, and half of the bytes take half of the time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"
#include "kernel/tile_extent.hpp"
#include "simd/sums_of.hpp"

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
    // Counts below this, a power of two, are taken for zero at the edges of a tile: an eighth of that.
    static constexpr std::uint16_t kLeast = 16;
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
    TileExtent extent;

    std::size_t bytes_per_value() const {
        return whole ? sizeof(T) : packed ? sizeof(std::uint16_t) : std::size_t(0);
    }
};

// Products with tiles of either kind, summed as A. Values beyond the extent of a tile are `far`, the base of
// packed ones.
template <class T, class A = T>
class TileProducts {
  public:
    TileProducts(const Packing<T>& packing, double far)
        : packing_(packing), far_(static_cast<T>(far)), ops_(simd<T>()), packed_(simd<A>()) {}

    // The first rows x columns values of `tile`, packed into `out`; nothing if they are not in range.
    TileValues<T> pack(const T* tile, int rows, int columns, std::uint16_t* out) const {
        if (!ops_.pack(tile, kTile, rows, columns, packing_.base, T(1) / packing_.step, out)) return {};
        const auto all_far = [](const std::uint16_t* counts, int n) {
            std::uint16_t bits = 0;
            for (int k = 0; k < n; ++k) bits = static_cast<std::uint16_t>(bits | counts[k]);
            return bits < Packing<T>::kLeast;
        };
        return {nullptr, out,
                trim(out, kTile, rows, columns, lanes_for<T>(columns), std::uint16_t(0), all_far)};
    }
    // As it is, but for values no further than `allowed` from `far` at its edges.
    TileValues<T> whole(T* tile, int rows, int columns, double allowed) const {
        const T low = far_ - static_cast<T>(allowed), high = far_ + static_cast<T>(allowed);
        const auto all_far = [&](const T* values, int n) {
            int inside = 0;
            for (int k = 0; k < n; ++k) inside += (values[k] >= low) & (values[k] <= high);
            return inside == n;
        };
        return {tile, nullptr, trim(tile, kTile, rows, columns, lanes_for<T>(columns), far_, all_far)};
    }
    T value(const TileValues<T>& tile, Index r, Index c) const {
        return tile.whole ? tile.whole[r * kTile + c] : packing_.value(tile.packed[r * kTile + c]);
    }

    // out[c] = sum_r a[r] k(r, c)
    void over_rows(const TileValues<T>& tile, int rows, int lanes, const A* a, A* out) const {
        const TileExtent& in = tile.extent;
        std::fill(out, out + lanes, A(0));
        if (tile.whole)
            whole_.add_rows(first(tile.whole, in), kTile, in.rows(), in.columns(), a + in.first_row,
                            out + in.first_column);
        else
            packed_.add_packed_rows(first(tile.packed, in), kTile, in.rows(), in.columns(), a + in.first_row,
                                    out + in.first_column);
        finish_rows(tile, rows, lanes, a, out);
    }
    // out[r] = sum_c k(r, c) b[c]
    void over_columns(const TileValues<T>& tile, int rows, int lanes, const A* b, A* out) const {
        const TileExtent& in = tile.extent;
        std::fill(out, out + rows, A(0));
        if (tile.whole)
            whole_.add_columns(first(tile.whole, in), kTile, in.rows(), in.columns(), b + in.first_column,
                               out + in.first_row);
        else
            packed_.add_packed_columns(first(tile.packed, in), kTile, in.rows(), in.columns(),
                                       b + in.first_column, out + in.first_row);
        finish_columns(tile, rows, lanes, b, out);
    }
    // Both at once: each value is read from memory one time only.
    void over_both(const TileValues<T>& tile, int rows, int lanes, const A* a, A* by_rows, const A* b,
                   A* by_columns) const {
        const TileExtent& in = tile.extent;
        std::fill(by_rows, by_rows + lanes, A(0));
        std::fill(by_columns, by_columns + rows, A(0));
        if (tile.whole)
            whole_.add_both(first(tile.whole, in), kTile, in.rows(), in.columns(), a + in.first_row,
                            by_rows + in.first_column, b + in.first_column, by_columns + in.first_row);
        else
            packed_.add_packed_both(first(tile.packed, in), kTile, in.rows(), in.columns(), a + in.first_row,
                                    by_rows + in.first_column, b + in.first_column,
                                    by_columns + in.first_row);
        finish_rows(tile, rows, lanes, a, by_rows);
        finish_columns(tile, rows, lanes, b, by_columns);
    }

  private:
    template <class V>
    static V* first(V* values, const TileExtent& in) {
        return values + in.first_row * kTile + in.first_column;
    }
    void finish_rows(const TileValues<T>& tile, int rows, int lanes, const A* a, A* out) const {
        const TileExtent& in = tile.extent;
        if (tile.whole)
            add_far(out, lanes, in.first_column, in.end_column, a, rows, in.first_row, in.end_row);
        else
            unpack(out, lanes, a, rows);
    }
    void finish_columns(const TileValues<T>& tile, int rows, int lanes, const A* b, A* out) const {
        const TileExtent& in = tile.extent;
        if (tile.whole)
            add_far(out, rows, in.first_row, in.end_row, b, lanes, in.first_column, in.end_column);
        else
            unpack(out, rows, b, lanes);
    }

    // What values beyond the extent add: all weights to sums outside, weights outside to sums inside.
    void add_far(A* sums, int n, int first, int end, const A* weights, int count, int first_weight,
                 int end_weight) const {
        if (far_ == 0 || (end - first == n && end_weight - first_weight == count)) return;
        const A beside = std::accumulate(weights, weights + first_weight, A(0)) +
                         std::accumulate(weights + end_weight, weights + count, A(0));
        const A all = beside + std::accumulate(weights + first_weight, weights + end_weight, A(0));
        for (int k = 0; k < n; ++k) sums[k] += far_ * (k >= first && k < end ? beside : all);
    }
    // From sums of w c^2 to sums of w (base + step c^2).
    void unpack(A* sums, int n, const A* weights, int count) const {
        const A level =
            packing_.base == 0 ? A(0) : packing_.base * std::accumulate(weights, weights + count, A(0));
        for (int k = 0; k < n; ++k) sums[k] = level + packing_.step * sums[k];
    }

    Packing<T> packing_;
    T far_;
    const SimdOps<T>& ops_;
    SumsOf<T, A> whole_;
    const SimdOps<A>& packed_;
};

}  // namespace sodm
