#include "kernel/fold.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sodm {

namespace {

constexpr Index kRowsPerTask = 4096;

inline std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ (h >> 29);
}

inline std::uint64_t mix_value(std::uint64_t h, Index feature, double v) {
    std::uint64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    return mix(mix(h, static_cast<std::uint64_t>(feature)), bits);
}

// Zeros, of either sign, are no part of a hash: dense and CSR rows have the same.
template <class T>
struct DenseRows {
    const T* values;
    Index features, row_stride, feature_stride;

    std::uint64_t hash(Index i, std::uint64_t h) const {
        const T* row = values + i * row_stride;
        for (Index k = 0; k < features; ++k) {
            const T v = row[k * feature_stride];
            if (v != 0) h = mix_value(h, k, static_cast<double>(v));
        }
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
                h = mix_value(h, static_cast<Index>(indices[e]), static_cast<double>(values[e]));
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

// Calls f with the rows as what they are.
template <class F>
auto with_rows(const RowsView& view, F f) {
    auto of_type = [&](auto zero) {
        using T = decltype(zero);
        const T* values = static_cast<const T*>(view.values);
        auto sparse = [&](auto index) {
            using I = decltype(index);
            return f(SparseRows<T, I>{values, static_cast<const I*>(view.indices),
                                      static_cast<const I*>(view.indptr)});
        };
        if (!view.sparse) return f(DenseRows<T>{values, view.features, view.row_stride, view.feature_stride});
        return view.wide ? sparse(std::int64_t{}) : sparse(std::int32_t{});
    };
    return view.single ? of_type(0.0f) : of_type(0.0);
}

template <class Rows>
std::vector<std::uint64_t> hashes_of(const Rows& rows, Index n, const std::int64_t* labels,
                                     Threads& threads) {
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>(n));
    threads.run(static_cast<std::size_t>((n + kRowsPerTask - 1) / kRowsPerTask), [&](std::size_t task, int) {
        const Index begin = static_cast<Index>(task) * kRowsPerTask, end = std::min(n, begin + kRowsPerTask);
        for (Index i = begin; i < end; ++i) {
            const std::uint64_t label = labels ? static_cast<std::uint64_t>(labels[i]) : 0;
            hashes[static_cast<std::size_t>(i)] = rows.hash(i, mix(0, label));
        }
    });
    return hashes;
}

// One pass in row order over an open-addressing table, so that the first row of each set is the one kept.
// Equal hashes are never trusted: rows are compared.
template <class Rows>
Folding find_repeats(const Rows& rows, Index n, const std::int64_t* labels,
                     const std::vector<std::uint64_t>& hashes) {
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

void sort_by_hash(Folding& folding, const std::vector<std::uint64_t>& hashes) {
    const std::size_t kept = folding.first.size();
    std::vector<std::pair<std::uint64_t, Index>> order(kept);  // the second settles ties, which are accidents
    for (std::size_t k = 0; k < kept; ++k)
        order[k] = {hashes[static_cast<std::size_t>(folding.first[k])], static_cast<Index>(k)};
    std::sort(order.begin(), order.end());
    std::vector<Index> first(kept), place(kept);
    for (std::size_t k = 0; k < kept; ++k) {
        const auto old = static_cast<std::size_t>(order[k].second);
        first[k] = folding.first[old];
        place[old] = static_cast<Index>(k);
    }
    folding.first = std::move(first);
    for (Index& g : folding.group) g = place[static_cast<std::size_t>(g)];
}

}  // namespace

Folding fold_rows(const RowsView& view, const std::int64_t* labels, Threads& threads) {
    return with_rows(view, [&](const auto& rows) {
        const std::vector<std::uint64_t> hashes = hashes_of(rows, view.n, labels, threads);
        Folding folding = find_repeats(rows, view.n, labels, hashes);
        sort_by_hash(folding, hashes);
        return folding;
    });
}

std::vector<std::uint64_t> hash_rows(const RowsView& view, const std::int64_t* labels, Threads& threads) {
    return with_rows(view, [&](const auto& rows) { return hashes_of(rows, view.n, labels, threads); });
}

}  // namespace sodm
