#include "kernel/products.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace sodm {

namespace {

constexpr Index kSearched = 16;  // chunks of rows that the columns are prepared for
constexpr Index kSumRows = 192;  // rows whose weighted sum is taken in T before it is added in double

// The weights of several vectors, by groups of rows: of each group those vectors that are not zero there. In
// one against one the rows of a class count in few of all problems.
template <class T>
struct GroupedWeights {
    Index group;                     // rows of a group
    std::vector<std::size_t> first;  // of each group in `vector`; one more
    std::vector<int> vector;
    std::vector<T> weight;  // group x vector.size()

    GroupedWeights(const double* weights, Index n, int n_vectors, Index rows) : group(rows), first(1, 0) {
        for (Index r = 0; r < n; r += group) {
            const Index height = std::min(group, n - r);
            for (int v = 0; v < n_vectors; ++v) {
                const double* from = weights + v * n + r;
                if (std::all_of(from, from + height, [](double w) { return w == 0; })) continue;
                vector.push_back(v);
                std::transform(from, from + height, std::back_inserter(weight),
                               [](double w) { return static_cast<T>(w); });
                weight.resize(vector.size() * static_cast<std::size_t>(group), T(0));
            }
            first.push_back(vector.size());
        }
    }
};

// Of a matrix in memory: some rows with all columns at a time, for these are near each other there.
template <class T, class Out>
void copy_block(const KernelSource<T>& source, Subset rows, Subset columns, Out* out, Index ldo,
                Threads& threads) {
    const int chunk = source.row_chunk();
    std::vector<Workspace<T>> work(static_cast<std::size_t>(threads.count()));
    threads.run(static_cast<std::size_t>((rows.n + chunk - 1) / chunk), [&](std::size_t t, int worker) {
        Workspace<T>& w = work[static_cast<std::size_t>(worker)];
        const Index r0 = static_cast<Index>(t) * chunk;
        const int height = static_cast<int>(std::min<Index>(chunk, rows.n - r0));
        w.tile.resize(static_cast<std::size_t>(chunk * kTile));
        for (Index c0 = 0; c0 < columns.n; c0 += kTile) {
            const int width = static_cast<int>(std::min<Index>(kTile, columns.n - c0));
            source.load_columns(columns, c0, width, w);
            source.tile(rows, r0, height, w, w.tile.data());
            for (int r = 0; r < height; ++r)
                std::copy_n(w.tile.data() + r * kTile, width, out + (r0 + r) * ldo + c0);
        }
    });
}

}  // namespace

template <class T, class Out>
void kernel_block(const KernelSource<T>& source, Subset rows, Subset columns, Out* out, Index ldo,
                  Threads& threads) {
    if (source.stored()) return copy_block(source, rows, columns, out, ldo, threads);
    const int chunk = source.row_chunk();
    // Of a square one triangle is evaluated, the other is its mirror image.
    const bool square = source.symmetric() && rows.list == columns.list && rows.n == columns.n;
    std::vector<Workspace<T>> work(static_cast<std::size_t>(threads.count()));
    const Index n_tiles = (columns.n + kTile - 1) / kTile;
    threads.run(static_cast<std::size_t>(n_tiles), [&](std::size_t t, int worker) {
        const typename KernelSource<T>::Timed timed(source);
        Workspace<T>& w = work[static_cast<std::size_t>(worker)];
        const Index c0 = (n_tiles - 1 - static_cast<Index>(t)) * kTile;  // the longest first
        const int width = static_cast<int>(std::min<Index>(kTile, columns.n - c0));
        const Index end = square ? c0 + width : rows.n;
        w.tile.resize(static_cast<std::size_t>(chunk * kTile));
        source.load_columns(columns, c0, width, w);
        for (Index r0 = 0; r0 < end; r0 += chunk) {
            const int height = static_cast<int>(std::min<Index>(chunk, end - r0));
            const T* tile = w.tile.data();
            source.tile(rows, r0, height, w, w.tile.data());
            for (int r = 0; r < height; ++r) std::copy_n(tile + r * kTile, width, out + (r0 + r) * ldo + c0);
            if (!square) continue;
            const int above = static_cast<int>(std::clamp<Index>(c0 - r0, 0, height));
            for (int c = 0; c < width; ++c) {
                Out* mirrored = out + (c0 + c) * ldo + r0;
                for (int r = 0; r < above; ++r) mirrored[r] = static_cast<Out>(tile[r * kTile + c]);
            }
        }
    });
}

