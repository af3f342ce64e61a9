#include "base/csr_check.hpp"

#include <algorithm>
#include <type_traits>

namespace sodm {

namespace {

// Indices at a time: few enough to stay in the nearest cache for the second look at them.
constexpr Index kBlock = 4096;

CsrCheck faulty(std::string words) { return {std::move(words), false}; }

}  // namespace

// Both questions about an index, whether it is in range and whether it is above its left neighbour, are asked
// of all indices alike, without a branch, so that the loop is as fast as memory. Neighbours in different rows
// may well descend: how many of those do is counted apart.
template <class I>
CsrCheck check_csr(const I* indptr, Index n_rows, const I* indices, Index n_values, Index n_columns) {
    using Unsigned = std::make_unsigned_t<I>;
    if (indptr[0] != 0)
        return faulty("indptr begins with " + std::to_string(indptr[0]) + " where it must begin with 0");
    for (Index i = 0; i < n_rows; ++i)
        if (indptr[i + 1] < indptr[i])
            return faulty("indptr falls from " + std::to_string(indptr[i]) + " to " +
                          std::to_string(indptr[i + 1]) + " at row " + std::to_string(i) +
                          " where it must never fall");
    const Index used = static_cast<Index>(indptr[n_rows]);
    if (used > n_values)
        return faulty("indptr ends with " + std::to_string(used) + " where there are only " +
                      std::to_string(n_values) + " values");

    Index descents = 0;
    for (Index begin = 0; begin < used; begin += kBlock) {
        const Index end = std::min(used, begin + kBlock);
        Unsigned largest = 0;  // a negative index is a very large unsigned one
        for (Index e = begin; e < end; ++e) largest = std::max(largest, static_cast<Unsigned>(indices[e]));
        if (static_cast<std::uint64_t>(largest) >= static_cast<std::uint64_t>(n_columns)) {
            const auto wrong = [&](I index) { return index < 0 || static_cast<Index>(index) >= n_columns; };
            const Index at = std::find_if(indices + begin, indices + end, wrong) - indices;
            const Index row = std::upper_bound(indptr, indptr + n_rows + 1, static_cast<I>(at)) - indptr - 1;
            return faulty("row " + std::to_string(row) + " has the index " + std::to_string(indices[at]) +
                          " where there are " + std::to_string(n_columns) + " columns, numbered from 0");
        }
        I descending = 0;
        for (Index e = std::max<Index>(begin, 1); e < end; ++e) descending += indices[e] <= indices[e - 1];
        descents += static_cast<Index>(descending);
    }
    for (Index i = 1; i < n_rows; ++i) {
        const Index e = static_cast<Index>(indptr[i]);
        if (e > static_cast<Index>(indptr[i - 1]) && e < used) descents -= indices[e] <= indices[e - 1];
    }
    return {{}, descents == 0};
}

template CsrCheck check_csr(const std::int32_t*, Index, const std::int32_t*, Index, Index);
template CsrCheck check_csr(const std::int64_t*, Index, const std::int64_t*, Index, Index);

}  // namespace sodm
