// Where kernel values come from: points and a kernel function, a stored matrix, or a caller's function.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "base/memory.hpp"
#include "kernel/byte_rows.hpp"
#include "kernel/kernel_function.hpp"
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
    // Whether k(i, j) and k(j, i) have the same bits.
    virtual bool symmetric() const { return false; }
    // y[c] += sum_r a[r] k(row r, column c) for as many rows as wanted, without a tile. False if this source
    // cannot.
    virtual bool add_weighted(Subset, Index, int, Workspace<T>&, const T*, T*) const { return false; }
    // out[r] = squared distance of row `from` and row r of the list, to tell neighbours: between points where
    // there are any, else k(x, x) + k(z, z) - 2 k(x, z). For sources whose rows are their columns.
    virtual void distances(Index from, Subset rows, Workspace<T>& work, double* out) const;

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

// Rows of a user's array, dense (row stride given) or CSR.
struct RowsView {
    Index n = 0, features = 0;
    bool single = false;  // values are float, else double
    const void* values = nullptr;
    Index row_stride = 0, feature_stride = 1;  // dense only, in elements
    // CSR only
    bool sparse = false;
    bool wide = false;  // indices are int64, else int32
    const void* indices = nullptr;
    const void* indptr = nullptr;

    double value(Index e) const {
        return single ? static_cast<const float*>(values)[e] : static_cast<const double*>(values)[e];
    }
    Index index(Index e) const {
        return wide ? static_cast<const std::int64_t*>(indices)[e]
                    : static_cast<const std::int32_t*>(indices)[e];
    }
    Index start(Index i) const {
        return wide ? static_cast<const std::int64_t*>(indptr)[i]
                    : static_cast<const std::int32_t*>(indptr)[i];
    }
};

// How points are laid out for a kernel. Training points decide; later points follow.
struct Layout {
    bool sparse = false;
    Pairing pairing = Pairing::product;
    std::vector<double> centre;  // subtracted from dense points of a shift-invariant kernel; may be empty
    double step = 0;  // points are bytes, multiples of this, where they can be (see ByteRows); 0: not
};

// Points prepared for a kernel function: copied into the working precision, centred, scaled, with norms.
template <class T>
class PointSet {
  public:
    // Chooses the layout for these points.
    PointSet(const RowsView& view, const KernelFunction& kernel);
    // Lays these points out as given.
    PointSet(const RowsView& view, const KernelFunction& kernel, const Layout& layout);

    Index n = 0, features = 0;
    Layout layout;
    // n x features. If all points are bytes, made when first paired with one that is not.
    mutable Buffer<T> dense;
    ByteRows bytes;   // the same points, where the layout has a step
    Buffer<T> value;  // CSR
    std::vector<std::int32_t> feature;
    std::vector<std::int64_t> ptr;
    Buffer<T> row_norm, column_norm;  // added to the pair sums before the kernel function is applied
    std::vector<double> diagonal;     // k(x, x)

    double square(Index i) const;  // |x|^2 of a point as it is laid out
    void make_dense(const KernelFunction& kernel) const;

  private:
    mutable std::once_flag made_dense_;
    void fill(const RowsView& view, const KernelFunction& kernel);
    void set_norms(const KernelFunction& kernel);
    double largest_half_square() const;
};

// k(x_i, z_j) of two point sets; the same set twice gives a Gram matrix.
template <class T>
class PointKernel : public KernelSource<T> {
  public:
    PointKernel(const KernelFunction& kernel, const PointSet<T>& x, const PointSet<T>& z)
        : kernel_(kernel), x_(x), z_(z) {
        if (!(of_bytes() && x.bytes.whole && z.bytes.whole)) {
            x.make_dense(kernel);
            z.make_dense(kernel);
        }
    }
    Index rows() const override { return x_.n; }
    Index columns() const override { return z_.n; }
    double diagonal(Index i) const override { return x_.diagonal[static_cast<std::size_t>(i)]; }
    void load_columns(Subset columns, Index first, int count, Workspace<T>& work) const override;
    void tile(Subset rows, Index first, int count, Workspace<T>& work, T* out) const override;
    bool symmetric() const override { return &x_ == &z_ && !x_.layout.sparse; }
    bool add_weighted(Subset rows, Index first, int count, Workspace<T>& work, const T* a,
                      T* y) const override;
    void distances(Index from, Subset rows, Workspace<T>& work, double* out) const override;

