#include "exact/nystrom.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "base/linalg.hpp"
#include "base/parts.hpp"
#include "base/random.hpp"
#include "kernel/products.hpp"
#include "simd/sums_of.hpp"

namespace sodm {

namespace {

// These values as A, in `room` if they are of another type.
template <class A, class T>
const A* in_precision(const T* values, std::size_t count, Buffer<A>& room) {
    if constexpr (std::is_same<A, T>::value) {
        return values;
    } else {
        room.resize(count);
        std::copy_n(values, count, room.data());
        return room.data();
    }
}

// Randomly pivoted Cholesky on the rows of a pool, `block` pivots at a time so that the work is matrix
// products. Returns positions in the pool, in the order drawn.
template <class T>
std::vector<Index> draw_pivots(const KernelSource<T>& source, const std::vector<Index>& pool, Index rank,
                               Random& random, Threads& threads) {
    constexpr Index kBlock = 96;
    const auto n = static_cast<Index>(pool.size());
    const SimdOps<T>& ops = simd<T>();
    const Index padded = (n + kPanel<T> - 1) / kPanel<T> * kPanel<T>;
    std::vector<double> residual(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i)  // what is below zero, in a kernel that is not semidefinite, is no pivot
        residual[static_cast<std::size_t>(i)] =
            std::max(0.0, static_cast<double>(source.diagonal(pool[static_cast<std::size_t>(i)])));
    const double floor = 1e-6 * std::accumulate(residual.begin(), residual.end(), 0.0);

    std::vector<Index> pivots;
    Buffer<T> factor(static_cast<std::size_t>(rank * padded));  // rank x padded
    Buffer<T> rows(static_cast<std::size_t>(kBlock * padded)), small_factor, inverse_t;
    while (static_cast<Index>(pivots.size()) < rank) {
        const auto done = static_cast<Index>(pivots.size());
        std::vector<double> cumulated(static_cast<std::size_t>(n));
        double total = 0;
        for (Index i = 0; i < n; ++i)
            cumulated[static_cast<std::size_t>(i)] = total +=
                std::max(0.0, residual[static_cast<std::size_t>(i)]);
        if (!(total > floor)) break;  // the landmarks explain everything
        std::vector<Index> drawn;
        for (Index k = 0; k < std::min(kBlock, rank - done); ++k) {
            const auto at = std::upper_bound(cumulated.begin(), cumulated.end(), random.uniform() * total) -
                            cumulated.begin();
            drawn.push_back(std::min<Index>(at, n - 1));
        }
        std::sort(drawn.begin(), drawn.end());
        drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
        auto b = static_cast<Index>(drawn.size());
        std::vector<Index> list(drawn.size());
        for (Index k = 0; k < b; ++k)
            list[static_cast<std::size_t>(k)] =
                pool[static_cast<std::size_t>(drawn[static_cast<std::size_t>(k)])];

        // rows = K(drawn, pool) - F_drawn' F
        std::fill(rows.data(), rows.data() + kBlock * padded, T(0));
        kernel_block(source, Subset{list.data(), b}, Subset{pool.data(), n}, rows.data(), padded, threads);
        small_factor.resize(static_cast<std::size_t>(b * std::max<Index>(done, 1)));
        for (Index k = 0; k < b; ++k)
            for (Index j = 0; j < done; ++j)
                small_factor[static_cast<std::size_t>(k * done + j)] =
                    -factor[static_cast<std::size_t>(j * padded + drawn[static_cast<std::size_t>(k)])];
        if (done > 0)
            threads.run(static_cast<std::size_t>(padded / kPanel<T>), [&](std::size_t p, int) {
                const Index c = static_cast<Index>(p) * kPanel<T>;
                ops.pair_dense(Pairing::product, small_factor.data(), done, 1, static_cast<int>(b),
                               static_cast<int>(done), factor.data() + c, padded, rows.data() + c, padded,
                               true);
            });

        // Factor the block on its own pivots, with a little jitter: pivots drawn together may be near each
        // other.
        std::vector<double> block(static_cast<std::size_t>(b * b)), inverse(static_cast<std::size_t>(b * b));
        double trace = 0;
        for (Index k = 0; k < b; ++k)
            trace += static_cast<double>(
                rows[static_cast<std::size_t>(k * padded + drawn[static_cast<std::size_t>(k)])]);
        double jitter = 1e-5 * std::max(trace / static_cast<double>(b), 1e-30);
        for (;; jitter *= 10) {
            if (!std::isfinite(jitter)) throw std::invalid_argument(kNotFinite);
            for (Index k = 0; k < b; ++k)
                for (Index j = 0; j < b; ++j)
                    block[static_cast<std::size_t>(k * b + j)] =
                        static_cast<double>(
                            rows[static_cast<std::size_t>(k * padded + drawn[static_cast<std::size_t>(j)])]) +
                        (j == k ? jitter : 0.0);
            if (cholesky(block.data(), b, threads)) break;
        }
        invert_lower(block.data(), b, inverse.data(), threads);
        inverse_t.resize(static_cast<std::size_t>(b * b));
        for (std::size_t i = 0; i < inverse.size(); ++i) inverse_t[i] = static_cast<T>(inverse[i]);
        threads.run(static_cast<std::size_t>(padded / kPanel<T>), [&](std::size_t p, int) {
            const Index c = static_cast<Index>(p) * kPanel<T>;
            T* out = factor.data() + done * padded + c;
            ops.pair_dense(Pairing::product, inverse_t.data(), b, 1, static_cast<int>(b), static_cast<int>(b),
                           rows.data() + c, padded, out, padded, false);
            for (Index l = 0; l < kPanel<T> && c + l < n; ++l)
                for (Index k = 0; k < b; ++k) {
                    const auto v = static_cast<double>(out[k * padded + l]);
                    residual[static_cast<std::size_t>(c + l)] -= v * v;
                }
        });
        for (Index k : drawn) {
            residual[static_cast<std::size_t>(k)] = 0;
            pivots.push_back(k);
        }
    }
    return pivots;
}

}  // namespace

template <class T>
void NystromFactor<T>::choose(const std::vector<Index>& rows, Index rank, Index pool_size, std::uint64_t seed,
                              bool wide) {
    Random random(seed);
    std::vector<Index> pool = rows;
    if (static_cast<Index>(pool.size()) > pool_size) {
        for (Index i = 0; i < pool_size; ++i)
            std::swap(pool[static_cast<std::size_t>(i)],
                      pool[static_cast<std::size_t>(i + random.below(static_cast<Index>(pool.size()) - i))]);
        pool.resize(static_cast<std::size_t>(pool_size));
    }
    const auto pivots =
        draw_pivots(source_, pool, std::min(rank, static_cast<Index>(pool.size())), random, threads_);
    landmarks_.clear();
    for (Index p : pivots) landmarks_.push_back(pool[static_cast<std::size_t>(p)]);
    rank_ = static_cast<Index>(landmarks_.size());
    n_ = 0;
    if (rank_ == 0) return;

    std::vector<double> small(static_cast<std::size_t>(rank_ * rank_)), work(small.size());
    const Subset z{landmarks_.data(), rank_};
    kernel_block(source_, z, z, small.data(), rank_, threads_);
    double trace = 0;  // of absolute values: a kernel that is not semidefinite may have them below zero
    for (Index k = 0; k < rank_; ++k) trace += std::fabs(small[static_cast<std::size_t>(k * rank_ + k)]);
    double jitter = (sizeof(T) == 4 ? 1e-6 : 1e-12) * std::max(trace / static_cast<double>(rank_), 1e-30);
    for (;; jitter *= 10) {
        if (!std::isfinite(jitter)) throw std::invalid_argument(kNotFinite);
        work = small;
        for (Index k = 0; k < rank_; ++k) work[static_cast<std::size_t>(k * rank_ + k)] += jitter;
        if (cholesky(work.data(), rank_, threads_)) break;
    }
    invert_lower(work.data(), rank_, small.data(), threads_);
    wide_ = wide;
    if (wide) {
        wide_inverse_.resize(small.size());
        std::copy_n(small.data(), small.size(), wide_inverse_.data());
    } else {
        inverse_.resize(small.size());
        for (std::size_t i = 0; i < small.size(); ++i) inverse_[i] = static_cast<T>(small[i]);
    }
}

template <class T>
void NystromFactor<T>::set_rows(const std::vector<Index>& rows, Index keep) {
    n_ = static_cast<Index>(rows.size());
    const Index first = keep / kTile;  // a tile that was not full is computed anew
    Buffer<T> grown;
    const auto needed = static_cast<std::size_t>(tiles() * rank_ * kTile);
    if (factor_.size() < needed) {
        grown.resize(needed + needed / 4);
        std::copy_n(factor_.data(), first * rank_ * kTile, grown.data());
        factor_ = std::move(grown);
    }
    if (rank_ == 0) return;
    if (wide_)
        compute(rows, first, wide_inverse_);
    else
        compute(rows, first, inverse_);
}

// Tiles of F = L^-1 K_Z from `first` on, in the precision of L^-1.
template <class T>
template <class A>
void NystromFactor<T>::compute(const std::vector<Index>& rows, Index first, const Buffer<A>& inverse) {
    const SimdOps<A>& ops = simd<A>();
    struct Scratch {
        Workspace<T> workspace;
        Buffer<T> kernel;
        Buffer<A> converted, f;
    };
    std::vector<Scratch> scratch(static_cast<std::size_t>(threads_.count()));
    const Subset z{landmarks_.data(), rank_}, all{rows.data(), n_};
    threads_.run(static_cast<std::size_t>(tiles() - first), [&](std::size_t t, int worker) {
        Scratch& s = scratch[static_cast<std::size_t>(worker)];
        s.kernel.resize(static_cast<std::size_t>(rank_ * kTile));
        const Index tile_number = first + static_cast<Index>(t);
        const int width = static_cast<int>(std::min<Index>(kTile, n_ - tile_number * kTile));
        const int lanes = lanes_for<T>(width), chunk = source_.row_chunk();
        {
            const typename KernelSource<T>::Timed timed(source_);
            source_.load_columns(all, tile_number * kTile, width, s.workspace);
            for (Index r = 0; r < rank_; r += chunk)
                source_.tile(z, r, static_cast<int>(std::min<Index>(chunk, rank_ - r)), s.workspace,
                             s.kernel.data() + r * kTile);
        }
        const A* values = in_precision(s.kernel.data(), s.kernel.size(), s.converted);
        s.f.assign(s.kernel.size(), A(0));
        // L^-1 is lower triangular, so row r needs the first r + 1 values only.
        constexpr Index kRows = 48;
        for (int p = 0; p < lanes; p += kPanel<A>)
            for (Index r = 0; r < rank_; r += kRows) {
                const int count = static_cast<int>(std::min(kRows, rank_ - r));
                const int depth = static_cast<int>(std::min(rank_, r + kRows));
                ops.pair_dense(Pairing::product, inverse.data() + r * rank_, rank_, 1, count, depth,
                               values + p, kTile, s.f.data() + r * kTile + p, kTile, false);
            }
        T* out = factor_.data() + tile_number * rank_ * kTile;
        for (Index r = 0; r < rank_; ++r)
            for (int c = 0; c < kTile; ++c)
                out[r * kTile + c] =
                    c < width ? static_cast<T>(s.f[static_cast<std::size_t>(r * kTile + c)]) : T(0);
    });
}

namespace {

constexpr std::size_t kTileValues = static_cast<std::size_t>(kTile) * kTile;

// Upper triangle of the symmetric a (n x n in rows of kTile) becomes U^-1 with U'U = a; pivots are held above
// `floor`, for a preconditioner need not be exact but positive. Rows and columns with floor 0 become zero.
template <class T>
void invert_root(T* a, int n, const T* floor) {
    for (int k = 0; k < n; ++k) {
        T* row = a + k * kTile;
        if (floor[k] == 0) {
            std::fill(row, row + n, T(0));
            continue;
        }
        const T scale = 1 / std::sqrt(std::max(row[k], floor[k]));
        row[k] = 1 / scale;
        for (int c = k + 1; c < n; ++c) row[c] = floor[c] == 0 ? T(0) : row[c] * scale;
        for (int r = k + 1; r < n; ++r) {
            const T by = row[r];
            if (by == 0) continue;
            T* below = a + r * kTile;
            for (int c = r; c < n; ++c) below[c] -= by * row[c];
        }
    }
    // In place from the last row up: row k of the inverse is (e_k - sum_{r > k} U_kr row_r) / U_kk.
    T own[kTile];
    for (int k = n - 1; k >= 0; --k) {
        T* row = a + k * kTile;
        if (floor[k] == 0) continue;
        std::copy(row + k + 1, row + n, own + k + 1);
        const T pivot = 1 / row[k];
        std::fill(row, row + n, T(0));
        row[k] = 1;
        for (int r = k + 1; r < n; ++r) {
            const T by = own[r];
            if (by == 0) continue;
            const T* below = a + r * kTile;
            for (int c = r; c < n; ++c) row[c] -= by * below[c];
        }
        for (int c = k; c < n; ++c) row[c] *= pivot;
    }
}

}  // namespace

template <class T>
void NystromPreconditioner<T>::invert_blocks() {
    const Index rank = factor_.rank(), tiles = factor_.tiles();
    inverse_u_.resize(static_cast<std::size_t>(tiles) * kTileValues);
    scaled_.resize(static_cast<std::size_t>(tiles * rank * kTile));
    const SimdOps<T>& ops = simd<T>();
    threads_.run(static_cast<std::size_t>(tiles), [&](std::size_t t, int) {
        T* v = inverse_u_.data() + t * kTileValues;
        std::copy_n(residuals_[t].data(), kTileValues, v);
        T floor[kTile];
        for (int k = 0; k < kTile; ++k) {
            const double inverse = inverse_d_[t * kTile + static_cast<std::size_t>(k)];
            floor[k] = inverse > 0 ? static_cast<T>(0.1 / inverse) : T(0);
            if (inverse > 0) v[k * kTile + k] += static_cast<T>(1 / inverse);
        }
        for (int k = 0; k < kTile; ++k) std::fill(v + k * kTile, v + k * kTile + k, T(0));
        invert_root(v, kTile, floor);
        const T* f = factor_.tile(static_cast<Index>(t));
        T* g = scaled_.data() + static_cast<Index>(t) * rank * kTile;
        for (int p = 0; p < kTile; p += kPanel<T>)  // columns p.. of V end at row p + kPanel
            ops.pair_dense(Pairing::product, f, kTile, 1, static_cast<int>(rank), p + kPanel<T>, v + p, kTile,
                           g + p, kTile, false);
    });
}

// Adds F S F' to the sum, for tiles of F (rank x kTile each) and a scale for each of their columns: a panel
// of the sum's columns per task, lower triangle only. A tile is summed as A.
template <class T>
template <class A>
void NystromPreconditioner<T>::add_products(const T* tiles, Index count, const double* scales) {
    const Index rank = factor_.rank();
    const SimdOps<A>& ops = simd<A>();
    constexpr int W = kPanel<A>;
    const auto panels = static_cast<std::size_t>((rank + W - 1) / W);
    struct Scratch {
        Buffer<A> converted, panel, sum;
        Buffer<double> total;
    };
    std::vector<Scratch> scratch(static_cast<std::size_t>(threads_.count()));
    threads_.run(panels, [&](std::size_t p, int worker) {
        Scratch& s = scratch[static_cast<std::size_t>(worker)];
        const Index c0 = static_cast<Index>(p) * W;
        const int width = static_cast<int>(std::min<Index>(W, rank - c0)), rows = static_cast<int>(rank - c0);
        s.panel.resize(static_cast<std::size_t>(kTile * W));
        s.sum.resize(static_cast<std::size_t>(rows * W));
        s.total.assign(static_cast<std::size_t>(rows * W), 0.0);
        for (Index t = 0; t < count; ++t) {
            const A* f = in_precision(tiles + (t * rank + c0) * kTile, static_cast<std::size_t>(rows * kTile),
                                      s.converted);
            for (int k = 0; k < kTile; ++k) {
                const A scale = static_cast<A>(scales[t * kTile + k]);
                for (int c = 0; c < W; ++c)
                    s.panel[static_cast<std::size_t>(k * W + c)] =
                        c < width ? scale * f[c * kTile + k] : A(0);
            }
            ops.pair_dense(Pairing::product, f, kTile, 1, rows, kTile, s.panel.data(), W, s.sum.data(), W,
                           false);
            for (std::size_t i = 0; i < static_cast<std::size_t>(rows * W); ++i)
                s.total[i] += static_cast<double>(s.sum[i]);
        }
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < width; ++c)
                sum_[static_cast<std::size_t>((c0 + r) * rank + c0 + c)] +=
                    s.total[static_cast<std::size_t>(r * W + c)];
    });
}

