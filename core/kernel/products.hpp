// The operations on kernel values: a block of them, and the fused product that never stores them.
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

}  // namespace sodm
