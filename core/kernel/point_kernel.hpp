// Kernel values of points: dense rows in point_kernel.cpp, sparse ones in point_kernel_sparse.cpp, rows of
// bytes in point_kernel_bytes.cpp.
#pragma once

#include "kernel/kernel_source.hpp"
#include "kernel/point_set.hpp"

namespace sodm {

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
    // The lowest value of each feature, then the highest.
    Index box_values() const override {
        return kernel_.shift_invariant() && !x_.dense.empty() ? 2 * x_.features : 0;
    }
    void box(Subset rows, T* out) const override;
    double far_value() const override { return kernel_.offset; }
    bool falls_with_distance() const override { return kernel_.shift_invariant(); }
    double beyond_far(const T* box, const T* other) const override;

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

}  // namespace sodm
