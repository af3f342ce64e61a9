// The operations on kernel values: a block of them, and what never stores them: the fused product, and the
// search for the smallest.
#pragma once

#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

// out[r * ldo + c] = k(rows[r], columns[c])
template <class T, class Out>
void kernel_block(const KernelSource<T>& source, Subset rows, Subset columns, Out* out, Index ldo,
                  Threads& threads);

// out[v * columns.n + c] = sum_r weights[v * rows.n + r] k(rows[r], columns[c]) for v < n_vectors.
// Kernel values live only in a tile; sums over a tile's rows are taken in T, sums of those in double.
template <class T>
void kernel_apply(const KernelSource<T>& source, Subset rows, Subset columns, const double* weights,
                  int n_vectors, double* out, Threads& threads);

// The two smallest of k(rows[r], columns[c]) + shift[c] over all c, the smallest first, and of equal ones the
// one of the smaller c: columns in which[2 r], which[2 r + 1], values in value[2 r], value[2 r + 1]. Where
// there is but one column, the second is that one too, its value infinite.
template <class T>
void two_smallest(const KernelSource<T>& source, Subset rows, Subset columns, const double* shift,
                  Index* which, double* value, Threads& threads);

}  // namespace sodm