template <class T>
void NystromPreconditioner<T>::add_products(const T* tiles, Index count, const double* scales) {
    if (factor_.wide())
        add_products<double>(tiles, count, scales);
    else
        add_products<T>(tiles, count, scales);
}

template <class T>
bool NystromPreconditioner<T>::factor_sum(double jitter) {
    const Index rank = factor_.rank();
    small_ = sum_;
    for (Index k = 0; k < rank; ++k) small_[static_cast<std::size_t>(k * rank + k)] += 1.0 + jitter;
    return cholesky(small_.data(), rank, threads_);
}

// Adds what the rows with another D change. False if they are so many that starting over is no more work, or
// if rounding has eaten the sum.
template <class T>
bool NystromPreconditioner<T>::update(const std::vector<double>& inverse_d) {
    constexpr Index kShare = 2;  // of the rows
    std::vector<Index> changed;
    for (std::size_t i = 0; i < inverse_d.size(); ++i)
        if (inverse_d[i] != inverse_d_[i]) changed.push_back(static_cast<Index>(i));
    const Index rank = factor_.rank(), count = (static_cast<Index>(changed.size()) + kTile - 1) / kTile;
    if (kShare * static_cast<Index>(changed.size()) > factor_.size()) return false;
    Buffer<T> tiles(static_cast<std::size_t>(count * rank * kTile));
    std::vector<double> scales(static_cast<std::size_t>(count * kTile), 0.0);
    in_parts(&threads_, count, 1, [&](Index first, Index last) {
        T* to = tiles.data() + first * rank * kTile;
        std::fill(to, tiles.data() + last * rank * kTile, T(0));
        const Index end = std::min(static_cast<Index>(changed.size()), last * kTile);
        for (Index c = first * kTile; c < end; ++c) {
            const Index row = changed[static_cast<std::size_t>(c)];
            const auto i = static_cast<std::size_t>(row);
            const T* from = factor_.tile(row / kTile) + row % kTile;
            T* own = tiles.data() + c / kTile * rank * kTile + c % kTile;
            for (Index r = 0; r < rank; ++r) own[r * kTile] = from[r * kTile];
            scales[static_cast<std::size_t>(c)] = inverse_d[i] - inverse_d_[i];
        }
    });
    add_products(tiles.data(), count, scales.data());
    return factor_sum(0);
}

