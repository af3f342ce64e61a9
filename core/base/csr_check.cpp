#include "base/csr_check.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <type_traits>

namespace sodm {

namespace {

CsrCheck faulty(std::string words) { return {std::move(words), false}; }

// The two questions about an index, whether it is in range and whether it is above the one before it, are
// asked of all indices alike, without a branch, by the highest bit of differences: so the loop is as fast as
// memory.
template <class U>
struct Scan {
    U out_of_range = 0;  // highest bit: whether some index is
    Index descents =
        0;  // how many indices are not above the one before; means nothing if one is out of range
};

template <class U>
Scan<U> scan(const U* indices, Index n, U last) {
    constexpr int top = sizeof(U) * 8 - 1;
    constexpr Index block = 1024;  // so few that U can count them
    Scan<U> found;
    if (n > 0) found.out_of_range = indices[0] | (last - indices[0]);
    for (Index begin = 1; begin < n; begin += block) {
        const Index end = std::min(n, begin + block);
        U outside = 0, descents = 0;
        for (Index e = begin; e < end; ++e) {
            outside |= indices[e] | (last - indices[e]);
            descents += (indices[e] - indices[e - 1] - 1) >> top;
        }
        found.out_of_range |= outside;
        found.descents += static_cast<Index>(descents);
    }
    found.out_of_range >>= top;
    return found;
}

template <class I>
CsrCheck fault_of_indptr(const I* indptr, Index n_rows) {
    const Index row = std::adjacent_find(indptr, indptr + n_rows + 1, std::greater<I>()) - indptr;
    return faulty("indptr falls from " + std::to_string(indptr[row]) + " to " +
                  std::to_string(indptr[row + 1]) + " at row " + std::to_string(row) +
                  " where it must never fall");
}

template <class I>
CsrCheck fault_of_indices(const I* indptr, Index n_rows, const I* indices, Index used, Index n_columns) {
    const auto wrong = [&](I index) { return index < 0 || static_cast<Index>(index) >= n_columns; };
    const Index at = std::find_if(indices, indices + used, wrong) - indices;
    const Index row = std::upper_bound(indptr, indptr + n_rows + 1, static_cast<I>(at)) - indptr - 1;
    return faulty("row " + std::to_string(row) + " has the index " + std::to_string(indices[at]) +
                  " where there are " + std::to_string(n_columns) + " columns, numbered from 0");
}

}  // namespace

template <class I>
CsrCheck check_csr(const I* indptr, Index n_rows, const I* indices, Index n_values, Index n_columns) {
    using U = std::make_unsigned_t<I>;
    if (indptr[0] != 0)
        return faulty("indptr begins with " + std::to_string(indptr[0]) + " where it must begin with 0");
    bool falls = false;
    for (Index i = 0; i < n_rows; ++i) falls |= indptr[i + 1] < indptr[i];
    if (falls) return fault_of_indptr(indptr, n_rows);
    const Index used = static_cast<Index>(indptr[n_rows]);
    if (used > n_values)
        return faulty("indptr ends with " + std::to_string(used) + " where there are only " +
                      std::to_string(n_values) + " values");

    const Index last = std::min<Index>(n_columns - 1, std::numeric_limits<I>::max());
    const Scan<U> found = scan(reinterpret_cast<const U*>(indices), used, static_cast<U>(last));
    if (found.out_of_range) return fault_of_indices(indptr, n_rows, indices, used, n_columns);
    // Neighbours in different rows may well descend.
    Index between_rows = 0;
    for (Index i = 1; i < n_rows; ++i) {
        const Index e = static_cast<Index>(indptr[i]);
        if (e > static_cast<Index>(indptr[i - 1]) && e < used) between_rows += indices[e] <= indices[e - 1];
    }
    return {{}, found.descents == between_rows};
}

template CsrCheck check_csr(const std::int32_t*, Index, const std::int32_t*, Index, Index);
template CsrCheck check_csr(const std::int64_t*, Index, const std::int64_t*, Index, Index);

}  // namespace sodm
