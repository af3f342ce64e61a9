#include "kernel/products.hpp"

#include <algorithm>
#include <vector>

namespace sodm {

namespace {
constexpr Index kSumRows = 192;  // rows whose weighted sum is taken in T before it is added in double
}

template <class T, class Out>
void kernel_block(const KernelSource<T>& source, Subset rows, Subset columns, Out* out, Index ldo,
                  Threads& threads) {
    const int chunk = source.row_chunk();
    std::vector<Workspace<T>> work(static_cast<std::size_t>(threads.count()));
    const Index n_tiles = (columns.n + kTile - 1) / kTile;
    threads.run(static_cast<std::size_t>(n_tiles), [&](std::size_t t, int worker) {
        const typename KernelSource<T>::Timed timed(source);
        Workspace<T>& w = work[static_cast<std::size_t>(worker)];
        const Index c0 = static_cast<Index>(t) * kTile;
        const int width = static_cast<int>(std::min<Index>(kTile, columns.n - c0));
        w.tile.resize(static_cast<std::size_t>(chunk * kTile));
        source.load_columns(columns, c0, width, w);
        for (Index r0 = 0; r0 < rows.n; r0 += chunk) {
            const int height = static_cast<int>(std::min<Index>(chunk, rows.n - r0));
            source.tile(rows, r0, height, w, w.tile.data());
            for (int r = 0; r < height; ++r)
                std::copy_n(w.tile.data() + r * kTile, width, out + (r0 + r) * ldo + c0);
        }
    });
}

template <class T>
void kernel_apply(const KernelSource<T>& source, Subset rows, Subset columns, const double* weights,
                  int n_vectors, double* out, Threads& threads) {
    const int chunk = source.row_chunk();
    const SimdOps<T>& ops = simd<T>();
    std::vector<T> a(static_cast<std::size_t>(rows.n * n_vectors));
    std::transform(weights, weights + rows.n * n_vectors, a.begin(),
                   [](double w) { return static_cast<T>(w); });

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
            for (int v = 0; v < n_vectors; ++v) {
                alignas(64) T y[kTile] = {};
                ops.add_rows(w.tile.data(), kTile, height, lanes, a.data() + v * rows.n + r0, y);
                double* sum = total.data() + v * kTile;
                for (int c = 0; c < width; ++c) sum[c] += static_cast<double>(y[c]);
            }
        }
        for (int v = 0; v < n_vectors; ++v)
            std::copy_n(total.data() + v * kTile, width, out + v * columns.n + c0);
    });
}

template void kernel_block(const KernelSource<float>&, Subset, Subset, float*, Index, Threads&);
template void kernel_block(const KernelSource<float>&, Subset, Subset, double*, Index, Threads&);
template void kernel_block(const KernelSource<double>&, Subset, Subset, double*, Index, Threads&);
template void kernel_apply(const KernelSource<float>&, Subset, Subset, const double*, int, double*, Threads&);
template void kernel_apply(const KernelSource<double>&, Subset, Subset, const double*, int, double*,
                           Threads&);

}  // namespace sodm
