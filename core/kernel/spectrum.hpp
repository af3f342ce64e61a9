// How fast the spectrum of a Gram matrix falls, and how many rows its rows have to do with.
#pragma once

#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

// How much of the diagonal 256 landmarks, drawn from 1,024 rows, leave unexplained: next to nothing where the
// kernel is smooth, most of it where rows have few neighbours. By a fixed sample, of all rows where they are
// fewer; a constant that the kernel has beside it does not count.
template <class T>
double rest_of_landmarks(const KernelSource<T>& source, Threads& threads);

// How many rows one row sees, itself among them: the sum of its kernel values in units of the diagonal,
// without a constant beside the kernel. The mean of some, by a fixed sample.
template <class T>
double seen_by_a_row(const KernelSource<T>& source, Threads& threads);

}  // namespace sodm