template <class T>
void NystromPreconditioner<T>::set(const double* inverse_d) {
    const Index n = factor_.size(), rank = factor_.rank(), tiles = factor_.tiles();
    std::vector<double> now(inverse_d, inverse_d + n);
    now.resize(static_cast<std::size_t>(tiles * kTile), 0.0);
    const bool first = sum_.empty();
    inverse_d_.resize(now.size(), 0.0);
    const bool updated = !first && !blocks() && update(now);
    inverse_d_ = std::move(now);
    if (updated) return;
    sum_.assign(static_cast<std::size_t>(rank * rank), 0.0);
    if (blocks()) {
        invert_blocks();
        const std::vector<double> ones(inverse_d_.size(), 1.0);
        add_products(scaled_.data(), tiles, ones.data());
    } else {
        add_products(factor_.tile(0), tiles, inverse_d_.data());
    }
    for (double jitter = 0; !factor_sum(jitter); jitter = std::max(1.0, jitter * 10))
        if (!std::isfinite(jitter)) throw std::invalid_argument(kNotFinite);
}

template <class T>
void NystromPreconditioner<T>::apply(const double* r, double* out) {
    if (factor_.wide())
        apply_as<double>(r, out);
    else
        apply_as<T>(r, out);
}

template <class T>
template <class A>
void NystromPreconditioner<T>::apply_as(const double* r, double* out) {
    const Index n = factor_.size(), rank = factor_.rank(), tiles = factor_.tiles();
    const SumsOf<T, A> ops;
    // v = G V' r, or F D^-1 r; groups of tiles summed in order
    constexpr Index kGroup = 16;
    const Index groups = (tiles + kGroup - 1) / kGroup;
    std::vector<double> parts(static_cast<std::size_t>(groups * rank), 0.0);
    Buffer<A> turned(blocks() ? static_cast<std::size_t>(tiles * kTile) : 0);  // V' r
    threads_.run(static_cast<std::size_t>(groups), [&](std::size_t g, int) {
        std::vector<A> sum(static_cast<std::size_t>(rank));
        alignas(64) A b[kTile];
        double* part = parts.data() + static_cast<Index>(g) * rank;
        for (Index t = static_cast<Index>(g) * kGroup;
             t < std::min(tiles, (static_cast<Index>(g) + 1) * kGroup); ++t) {
            for (Index k = 0; k < kTile; ++k) {
                const Index i = t * kTile + k;
                const double scale = blocks() ? 1.0 : inverse_d_[static_cast<std::size_t>(i)];
                b[k] = i < n ? static_cast<A>(scale * r[i]) : A(0);
            }
            const A* from = b;
            if (blocks()) {
                A* into = turned.data() + t * kTile;
                std::fill(into, into + kTile, A(0));
                ops.add_rows(inverse_u_.data() + static_cast<std::size_t>(t) * kTileValues, kTile, kTile,
                             kTile, b, into);
                from = into;
            }
            std::fill(sum.begin(), sum.end(), A(0));
            ops.add_columns(g_tile(t), kTile, static_cast<int>(rank), kTile, from, sum.data());
            for (Index k = 0; k < rank; ++k) part[k] += static_cast<double>(sum[static_cast<std::size_t>(k)]);
        }
    });
    std::vector<double> v(static_cast<std::size_t>(rank), 0.0);
    for (Index g = 0; g < groups; ++g)
        for (Index k = 0; k < rank; ++k)
            v[static_cast<std::size_t>(k)] += parts[static_cast<std::size_t>(g * rank + k)];
    cholesky_solve(small_.data(), rank, v.data());
    std::vector<A> w(static_cast<std::size_t>(rank));
    for (Index k = 0; k < rank; ++k)
        w[static_cast<std::size_t>(k)] = static_cast<A>(v[static_cast<std::size_t>(k)]);
    threads_.run(static_cast<std::size_t>(groups), [&](std::size_t g, int) {
        alignas(64) A y[kTile], back[kTile];
        for (Index t = static_cast<Index>(g) * kGroup;
             t < std::min(tiles, (static_cast<Index>(g) + 1) * kGroup); ++t) {
            const Index count = std::min<Index>(kTile, n - t * kTile);
            std::fill(y, y + kTile, A(0));
            ops.add_rows(g_tile(t), kTile, static_cast<int>(rank), kTile, w.data(), y);
            if (!blocks()) {
                for (Index k = 0; k < count; ++k) {
                    const Index i = t * kTile + k;
                    out[i] = inverse_d_[static_cast<std::size_t>(i)] * (r[i] - static_cast<double>(y[k]));
                }
                continue;
            }
            for (Index k = 0; k < kTile; ++k) y[k] = turned[static_cast<std::size_t>(t * kTile + k)] - y[k];
            std::fill(back, back + kTile, A(0));
            ops.add_columns(inverse_u_.data() + static_cast<std::size_t>(t) * kTileValues, kTile, kTile,
                            kTile, y, back);
            for (Index k = 0; k < count; ++k) out[t * kTile + k] = static_cast<double>(back[k]);
        }
    });
}

template class NystromFactor<float>;
template class NystromFactor<double>;
template class NystromPreconditioner<float>;
template class NystromPreconditioner<double>;

}  // namespace sodm