template <class T>
void kernel_apply(const KernelSource<T>& source, Subset rows, Subset columns, const double* weights,
                  int n_vectors, double* out, Threads& threads) {
    const int chunk = source.row_chunk();
    const SimdOps<T>& ops = simd<T>();
    const Index group = std::min<Index>(chunk, kTile);  // a whole number of them is a chunk
    const bool several = n_vectors > 1;
    const GroupedWeights<T> grouped(weights, several ? rows.n : 0, n_vectors, group);
    std::vector<T> a;
    if (!several) a.assign(weights, weights + rows.n);
    std::vector<Workspace<T>> work(static_cast<std::size_t>(threads.count()));
    const Index n_tiles = (columns.n + kTile - 1) / kTile;
    threads.run(static_cast<std::size_t>(n_tiles), [&](std::size_t t, int worker) {
        const typename KernelSource<T>::Timed timed(source);
        Workspace<T>& w = work[static_cast<std::size_t>(worker)];
        const Index c0 = static_cast<Index>(t) * kTile;
        const int width = static_cast<int>(std::min<Index>(kTile, columns.n - c0));
        const int lanes = lanes_for<T>(width);
        w.tile.resize(static_cast<std::size_t>(chunk * kTile));
        std::vector<double> total(static_cast<std::size_t>(n_vectors * kTile), 0.0);
        std::vector<T> sums(static_cast<std::size_t>(several ? n_vectors * kTile : 0));
        source.load_columns(columns, c0, width, w);
        Index r0 = 0;
        if (n_vectors == 1)  // without tiles, where the source can
            for (; r0 < rows.n; r0 += kSumRows) {
                const int height = static_cast<int>(std::min<Index>(kSumRows, rows.n - r0));
                alignas(64) T y[kTile] = {};
                if (!source.add_weighted(rows, r0, height, w, a.data() + r0, y)) break;
                for (int c = 0; c < width; ++c)
                    total[static_cast<std::size_t>(c)] += static_cast<double>(y[c]);
            }
        for (; r0 < rows.n; r0 += chunk) {
            const int height = static_cast<int>(std::min<Index>(chunk, rows.n - r0));
            source.tile(rows, r0, height, w, w.tile.data());
            if (!several) {
                alignas(64) T y[kTile] = {};
                ops.add_rows(w.tile.data(), kTile, height, lanes, a.data() + r0, y);
                for (int c = 0; c < width; ++c)
                    total[static_cast<std::size_t>(c)] += static_cast<double>(y[c]);
                continue;
            }
            for (Index r = 0; r < height; r += group) {  // the product of weights and tile, a small one
                const auto g = static_cast<std::size_t>((r0 + r) / group);
                const std::size_t begin = grouped.first[g], count = grouped.first[g + 1] - begin;
                const int depth = static_cast<int>(std::min<Index>(group, height - r));
                for (int p = 0; p < lanes; p += kPanel<T>)
                    ops.pair_dense(Pairing::product,
                                   grouped.weight.data() + begin * static_cast<std::size_t>(group), group, 1,
                                   static_cast<int>(count), depth, w.tile.data() + r * kTile + p, kTile,
                                   sums.data() + p, kTile, false);
                for (std::size_t e = 0; e < count; ++e) {
                    double* sum = total.data() + grouped.vector[begin + e] * kTile;
                    const T* y = sums.data() + e * kTile;
                    for (int c = 0; c < width; ++c) sum[c] += static_cast<double>(y[c]);
                }
            }
        }
        for (int v = 0; v < n_vectors; ++v)
            std::copy_n(total.data() + v * kTile, width, out + v * columns.n + c0);
    });
}

template <class T>
void two_smallest(const KernelSource<T>& source, Subset rows, Subset columns, const double* shift,
                  Index* which, double* value, Threads& threads) {
    const int chunk = source.row_chunk();
    const Index group = kSearched * chunk;
    std::fill_n(which, 2 * rows.n, Index(0));
    std::fill_n(value, 2 * rows.n, HUGE_VAL);
    std::vector<Workspace<T>> work(static_cast<std::size_t>(threads.count()));
    threads.run(static_cast<std::size_t>((rows.n + group - 1) / group), [&](std::size_t t, int worker) {
        const typename KernelSource<T>::Timed timed(source);
        Workspace<T>& w = work[static_cast<std::size_t>(worker)];
        const Index first = static_cast<Index>(t) * group, end = std::min(first + group, rows.n);
        w.tile.resize(static_cast<std::size_t>(chunk * kTile));
        for (Index c0 = 0; c0 < columns.n; c0 += kTile) {
            const int width = static_cast<int>(std::min<Index>(kTile, columns.n - c0));
            source.load_columns(columns, c0, width, w);
            for (Index r0 = first; r0 < end; r0 += chunk) {
                const int height = static_cast<int>(std::min<Index>(chunk, end - r0));
                source.tile(rows, r0, height, w, w.tile.data());
                for (int r = 0; r < height; ++r) {
                    const T* own = w.tile.data() + r * kTile;
                    Index* found = which + 2 * (r0 + r);
                    double* smallest = value + 2 * (r0 + r);
                    double second = smallest[1];
                    for (int c = 0; c < width; ++c) {
                        const double v = static_cast<double>(own[c]) + shift[c0 + c];
                        if (!(v < second)) continue;  // nearly always
                        const bool nearest = v < smallest[0];
                        second = nearest ? smallest[0] : v;
                        found[1] = nearest ? found[0] : c0 + c;
                        if (nearest) {
                            smallest[0] = v;
                            found[0] = c0 + c;
                        }
                    }
                    smallest[1] = second;
                }
            }
        }
    });
}

template void kernel_block(const KernelSource<float>&, Subset, Subset, float*, Index, Threads&);
template void kernel_block(const KernelSource<float>&, Subset, Subset, double*, Index, Threads&);
template void kernel_block(const KernelSource<double>&, Subset, Subset, double*, Index, Threads&);
template void kernel_apply(const KernelSource<float>&, Subset, Subset, const double*, int, double*, Threads&);
template void kernel_apply(const KernelSource<double>&, Subset, Subset, const double*, int, double*,
                           Threads&);
template void two_smallest(const KernelSource<float>&, Subset, Subset, const double*, Index*, double*,
                           Threads&);
template void two_smallest(const KernelSource<double>&, Subset, Subset, const double*, Index*, double*,
                           Threads&);

}  // namespace sodm
