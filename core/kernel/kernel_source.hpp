// Where kernel values come from: points and a kernel function (point_kernel.hpp), a stored matrix
// (matrix_kernel.hpp), or a caller's function (function_kernel.hpp).
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/memory.hpp"
#include "simd/ops.hpp"

namespace sodm {

// What solvers say when infinities or NaN come out of a kernel.
constexpr const char* kNotFinite =
    "kernel values are not finite: scale the features or change the kernel's parameters";

constexpr int kTile = 128;   // columns of a tile; a multiple of every panel width
constexpr int kDepth = 256;  // features at a time, so that a panel stays in the nearest cache

// What one worker thread needs to evaluate tiles: the prepared columns, gathered rows, and the tile itself.
template <class T>
struct Workspace {
    Buffer<T> panels, column_norm;  // prepared by load_columns
    Buffer<T> rows, row_norm;       // gathered by tile
    Buffer<T> tile;                 // room for row_chunk() x kTile values
    Buffer<std::uint16_t> packed_tile;
    std::vector<Index> columns;
    // Sparse rows, their features renumbered to the panel's slots when there are very many features.
    std::vector<std::int32_t> slot_of_feature, row_feature, touched;
    std::vector<std::int64_t> row_ptr;
    Buffer<T> row_value;
    // Rows of bytes (see ByteRows); the tile is for those rows and columns that have none.
    Buffer<std::uint32_t> byte_panels;
    Buffer<std::uint8_t> byte_rows;
    std::vector<std::int32_t> row_term, column_term;
    std::vector<std::uint8_t> column_fits;
    bool columns_fit = false;
    Buffer<T> byte_tile;
};

// Kernel values k(row, column), a tile at a time.
template <class T>
class KernelSource {
  public:
    virtual ~KernelSource() = default;
    virtual Index rows() const = 0;
    virtual Index columns() const = 0;
    virtual double diagonal(Index i) const = 0;
    // Rows a tile should have: enough to amortise the call, few enough to stay in the nearest cache.
    virtual int row_chunk() const { return 48; }
    // Prepares the columns first..first+count-1 of the subset, count <= kTile, for the calls of `tile` that
    // follow.
    virtual void load_columns(Subset columns, Index first, int count, Workspace<T>& work) const = 0;
    // out[r * kTile + c] = k(row r, column c) for rows first..first+count-1 of the subset. Lanes beyond the
    // prepared columns, up to the next panel, are written too and mean nothing.
    virtual void tile(Subset rows, Index first, int count, Workspace<T>& work, T* out) const = 0;
    // Whether values are read rather than evaluated.
    virtual bool stored() const { return false; }
    // Whether k(i, j) and k(j, i) have the same bits.
    virtual bool symmetric() const { return false; }
    // y[c] += sum_r a[r] k(row r, column c) for as many rows as wanted, without a tile. False if this source
    // cannot.
    virtual bool add_weighted(Subset, Index, int, Workspace<T>&, const T*, T*) const { return false; }
    // out[r] = squared distance of row `from` and row r of the list, to tell neighbours: between points where
    // there are any, else k(x, x) + k(z, z) - 2 k(x, z). For sources whose rows are their columns.
    virtual void distances(Index from, Subset rows, Workspace<T>& work, double* out) const;
    // Where the kernel falls to a constant with the distance: how many values say what box some rows lie in
    // (0: nothing is known), the box of all rows of a list, the constant, and a bound of |k(x, z) - constant|
    // for x in one box and z in the other.
    virtual Index box_values() const { return 0; }
    virtual void box(Subset, T*) const {}
    virtual double far_value() const { return 0; }
    // Whether all values lie between that constant and the largest k(x, x).
    virtual bool falls_with_distance() const { return false; }
    virtual double beyond_far(const T*, const T*) const { return HUGE_VAL; }

    std::uint64_t evaluations() const { return evaluations_.load(std::memory_order_relaxed); }
    // Time spent evaluating, of all threads together, wherever a task is `Timed`.
    double seconds() const {
        return 1e-9 * static_cast<double>(nanoseconds_.load(std::memory_order_relaxed));
    }

    // Counts the time of its life as evaluation. For runs of tiles: one tile is too short to be timed.
    class Timed {
      public:
        explicit Timed(const KernelSource& source) : source_(source), began_(Clock::now()) {}
        ~Timed() {
            const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began_);
            source_.nanoseconds_.fetch_add(static_cast<std::uint64_t>(passed.count()),
                                           std::memory_order_relaxed);
        }
        Timed(const Timed&) = delete;
        Timed& operator=(const Timed&) = delete;

      private:
        using Clock = std::chrono::steady_clock;
        const KernelSource& source_;
        Clock::time_point began_;
    };

  protected:
    void count(std::uint64_t n) const { evaluations_.fetch_add(n, std::memory_order_relaxed); }

  private:
    mutable std::atomic<std::uint64_t> evaluations_{0}, nanoseconds_{0};
};

// Lanes in use for `count` columns: whole panels.
template <class T>
inline int lanes_for(int count) {
    return (count + kPanel<T> - 1) / kPanel<T> * kPanel<T>;
}

}  // namespace sodm
