#include "kernel/features.hpp"

#include <algorithm>

#include "simd/linear_ops.hpp"

namespace sodm {

namespace {

constexpr Index kColumns = 64;  // of an inverse, at a time

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// use(first, count, k, worker) for tiles of the rows x: k[j * kTile + c] = k(z_j, x_{first + c})
template <class T, class Use>
void each_tile(const KernelSource<T>& source, Threads& threads, Use use) {
    const Index m = source.rows(), n = source.columns();
    const int chunk = source.row_chunk();
    std::vector<Workspace<T>> work(at(threads.count()));
    std::vector<Buffer<T>> values(at(threads.count()));
    threads.run(at((n + kTile - 1) / kTile), [&](std::size_t task, int worker) {
        threads.check(worker);
        Workspace<T>& w = work[at(worker)];
        Buffer<T>& k = values[at(worker)];
        const Index first = static_cast<Index>(task) * kTile;
        const int count = static_cast<int>(std::min<Index>(kTile, n - first));
        k.resize(at(m * kTile));
        source.load_columns(Subset::all(n), first, count, w);
        for (Index r = 0; r < m; r += chunk)
            source.tile(Subset::all(m), r, static_cast<int>(std::min<Index>(chunk, m - r)), w,
                        k.data() + r * kTile);
        use(first, count, k.data(), worker);
    });
}

}  // namespace

std::vector<double> inverse_of_lower(const double* l, Index n, Threads& threads) {
    std::vector<double> out(at(n * n), 0.0);
    // Forward substitution for the columns of the identity, some of them at a time.
    threads.run(at((n + kColumns - 1) / kColumns), [&](std::size_t task, int worker) {
        const Index first = static_cast<Index>(task) * kColumns, last = std::min(n, first + kColumns);
        for (Index i = first; i < n; ++i) {
            if (i % kColumns == 0) threads.check(worker);
            double* row = out.data() + i * n;
            if (i < last) row[i] = 1.0;
            for (Index k = first; k < i; ++k) {
                const double by = l[i * n + k];
                const double* before = out.data() + k * n;
                for (Index c = first; c < std::min(k + 1, last); ++c) row[c] -= by * before[c];
            }
            const double scale = 1 / l[i * n + i];
            for (Index c = first; c < std::min(i + 1, last); ++c) row[c] *= scale;
        }
    });
    return out;
}

template <class T>
void landmark_features(const KernelSource<T>& source, const double* inverse, T* out, Threads& threads) {
    constexpr int W = kPanel<T>;
    const Index m = source.rows(), panels = (m + W - 1) / W;
    const SimdOps<T>& ops = simd<T>();
    // Panels of W features: row k of a panel has what the k-th landmark adds to each. L^-1 is lower
    // triangular, so that the features of a panel know no landmark after their own.
    Buffer<T> panel(at(panels * m * W));
    for (Index p = 0; p < panels; ++p)
        for (Index k = 0; k < m; ++k)
            for (Index c = 0; c < W; ++c) {
                const Index feature = p * W + c;
                panel[at((p * m + k) * W + c)] =
                    feature < m && k <= feature ? static_cast<T>(inverse[feature * m + k]) : T(0);
            }
    std::vector<Buffer<T>> made(at(threads.count()));
    each_tile(source, threads, [&](Index first, int count, const T* k, int worker) {
        Buffer<T>& f = made[at(worker)];
        f.resize(at(kTile * W));
        for (Index p = 0; p < panels; ++p) {
            const Index depth = std::min(m, (p + 1) * W);
            for (Index b = 0; b < depth; b += kDepth)
                ops.pair_dense(Pairing::product, k + b * kTile, 1, kTile, count,
                               static_cast<int>(std::min<Index>(kDepth, depth - b)),
                               panel.data() + (p * m + b) * W, W, f.data(), W, b > 0);
            const Index width = std::min<Index>(W, m - p * W);
            for (Index c = 0; c < count; ++c)
                std::copy_n(f.data() + c * W, width, out + (first + c) * m + p * W);
        }
    });
}

template <class T>
void landmark_values(const KernelSource<T>& source, T* out, Threads& threads) {
    const Index m = source.rows();
    each_tile(source, threads, [&](Index first, int count, const T* k, int) {
        linear_simd<T>().turn(k, kTile, static_cast<int>(m), count, out + first * m, m);
    });
}

template void landmark_values(const KernelSource<float>&, float*, Threads&);
template void landmark_values(const KernelSource<double>&, double*, Threads&);
template void landmark_features(const KernelSource<float>&, const double*, float*, Threads&);
template void landmark_features(const KernelSource<double>&, const double*, double*, Threads&);

}  // namespace sodm
