// Points laid out for a kernel function: dense, sparse, or bytes.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "kernel/byte_rows.hpp"
#include "kernel/kernel_function.hpp"
#include "kernel/rows_view.hpp"
#include "simd/ops.hpp"

namespace sodm {

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
    // Chooses the layout for these points. The threads, if there are any, change nothing but the time.
    PointSet(const RowsView& view, const KernelFunction& kernel, Threads* threads = nullptr);
    // Lays these points out as given.
    PointSet(const RowsView& view, const KernelFunction& kernel, const Layout& layout,
             Threads* threads = nullptr);

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
    void fill(const RowsView& view, const KernelFunction& kernel, Threads* threads);
    void fill_sparse(const RowsView& view, double scale, Threads* threads);
    void set_norms(const KernelFunction& kernel, Threads* threads);
    double largest_half_square(Threads* threads) const;
};

}  // namespace sodm
