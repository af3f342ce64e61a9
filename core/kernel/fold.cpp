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

// Hashes are spread evenly, so that rows go to buckets by the first bits of theirs, and each bucket is sorted
// and looked through by itself: equal rows have equal hashes and stand next to each other. What is kept comes
// out in the order of the hashes. Equal hashes are never trusted: rows are compared.
template <class Rows>
class Folder {
  public:
    Folder(const Rows& rows, Index n, const std::int64_t* labels, const std::vector<std::uint64_t>& hashes)
        : rows_(rows), n_(n), labels_(labels), hashes_(hashes) {
        while (bits_ < kMostBits && (n >> bits_) > kBucket) ++bits_;
    }

    Folding run(Threads& threads) {
        const std::size_t buckets = std::size_t(1) << bits_;
        deal(buckets);
        std::vector<Index> kept(buckets + 1, 0);
        Folding folding;
        folding.group.resize(static_cast<std::size_t>(n_));
        // Of each bucket the places among those that it keeps; what the buckets before it keep is added when
        // that is known.
        threads.run(buckets, [&](std::size_t b, int) { kept[b + 1] = look_through(b, folding.group); });
        for (std::size_t b = 0; b < buckets; ++b) kept[b + 1] += kept[b];
        folding.first.resize(static_cast<std::size_t>(kept.back()));
        threads.run(buckets, [&](std::size_t b, int) {
            for (Index k = begin_[b]; k < begin_[b + 1]; ++k) {
                const Index row = order_[static_cast<std::size_t>(k)].second;
                Index& place = folding.group[static_cast<std::size_t>(row)];
                const bool first = place < 0;  // see `look_through`
                place = kept[b] + (first ? ~place : place);
                if (first) folding.first[static_cast<std::size_t>(place)] = row;
            }
        });
        return folding;
    }

  private:
    static constexpr int kMostBits = 12;
    static constexpr Index kBucket = 1024;  // rows, about

    std::size_t bucket(std::uint64_t hash) const {
        return bits_ == 0 ? 0 : static_cast<std::size_t>(hash >> (64 - bits_));
    }

    void deal(std::size_t buckets) {
        begin_.assign(buckets + 1, 0);
        for (std::uint64_t h : hashes_) ++begin_[bucket(h) + 1];
        for (std::size_t b = 0; b < buckets; ++b) begin_[b + 1] += begin_[b];
        std::vector<Index> next(begin_.begin(), begin_.end() - 1);
        order_.resize(static_cast<std::size_t>(n_));
        for (Index i = 0; i < n_; ++i) {
            const std::uint64_t h = hashes_[static_cast<std::size_t>(i)];
            order_[static_cast<std::size_t>(next[bucket(h)]++)] = {h, i};
        }
    }

    // Writes the place of the row that stands for it to each row of a bucket, ~place if it is that row
    // itself. Returns how many these are.
    Index look_through(std::size_t b, std::vector<Index>& group) {
        const auto first = order_.begin() + begin_[b], last = order_.begin() + begin_[b + 1];
        std::sort(first, last);  // rows of one hash in their order: the first of equal rows comes first
        Index kept = 0;
        std::vector<Index> alike;  // the rows of one hash that stand for others: one, but for accidents
        for (auto entry = first; entry != last; ++entry) {
            if (entry == first || entry->first != (entry - 1)->first) alike.clear();
            const Index i = entry->second;
            const auto found = std::find_if(alike.begin(), alike.end(), [&](Index j) {
                return labels_[j] == labels_[i] && rows_.equal(i, j);
            });
            Index& place = group[static_cast<std::size_t>(i)];
            if (found != alike.end()) {
                place = ~group[static_cast<std::size_t>(*found)];
                continue;
            }
            alike.push_back(i);
            place = ~kept++;
        }
        return kept;
    }

    const Rows& rows_;
    Index n_;
    const std::int64_t* labels_;
    const std::vector<std::uint64_t>& hashes_;
    int bits_ = 0;  // of a hash that tell its bucket
    std::vector<Index> begin_;
    std::vector<std::pair<std::uint64_t, Index>> order_;
};

}  // namespace

Folding fold_rows(const RowsView& view, const std::int64_t* labels, Threads& threads) {
    return with_rows(view, [&](const auto& rows) {
        const std::vector<std::uint64_t> hashes = hashes_of(rows, view.n, labels, threads);
        return Folder(rows, view.n, labels, hashes).run(threads);
    });
}

std::vector<std::uint64_t> hash_rows(const RowsView& view, const std::int64_t* labels, Threads& threads) {
    return with_rows(view, [&](const auto& rows) { return hashes_of(rows, view.n, labels, threads); });
}

}  // namespace sodm
