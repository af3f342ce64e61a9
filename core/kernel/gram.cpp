#include "kernel/gram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/parts.hpp"
#include "kernel/neighbourhood.hpp"

namespace sodm {

namespace {
constexpr Index kTilesOfPart = 16;  // of a vector: enough work to be worth handing out

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
}  // namespace

template <class T>
GramMatrix<T>::GramMatrix(const KernelSource<T>& source, std::size_t cache_bytes, Threads& threads)
    : source_(source),
      cache_bytes_(cache_bytes),
      threads_(threads),
      far_(source),
      pool_(kTileValues, threads.count()),
      packed_pool_(kTileValues, threads.count()) {
    for (Index i = 0; i < source.rows(); ++i) scale_ = std::max(scale_, std::fabs(source.diagonal(i)));
}

template <class T>
void GramMatrix<T>::assign(const std::vector<Index>& rows, bool packed, bool wide) {
    wide_ = wide;
    rows_.clear();
    plan_ = nullptr;
    tiles_.clear();
    pool_.clear();
    packed_pool_.clear();
    stored_ = 0;
    stored_bytes_ = 0;
    packing_ =
        packed && source_.falls_with_distance() ? Packing<T>(source_.far_value(), scale_) : Packing<T>();
    append(rows);
}

template <class T>
void GramMatrix<T>::append(const std::vector<Index>& rows) {
    if (rows.empty()) return;
    plan_ = nullptr;
    const Index last = size() / kTile;
    if (size() % kTile != 0) {  // the last tile row grows: evaluate it anew
        forget(last);
        stored_ = std::min(stored_, last);
    }
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    tiles_.resize(at(tile_rows()));
    far_.assign(rows_, last * kTile);
    threads_.run(at(tile_rows() - last), [&](std::size_t t, int) { begin(last + static_cast<Index>(t)); });
    store_missing();
}

// A tile row of which nothing is known but which rows are far apart.
template <class T>
void GramMatrix<T>::begin(Index i) {
    TileRow& row = tiles_[at(i)];
    row.reset(i + 1);
    const double value = source_.far_value(), allowed = near(value);
    for (Index j = 0; j < i; ++j)
        if (far_.apart(i, j, allowed)) row.set_constant(at(j), static_cast<T>(value));
}

// How far from this value others of a tile may be for it to count as constant.
template <class T>
double GramMatrix<T>::near(double value) const {
    return std::max(
        {negligible<T>(scale_), std::fabs(value) * std::numeric_limits<T>::epsilon(), packing_.nothing()});
}

template <class T>
void GramMatrix<T>::forget(Index i) {
    TileRow& row = tiles_[at(i)];
    for (const TileValues<T>& tile : row.kept) {
        stored_bytes_ -= tile.bytes_per_value() * kTileValues;
        if (tile.whole) pool_.give_back(tile.whole);
        if (tile.packed) packed_pool_.give_back(tile.packed);
    }
    row = TileRow();
}

template <class T>
void GramMatrix<T>::store_missing() {
    std::vector<Workspace<T>> work(at(threads_.count()));
    const std::size_t per_tile = kTileValues * (packing_ ? sizeof(std::uint16_t) : sizeof(T));
    const auto at_most = [&](Index i) { return at(i) * per_tile + kTileValues * sizeof(T); };
    // As many tile rows at a time as are sure to fit; how much they take is known when they are there.
    while (stored_ < tile_rows()) {
        std::size_t bytes = stored_bytes_;
        Index end = stored_;
        while (end < tile_rows() && bytes + at_most(end) <= cache_bytes_) bytes += at_most(end++);
        if (end == stored_) break;
        // The longest tile rows first, so that the threads end together.
        threads_.run(at(end - stored_), [&](std::size_t t, int worker) {
            store(end - 1 - static_cast<Index>(t), worker, work[at(worker)]);
        });
        for (; stored_ < end; ++stored_)
            for (const TileValues<T>& tile : tiles_[at(stored_)].kept)
                stored_bytes_ += tile.bytes_per_value() * kTileValues;
    }
}

// Evaluates tile row i; tiles that are not constant are kept, as that of the diagonal, the last, always is.
template <class T>
void GramMatrix<T>::store(Index i, int worker, Workspace<T>& work) {
    const typename KernelSource<T>::Timed timed(source_);
    TileRow& row = tiles_[at(i)];
    source_.load_columns(Subset{rows_.data(), size()}, i * kTile, height(i), work);
    const TileProducts<T> products(packing_, source_.far_value());
    const double allowed = near(source_.far_value());
    T* whole = nullptr;
    std::uint16_t* packed = nullptr;
    for (Index j = 0; j <= i; ++j) {
        if (row.constant[at(j)]) continue;
        if (!whole) whole = pool_.take(worker);
        evaluate_tile(j, work, whole);
        if (is_constant(j, i, whole)) {
            row.set_constant(at(j), whole[0]);
            continue;
        }
        if (packing_ && j != i) {
            if (!packed) packed = packed_pool_.take(worker);
            row.kept[at(j)] = products.pack(whole, height(j), height(i), packed);
            if (row.kept[at(j)].packed) {
                packed = nullptr;
                continue;
            }
        }
        row.kept[at(j)] = products.whole(std::exchange(whole, nullptr), height(j), height(i), allowed);
    }
    row.looked_at = true;
}

template <class T>
bool GramMatrix<T>::is_constant(Index j, Index i, const T* tile) const {
    if (i == j) return false;
    constexpr int kLanes = 16;
    const auto allowed = static_cast<T>(near(static_cast<double>(tile[0])));
    const T low = tile[0] - allowed, high = tile[0] + allowed;
    for (int r = 0; r < height(j); ++r) {
        const T* row = tile + static_cast<std::size_t>(r) * kTile;
        int c = 0;
        for (; c + kLanes <= height(i); c += kLanes) {
            int inside = 0;
            for (int l = 0; l < kLanes; ++l) inside += (row[c + l] >= low) & (row[c + l] <= high);
            if (inside != kLanes) return false;
        }
        for (; c < height(i); ++c)
            if (!(row[c] >= low && row[c] <= high)) return false;
    }
    return true;
}

// Which tiles of rows that are not stored are constant, once: a pass of blocks has to know its neighbours.
template <class T>
void GramMatrix<T>::look_at_all() {
    std::vector<Workspace<T>> work(at(threads_.count()));
    threads_.run(at(tile_rows() - stored_), [&](std::size_t t, int worker) {
        const Index i = tile_rows() - 1 - static_cast<Index>(t);
        TileRow& row = tiles_[at(i)];
        if (row.looked_at) return;
        Workspace<T>& w = work[at(worker)];
        w.tile.resize(kTileValues);
        const typename KernelSource<T>::Timed timed(source_);
        source_.load_columns(Subset{rows_.data(), size()}, i * kTile, height(i), w);
        for (Index j = 0; j < i; ++j) {
            if (row.constant[at(j)]) continue;
            evaluate_tile(j, w, w.tile.data());
            if (is_constant(j, i, w.tile.data())) row.set_constant(at(j), w.tile[0]);
        }
        row.looked_at = true;
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

// Tile (j, i) that has been evaluated into the workspace, with the values it would have if it were stored.
template <class T>
TileValues<T> GramMatrix<T>::as_kept(Index j, Index i, Workspace<T>& work) const {
    const TileProducts<T> products(packing_, source_.far_value());
    if (packing_ && j != i) {
        work.packed_tile.resize(kTileValues);
        const TileValues<T> packed =
            products.pack(work.tile.data(), height(j), height(i), work.packed_tile.data());
        if (packed.packed) return packed;
    }
    return products.whole(work.tile.data(), height(j), height(i), near(source_.far_value()));
}

template <class T>
void GramMatrix<T>::apply(const double* x, int n_vectors, double* y, const char* wanted) {
    if (wide_)
        apply_as<double>(x, n_vectors, y, wanted);
    else
        apply_as<T>(x, n_vectors, y, wanted);
}

// Tiles are summed as A, and their sums in double.
template <class T>
template <class A>
void GramMatrix<T>::apply_as(const double* x, int n_vectors, double* y, const char* wanted) {
    const Index n = size(), tiles = tile_rows(), padded = tiles * kTile;
    const TileProducts<T, A> products(packing_, source_.far_value());
    Buffer<A> xt(static_cast<std::size_t>(padded * n_vectors));
    std::vector<double> tile_sums(at(tiles * n_vectors), 0.0);
    std::vector<char> filled(at(tiles * n_vectors), 0);  // tiles of x that are not all zero
    in_parts(&threads_, tiles, kTilesOfPart, [&](Index first, Index last) {
        for (int v = 0; v < n_vectors; ++v)
            for (Index t = first; t < last; ++t) {
                const double* from = x + v * n + t * kTile;
                A* to = xt.data() + v * padded + t * kTile;
                double sum = 0;
                bool any = false;
                for (int r = 0; r < height(t); ++r) {
                    to[r] = static_cast<A>(from[r]);
                    sum += from[r];
                    any |= from[r] != 0;
                }
                std::fill(to + height(t), to + kTile, A(0));
                tile_sums[at(v * tiles + t)] = sum;
                filled[at(v * tiles + t)] = any;
            }
    });
    const auto asked = [&](int v, Index tile) { return !wanted || wanted[v * tiles + tile]; };
    // Whether the product of tiles (j, i) adds to y of i, and to y of j.
    const auto needs = [&](int v, Index to, Index from) {
        return asked(v, to) && filled[at(v * tiles + from)] != 0;
    };

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
        alignas(64) A from_rows[kTile], from_columns[kTile];
        for (Index i = static_cast<Index>(s); i < tiles; i += strips) {
            threads_.check(worker);
            TileRow& row = tiles_[at(i)];
            const bool stored = i < stored_, looked_at = row.looked_at;
            const int lanes = lanes_for<T>(height(i));
            std::optional<typename KernelSource<T>::Timed> timed;
            if (!stored) {
                timed.emplace(source_);
                source_.load_columns(Subset{rows_.data(), n}, i * kTile, height(i), w);
                w.tile.resize(kTileValues);
            }
            bool left_out = false;
            for (Index j = 0; j <= i; ++j) {
                bool needed = false;
                for (int v = 0; v < n_vectors && !needed; ++v) needed = needs(v, i, j) || needs(v, j, i);
                if (!needed) {
                    left_out = true;
                    continue;
                }
                TileValues<T> tile;
                if (!row.constant[at(j)]) {
                    if (stored) {
                        tile = row.kept[at(j)];
                    } else {
                        evaluate_tile(j, w, w.tile.data());
                        if (!looked_at && is_constant(j, i, w.tile.data()))
                            row.set_constant(at(j), w.tile[0]);
                        else
                            tile = as_kept(j, i, w);
                    }
                }
                if (row.constant[at(j)]) {
                    const auto constant = static_cast<double>(row.value[at(j)]);
                    if (constant == 0) continue;
                    for (int v = 0; v < n_vectors; ++v) {
                        const double to_j = constant * tile_sums[at(v * tiles + i)],
                                     to_i = constant * tile_sums[at(v * tiles + j)];
                        for (int r = 0; r < kTile; ++r) {
                            sum[at(v * padded + j * kTile + r)] += to_j;
                            sum[at(v * padded + i * kTile + r)] += to_i;
                        }
                    }
                    continue;
                }
                for (int v = 0; v < n_vectors; ++v) {
                    const A *xj = xt.data() + v * padded + j * kTile,
                            *xi = xt.data() + v * padded + i * kTile;
                    double *sj = sum.data() + v * padded + j * kTile,
                           *si = sum.data() + v * padded + i * kTile;
                    const bool to_i = needs(v, i, j), to_j = i != j && needs(v, j, i);
                    if (to_i && to_j)
                        products.over_both(tile, height(j), lanes, xj, from_rows, xi, from_columns);
                    else if (to_i)
                        products.over_rows(tile, height(j), lanes, xj, from_rows);
                    else if (to_j)
                        products.over_columns(tile, height(j), lanes, xi, from_columns);
                    for (int r = 0; r < height(j) && to_j; ++r) sj[r] += static_cast<double>(from_columns[r]);
                    for (int c = 0; c < lanes && to_i; ++c) si[c] += static_cast<double>(from_rows[c]);
                }
            }
            row.looked_at |= !left_out;
        }
    });
    in_parts(&threads_, tiles, kTilesOfPart, [&](Index first, Index last) {
        for (int v = 0; v < n_vectors; ++v)
            for (Index t = first; t < last; ++t) {
                if (!asked(v, t)) continue;
                double total[kTile] = {};
                for (const auto& sum : sums) {
                    const double* from = sum.data() + v * padded + t * kTile;
                    for (int r = 0; r < kTile; ++r) total[r] += from[r];
                }
                std::copy_n(total, height(t), y + v * n + t * kTile);
            }
    });
}

template <class T>
const T* GramMatrix<T>::diagonal_tile(Index i, Workspace<T>& work, Buffer<T>& room) const {
    if (i < stored_) return tiles_[at(i)].kept[at(i)].whole;
    room.resize(kTileValues);
    source_.load_columns(Subset{rows_.data(), size()}, i * kTile, height(i), work);
    evaluate_tile(i, work, room.data());
    return room.data();
}

template <class T>
void GramMatrix<T>::copy(const std::vector<Index>& rows, const std::vector<Index>& columns, bool lower,
                         T* out, Index stride) const {
    const auto by_tile = [&](const std::vector<Index>& positions) {
        std::vector<std::vector<Index>> places(at(tile_rows()));
        for (std::size_t k = 0; k < positions.size(); ++k)
            places[at(positions[k] / kTile)].push_back(static_cast<Index>(k));
        return places;
    };
    const auto rows_of = by_tile(rows), columns_of = by_tile(columns);
    const TileProducts<T> products(packing_, source_.far_value());
    std::vector<Workspace<T>> work(at(threads_.count()));
    threads_.run(at(tile_rows()), [&](std::size_t task, int worker) {
        const Index a = tile_rows() - 1 - static_cast<Index>(task);
        if (rows_of[at(a)].empty()) return;
        threads_.check(worker);
        Workspace<T>& w = work[at(worker)];
        w.tile.resize(kTileValues);
        Index loaded = -1;
        for (Index b = 0; b < (lower ? a + 1 : tile_rows()); ++b) {
            if (columns_of[at(b)].empty()) continue;
            const Index i = std::max(a, b), j = std::min(a, b);
            const TileRow& row = tiles_[at(i)];
            const bool stored = i < stored_;
            TileValues<T> tile = stored ? row.kept[at(j)] : TileValues<T>();
            bool constant = row.constant[at(j)] != 0;
            T value = row.value[at(j)];
            if (!stored && !constant) {
                if (loaded != i) source_.load_columns(Subset{rows_.data(), size()}, i * kTile, height(i), w);
                loaded = i;
                evaluate_tile(j, w, w.tile.data());
                // What is not stored has the same values as what is.
                constant = is_constant(j, i, w.tile.data());
                if (constant)
                    value = w.tile[0];
                else
                    tile = as_kept(j, i, w);
            }
            for (Index r : rows_of[at(a)])
                for (Index c : columns_of[at(b)]) {
                    const Index of_row = rows[at(r)] % kTile, of_column = columns[at(c)] % kTile;
                    out[r * stride + c] = constant ? value
                                          : a == i ? products.value(tile, of_column, of_row)
                                                   : products.value(tile, of_row, of_column);
                }
        }
    });
}

template class GramMatrix<float>;
template class GramMatrix<double>;

}  // namespace sodm
