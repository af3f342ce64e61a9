// An order of the rows in which neighbours stand together.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

// Whether most pairs of rows are so far apart that their kernel value is one constant, as with a narrow
// Gaussian: then an order of neighbours leaves whole tiles of the Gram matrix constant. By a fixed sample.
template <class T>
bool is_local(const KernelSource<T>& source, Threads& threads);

// The rows 0..n-1, neighbours together: groups are cut in two, where there is room between those near to one
// end of the group and those near to the other, until a group fits a tile. The rows decide alone, no chance.
template <class T>
std::vector<Index> neighbourhood_order(const KernelSource<T>& source, Threads& threads);

// How far apart the values of a tile may be for it to count as constant: of no consequence beside what
// rounding does to sums of kernel values as large as `scale`.
template <class T>
double negligible(double scale);

}  // namespace sodm
