#include "fold.hpp"

#include <algorithm>
#include <cstring>

namespace sodm {

namespace {

constexpr Index kRowsPerTask = 4096;

inline std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ (h >> 29);
}

inline std::uint64_t bits(double v) {
    v += 0.0;  // -0.0 becomes 0.0
    std::uint64_t b;
    std::memcpy(&b, &v, sizeof b);
    return b;
}

template <class T>
struct DenseRows {
    const T* values;
    Index features, row_stride, feature_stride;

    std::uint64_t hash(Index i, std::uint64_t h) const {
        const T* row = values + i * row_stride;
        for (Index k = 0; k < features; ++k) h = mix(h, bits(static_cast<double>(row[k * feature_stride])));
        return h;
    }
    bool equal(Index i, Index j) const {
        const T *a = values + i * row_stride, *b = values + j * row_stride;
        for (Index k = 0; k < features; ++k)
            if (a[k * feature_stride] != b[k * feature_stride]) return false;
        return true;
    }
};

template <class T, class I>
struct SparseRows {
    const T* values;
    const I *indices, *indptr;

    std::uint64_t hash(Index i, std::uint64_t h) const {
        for (I e = indptr[i]; e < indptr[i + 1]; ++e)
            if (values[e] != 0)
                h = mix(mix(h, static_cast<std::uint64_t>(indices[e])), bits(static_cast<double>(values[e])));
        return h;
    }
    bool equal(Index i, Index j) const {
        I a = indptr[i], b = indptr[j];
        const I a_end = indptr[i + 1], b_end = indptr[j + 1];
        while (true) {
            while (a < a_end && values[a] == 0) ++a;
            while (b < b_end && values[b] == 0) ++b;
            if (a == a_end || b == b_end) return a == a_end && b == b_end;
            if (indices[a] != indices[b] || values[a] != values[b]) return false;
            ++a, ++b;
        }
    }
};

// Hashes in parallel; then one pass in row order over an open-addressing table, so that the first row of each
// set is the one kept. Equal hashes are never trusted: rows are compared.
template <class Rows>
Folding fold_as(const Rows& rows, Index n, const std::int64_t* labels, Threads& threads) {
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>(n));
    threads.run(static_cast<std::size_t>((n + kRowsPerTask - 1) / kRowsPerTask), [&](std::size_t task, int) {
        const Index begin = static_cast<Index>(task) * kRowsPerTask, end = std::min(n, begin + kRowsPerTask);
        for (Index i = begin; i < end; ++i)
            hashes[static_cast<std::size_t>(i)] = rows.hash(i, mix(0, static_cast<std::uint64_t>(labels[i])));
    });

    std::size_t slots = 16;
    while (slots < static_cast<std::size_t>(n) * 2) slots *= 2;
    std::vector<Index> table(slots, -1);  // positions in `first`
    Folding folding;
    folding.group.resize(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) {
        const std::uint64_t h = hashes[static_cast<std::size_t>(i)];
        std::size_t slot = static_cast<std::size_t>(h ^ (h >> 32)) & (slots - 1);
        for (;; slot = (slot + 1) & (slots - 1)) {
            Index& entry = table[slot];
            if (entry < 0) {
                entry = static_cast<Index>(folding.first.size());
                folding.first.push_back(i);
            } else {
                const Index j = folding.first[static_cast<std::size_t>(entry)];
                if (hashes[static_cast<std::size_t>(j)] != h || labels[j] != labels[i] || !rows.equal(i, j))
                    continue;
            }
            folding.group[static_cast<std::size_t>(i)] = entry;
            break;
        }
    }
    return folding;
}

template <class T>
Folding fold_values(const RowsView& view, const std::int64_t* labels, Threads& threads) {
    const T* values = static_cast<const T*>(view.values);
    if (!view.sparse)
        return fold_as(DenseRows<T>{values, view.features, view.row_stride, view.feature_stride}, view.n,
                       labels, threads);
    if (view.wide)
        return fold_as(SparseRows<T, std::int64_t>{values, static_cast<const std::int64_t*>(view.indices),
                                                   static_cast<const std::int64_t*>(view.indptr)},
                       view.n, labels, threads);
    return fold_as(SparseRows<T, std::int32_t>{values, static_cast<const std::int32_t*>(view.indices),
                                               static_cast<const std::int32_t*>(view.indptr)},
                   view.n, labels, threads);
}

}  // namespace

Folding fold_rows(const RowsView& view, const std::int64_t* labels, Threads& threads) {
    return view.single ? fold_values<float>(view, labels, threads)
                       : fold_values<double>(view, labels, threads);
}

}  // namespace sodm