  private:
    // RBF of dense rows with not too many features has inner loops of its own.
    bool direct() const {
        return kernel_.kind == KernelKind::rbf && !x_.layout.sparse &&
               x_.layout.pairing == Pairing::product && x_.features <= kDepth;
    }
    bool of_bytes() const { return x_.layout.step > 0 && z_.layout.step == x_.layout.step; }
    void load_byte_columns(Workspace<T>& work) const;
    bool rows_fit(Subset rows, Index first, int count) const;
    void byte_values(Subset rows, Index first, int count, Workspace<T>& work, T* out) const;
    void values(Subset rows, Index first, int count, Workspace<T>& work, T* out) const;
    const T* gather_rows(Subset rows, Index first, int count, Workspace<T>& work) const;
    void gather_sparse_rows(Subset rows, Index first, int count, Workspace<T>& work) const;
    void load_dense_columns(Workspace<T>& work) const;
    void load_sparse_columns(Workspace<T>& work) const;
    bool renumbers() const { return x_.features > 4096; }

    KernelFunction kernel_;
    const PointSet<T>& x_;
    const PointSet<T>& z_;
};

// A stored matrix, in either precision, with any strides; or the part of a square one that some of its rows,
// `among`, have among themselves, so that many problems on such parts share one matrix.
template <class T>
class MatrixKernel : public KernelSource<T> {
  public:
    MatrixKernel(const RowsView& matrix, double offset, Subset among = {})
        : matrix_(matrix), offset_(offset), among_(among) {}
    Index rows() const override { return among_.list ? among_.n : matrix_.n; }
    Index columns() const override { return among_.list ? among_.n : matrix_.features; }
    double diagonal(Index i) const override { return at(i, i); }
    void load_columns(Subset columns, Index first, int count, Workspace<T>& work) const override;
    void tile(Subset rows, Index first, int count, Workspace<T>& work, T* out) const override;

  private:
    double at(Index i, Index j) const {
        return matrix_.value(among_[i] * matrix_.row_stride + among_[j] * matrix_.feature_stride) + offset_;
    }
    template <class Stored>
    void copy_tile(const Stored* values, Subset rows, Index first, int count, Workspace<T>& work,
                   T* out) const;

    RowsView matrix_;
    double offset_;
    Subset among_;
};

// A caller's function that fills out[r * kTile + c] for lists of rows and columns; asked for tall blocks.
template <class T>
class FunctionKernel : public KernelSource<T> {
  public:
    using Function =
        std::function<void(const Index* rows, int n_rows, const Index* columns, int n_columns, T* out)>;
    FunctionKernel(Index n_rows, Index n_columns, std::vector<double> diagonal, double offset,
                   Function function)
        : n_rows_(n_rows),
          n_columns_(n_columns),
          diagonal_(std::move(diagonal)),
          offset_(offset),
          function_(std::move(function)) {}
    Index rows() const override { return n_rows_; }
    Index columns() const override { return n_columns_; }
    double diagonal(Index i) const override { return diagonal_[static_cast<std::size_t>(i)] + offset_; }
    int row_chunk() const override { return 1024; }
    void load_columns(Subset columns, Index first, int count, Workspace<T>& work) const override;
    void tile(Subset rows, Index first, int count, Workspace<T>& work, T* out) const override;

  private:
    Index n_rows_, n_columns_;
    std::vector<double> diagonal_;
    double offset_;
    Function function_;
};

}  // namespace sodm
