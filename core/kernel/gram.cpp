#include "kernel/gram.hpp"

#include <algorithm>
#include <optional>

namespace sodm {

namespace {
constexpr std::size_t kTileValues = static_cast<std::size_t>(kTile) * kTile;
}

template <class T>
void GramMatrix<T>::assign(const std::vector<Index>& rows) {
    rows_ = rows;
    stored_ = 0;
    used_bytes_ = 0;
    // Buffers are reused where they are large enough already.
    store_missing();
}

template <class T>
void GramMatrix<T>::append(const std::vector<Index>& rows) {
    if (rows.empty()) return;
    const bool partial = size() % kTile != 0;
    if (partial && fully_stored()) {  // the last tile row grows: evaluate it anew
        --stored_;
        used_bytes_ -= (static_cast<std::size_t>(stored_) + 1) * kTileValues * sizeof(T);
    }
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    store_missing();
}

template <class T>
void GramMatrix<T>::store_missing() {
    const Index before = stored_;
    while (stored_ < tile_rows()) {
        const std::size_t bytes = (static_cast<std::size_t>(stored_) + 1) * kTileValues * sizeof(T);
        if (used_bytes_ + bytes > cache_bytes_) break;
        used_bytes_ += bytes;
        ++stored_;
    }
    if (static_cast<Index>(tiles_.size()) > stored_) tiles_.resize(static_cast<std::size_t>(stored_));
    while (static_cast<Index>(tiles_.size()) < stored_) tiles_.emplace_back();
    for (Index i = before; i < stored_; ++i)
        tiles_[static_cast<std::size_t>(i)].resize((static_cast<std::size_t>(i) + 1) * kTileValues);
    std::vector<Workspace<T>> work(static_cast<std::size_t>(threads_.count()));
    // The longest tile rows first, so that the threads end together.
    threads_.run(static_cast<std::size_t>(stored_ - before), [&](std::size_t t, int worker) {
        const typename KernelSource<T>::Timed timed(source_);
        Workspace<T>& w = work[static_cast<std::size_t>(worker)];
        const Index i = stored_ - 1 - static_cast<Index>(t);
        source_.load_columns(Subset{rows_.data(), size()}, i * kTile, height(i), w);
        for (Index j = 0; j <= i; ++j)
            evaluate_tile(
                j, w, tiles_[static_cast<std::size_t>(i)].data() + static_cast<std::size_t>(j) * kTileValues);
    });
}

// Tile (j, i) for the tile row i whose columns are loaded.
template <class T>
void GramMatrix<T>::evaluate_tile(Index j, Workspace<T>& work, T* out) const {
    const int chunk = std::min(kTile, source_.row_chunk());
    for (int r = 0; r < height(j); r += chunk)
        source_.tile(Subset{rows_.data(), size()}, j * kTile + r, std::min(chunk, height(j) - r), work,
                     out + static_cast<std::size_t>(r) * kTile);
}

template <class T>
void GramMatrix<T>::apply(const double* x, int n_vectors, double* y) {
    const Index n = size(), tiles = tile_rows(), padded = tiles * kTile;
    const SimdOps<T>& ops = simd<T>();
    Buffer<T> xt(static_cast<std::size_t>(padded * n_vectors));
    for (int v = 0; v < n_vectors; ++v) {
        std::transform(x + v * n, x + (v + 1) * n, xt.data() + v * padded,
                       [](double a) { return static_cast<T>(a); });
        std::fill(xt.data() + v * padded + n, xt.data() + (v + 1) * padded, T(0));
    }

    // Strips of tile rows, as many as the problem's size says; each has its own sums, added up in strip
    // order.
    const Index by_memory = std::max<Index>(1, (Index(32) << 20) / (padded * n_vectors * 8));
    const Index strips = std::max<Index>(1, std::min<Index>({16, tiles, by_memory}));
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(strips));
    std::vector<Workspace<T>> work(static_cast<std::size_t>(threads_.count()));
    threads_.run(static_cast<std::size_t>(strips), [&](std::size_t s, int worker) {
        Workspace<T>& w = work[static_cast<std::size_t>(worker)];
        auto& sum = sums[s];
        sum.assign(static_cast<std::size_t>(padded * n_vectors), 0.0);
        alignas(64) T from_rows[kTile], from_columns[kTile];
        for (Index i = static_cast<Index>(s); i < tiles; i += strips) {
            threads_.check(worker);
            const T* stored = i < stored_ ? tiles_[static_cast<std::size_t>(i)].data() : nullptr;
            const int lanes = lanes_for<T>(height(i));
            std::optional<typename KernelSource<T>::Timed> timed;
            if (!stored) {
                timed.emplace(source_);
                source_.load_columns(Subset{rows_.data(), n}, i * kTile, height(i), w);
                w.tile.resize(kTileValues);
            }
            for (Index j = 0; j <= i; ++j) {
                const T* tile = stored ? stored + static_cast<std::size_t>(j) * kTileValues : w.tile.data();
                if (!stored) evaluate_tile(j, w, w.tile.data());
                for (int v = 0; v < n_vectors; ++v) {
                    const T *xj = xt.data() + v * padded + j * kTile,
                            *xi = xt.data() + v * padded + i * kTile;
                    double *sj = sum.data() + v * padded + j * kTile,
                           *si = sum.data() + v * padded + i * kTile;
                    std::fill(from_rows, from_rows + kTile, T(0));
                    if (i == j) {
                        ops.add_rows(tile, kTile, height(j), lanes, xj, from_rows);
                    } else {
                        std::fill(from_columns, from_columns + kTile, T(0));
                        ops.add_both(tile, kTile, height(j), lanes, xj, from_rows, xi, from_columns);
                        for (int r = 0; r < kTile; ++r) sj[r] += static_cast<double>(from_columns[r]);
                    }
                    for (int c = 0; c < lanes; ++c) si[c] += static_cast<double>(from_rows[c]);
                }
            }
        }
    });
    for (int v = 0; v < n_vectors; ++v)
        for (Index k = 0; k < n; ++k) {
            double total = 0;
            for (const auto& sum : sums) total += sum[static_cast<std::size_t>(v * padded + k)];
            y[v * n + k] = total;
        }
}

