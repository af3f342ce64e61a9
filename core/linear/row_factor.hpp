// A factored Newton matrix I + sum_r h_r x_r x_r' of dense rows, to be solved with, also after some rows have
// changed: then it preconditions.
#pragma once

#include <cstdint>
#include <vector>

#include "linear/packed_triangle.hpp"
#include "linear/row_list.hpp"

namespace sodm {

// By the smaller of its two forms (Woodbury): with B = D^(1/2) X for the rows of a list,
//
//   features  L L' = I + B' B,  solve(r) = L'^-1 L^-1 r
//   rows      L L' = I + B B',  solve(r) = r - B' L'^-1 L^-1 B r
//
// Products are summed and L is kept in single precision, or in double where that is not enough: `solve` is
// exact for a matrix close to the wanted one, and conjugate gradients do the rest.
template <class T>
class RowFactor {
  public:
    // `gram`: all products <x_i, x_j> of all `n` rows (lower triangle, row-major), or null to compute those
    // that are needed.
    RowFactor(const RowList<T>& rows, Index width, double bias, std::vector<Index> list,
              std::vector<double> h, const float* gram, Index n, bool in_double, const Crew& crew);

    void solve(const double* right, double* out, const Crew& crew) const;
    bool by_rows() const { return by_rows_; }
    bool in_double() const { return single_.empty(); }
    Index size() const { return size_; }

  private:
    void sum(double* matrix, const float* gram, Index n, bool in_double, const Crew& crew) const;
    template <class H>
    void sum_features(double* matrix, const Crew& crew) const;
    template <class H>
    void sum_rows(double* matrix, const Crew& crew) const;

    const RowList<T>& rows_;
    const Index width_;
    const double bias_;
    std::vector<Index> list_;
    std::vector<double> root_;  // h_r for the form of features, its root for that of rows
    bool by_rows_;
    Index size_;
    PackedTriangle<float> single_;  // L, in one of them
    PackedTriangle<double> double_;
};

// <x_i, x_j> + bias^2 of all rows, lower triangle of n x n.
template <class T>
std::vector<float> row_gram(const RowList<T>& rows, Index n, Index width, double bias, const Crew& crew);

// Multiply-adds of making one, in units of those of a product with rows from memory.
double factor_cost(Index n_rows, Index width);

}  // namespace sodm
