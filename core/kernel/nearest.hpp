// Which centres rows are nearest to, and the means of the rows of each.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"
#include "kernel/rows_view.hpp"

namespace sodm {

// Of each row the two centres of the smallest values, the smaller first, and these values; of equal ones the
// first. If there is one centre only, it is both, the second with an infinite value.
struct NearestTwo {
    std::vector<std::int32_t> centre;  // n x 2
    std::vector<double> value;         // n x 2
};

// The values are k(row, centre) + add[centre]; they are never all there at once.
NearestTwo nearest_two(const KernelSource<double>& source, Index rows, Index centres, const double* add,
                       Threads& threads);

// The mean of the dense rows of each cell, sum_i x_i / count in the order of the rows; of[i] < cells is the
// cell of row i, and each has one.
std::vector<double> means_of_cells(const RowsView& view, const Index* of, Index cells, Threads& threads);

}  // namespace sodm
