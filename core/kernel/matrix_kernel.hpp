// Kernel values that are stored.
#pragma once

#include "kernel/kernel_source.hpp"
#include "kernel/rows_view.hpp"

namespace sodm {

// A stored matrix, in either precision, with any strides; or the part of a square one that some of its rows,
// `among`, have among themselves, so that many problems on such parts share one matrix. Of what is stored,
// `constant` was added to a kernel that may fall to zero.
template <class T>
class MatrixKernel : public KernelSource<T> {
  public:
    MatrixKernel(const RowsView& matrix, double offset, Subset among = {}, double constant = 0)
        : matrix_(matrix), offset_(offset), constant_(constant), among_(among) {}
    Index rows() const override { return among_.list ? among_.n : matrix_.n; }
    Index columns() const override { return among_.list ? among_.n : matrix_.features; }
    double diagonal(Index i) const override { return at(i, i); }
    bool stored() const override { return true; }
    double far_value() const override { return constant_ + offset_; }
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
    double offset_, constant_;
    Subset among_;
};

}  // namespace sodm