template <class T>
void GramMatrix<T>::relax(double* f, const BlockStep& solve) {
    const Index tiles = tile_rows();
    const SimdOps<T>& ops = simd<T>();
    std::vector<Workspace<T>> work(static_cast<std::size_t>(threads_.count()));
    // A handful of tiles per task: enough work to be worth handing out.
    constexpr Index kGroup = 16;
    alignas(64) T change[kTile];
    Buffer<T> diagonal(kTileValues);
    for (Index i = 0; i < tiles; ++i) {
        const Subset all{rows_.data(), size()};
        const T* block = i < stored_ ? tiles_[static_cast<std::size_t>(i)].data() +
                                           static_cast<std::size_t>(i) * kTileValues
                                     : diagonal.data();
        if (i >= stored_) {
            source_.load_columns(all, i * kTile, height(i), work[0]);
            evaluate_tile(i, work[0], diagonal.data());
        }
        std::fill(change, change + kTile, T(0));
        solve(i * kTile, height(i), block, change);
        if (std::all_of(change, change + kTile, [](T c) { return c == 0; })) continue;
        threads_.run(
            static_cast<std::size_t>((tiles + kGroup - 1) / kGroup), [&](std::size_t group, int worker) {
                Workspace<T>& w = work[static_cast<std::size_t>(worker)];
                alignas(64) T sum[kTile];
                bool loaded = false;
                for (Index j = static_cast<Index>(group) * kGroup;
                     j < std::min(tiles, (static_cast<Index>(group) + 1) * kGroup); ++j) {
                    const Index row = std::max(i, j), other = std::min(i, j);
                    const T* tile;
                    if (row < stored_) {
                        tile = tiles_[static_cast<std::size_t>(row)].data() +
                               static_cast<std::size_t>(other) * kTileValues;
                    } else {
                        // Evaluate with block i as the rows, whatever the storage order would have been.
                        w.tile.resize(kTileValues);
                        source_.load_columns(all, j * kTile, height(j), w);
                        evaluate_tile(i, w, w.tile.data());
                        tile = w.tile.data();
                        loaded = true;
                    }
                    std::fill(sum, sum + kTile, T(0));
                    if (j >= i || loaded)
                        ops.add_rows(tile, kTile, height(i), lanes_for<T>(height(j)), change, sum);
                    else
                        ops.add_columns(tile, kTile, height(j), lanes_for<T>(height(i)), change, sum);
                    loaded = false;
                    for (int c = 0; c < height(j); ++c) f[j * kTile + c] += static_cast<double>(sum[c]);
                }
            });
    }
}

template class GramMatrix<float>;
template class GramMatrix<double>;

}  // namespace sodm
