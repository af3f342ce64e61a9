// Kernel values that a caller's function computes.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "kernel/kernel_source.hpp"

namespace sodm {

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
