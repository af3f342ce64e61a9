// A lower triangle L, its rows one after the other, to be solved with: in double, whatever it is kept in.
#pragma once

#include <vector>

#include "base/memory.hpp"
#include "simd/linear_ops.hpp"

namespace sodm {

template <class F>
class PackedTriangle {
  public:
    PackedTriangle() = default;
    // The lower triangle of a matrix, n x n.
    PackedTriangle(const double* matrix, Index n) : n_(n) {
        entries_.reserve(static_cast<std::size_t>(n * (n + 1) / 2));
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j <= i; ++j) entries_.push_back(static_cast<F>(matrix[i * n + j]));
    }

    bool empty() const { return entries_.empty(); }

    // b <- L^-1 b
    void solve_lower(double* b) const {
        const LinearOps<F>& ops = linear_simd<F>();
        const F* row = entries_.data();
        for (Index i = 0; i < n_; row += ++i)
            b[i] = (b[i] - ops.dot(row, b, i)) / static_cast<double>(row[i]);
    }
    // b <- L'^-1 b
    void solve_upper(double* b) const {
        const LinearOps<F>& ops = linear_simd<F>();
        const F* row = entries_.data() + entries_.size();
        for (Index i = n_ - 1; i >= 0; --i) {
            row -= i + 1;
            b[i] /= static_cast<double>(row[i]);
            ops.add(-b[i], row, b, i);
        }
    }

  private:
    Index n_ = 0;
    std::vector<F> entries_;
};

}  // namespace sodm
