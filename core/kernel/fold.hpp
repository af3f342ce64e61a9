// Repeated rows: which rows are equal in every feature and in their label, and an order of rows by value
// alone.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "kernel/rows_view.hpp"

namespace sodm {

struct Folding {
    std::vector<Index>
        first;  // the rows kept: the first of each set of equal rows, in the order of their hashes
    std::vector<Index> group;  // for every row, the position in `first` of the row that stands for it
};

// Dense rows with any strides, or CSR with sorted indices and no repeats. 0.0 equals -0.0; a stored zero is
// no value.
//
// The order of the rows kept depends on their values and labels alone: not on the order they came in, on the
// storage (dense or CSR, single or double) or on the number of repeats. What is computed from them is then
// the same too, to the last bit.
Folding fold_rows(const RowsView& view, const std::int64_t* labels, Threads& threads);

// A hash of the values of every row; the same for dense and CSR, single and double. With labels, which may be
// null, it is the one that `fold_rows` orders by.
std::vector<std::uint64_t> hash_rows(const RowsView& view, const std::int64_t* labels, Threads& threads);

}  // namespace sodm
