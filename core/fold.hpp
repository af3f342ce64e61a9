// Repeated rows: which rows are equal in every feature and in their label.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel_source.hpp"
#include "parallel.hpp"

namespace sodm {

struct Folding {
    std::vector<Index> first;  // the rows kept, ascending: the first of each set of equal rows
    std::vector<Index> group;  // for every row, the position in `first` of the row that stands for it
};

// Dense rows with any strides, or CSR with sorted indices and no repeats. 0.0 equals -0.0; a stored zero is
// no value.
Folding fold_rows(const RowsView& view, const std::int64_t* labels, Threads& threads);

}  // namespace sodm
