#include "kernel/pivoted_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/random.hpp"

namespace sodm {

namespace {

constexpr int kBlock = 64;             // pivots taken before all rows are brought up to date; whole panels
constexpr Index kRowsPerTask = 240;    // a multiple of the rows a micro-kernel holds in registers
constexpr Index kCandidateShare = 16;  // one row in so many is a candidate
constexpr Index kFewestCandidates = 256;
constexpr Index kMostCandidates = 4096;  // the candidates' part of F should stay in the shared cache

// One pivot after the other would read all of F for each, n x rank x rank / 2 values from memory. Instead:
//   1. The rows with the largest residuals are the candidates. `bound_` is the largest residual among the
//   others.
//   2. Pivots are taken among the candidates, whose part of F is small and stays in cache, as long as the
//   best
//      candidate is not below the bound. Residuals never grow, so no other row can be better: the rule is
//      exact.
//   3. All rows are brought up to date with the whole block of pivots, as matrix products.
template <class T>
class Factoriser {
  public:
    Factoriser(const KernelSource<T>& source, Subset rows, const PivotOptions& options, Threads& threads)
        : source_(source), rows_(rows), threads_(threads), rank_(std::min(options.rank, rows.n)) {
        result_.residual.resize(static_cast<std::size_t>(rows.n));
        double largest = 0;
        for (Index i = 0; i < rows.n; ++i) {
            reduce(i, -source.diagonal(rows[i]));
            largest = std::max(largest, residual(i));
        }
        floor_ = largest * std::max(options.tolerance, kResidualNoise<T>);
        if (options.seed) {
            random_.emplace(*options.seed);
            floor_ = largest * kResidualNoise<T>;
            enough_ = largest * options.tolerance * static_cast<double>(rows.n);
        }
        if (options.first >= 0 && options.first < rows.n && residual(options.first) > floor_)
            first_ = options.first;
        // Products run over whole panels, so rows of F are padded, and what lies beyond the last pivot is
        // zero. An odd number of panels keeps neighbouring rows off the same cache sets.
        result_.stride = ((rank_ + kPanel<T> - 1) / kPanel<T> | 1) * kPanel<T>;
        result_.factor.assign(static_cast<std::size_t>(rows.n * result_.stride), T(0));
        workers_.resize(static_cast<std::size_t>(threads.count()));
    }

    PivotedCholesky<T> run() {
        while (done_ < rank_) {
            choose_candidates();
            const int taken = take_pivots();
            if (taken == 0) break;
            update_all_rows(taken);
            done_ += taken;
        }
        return std::move(result_);
    }

  private:
    struct Proposal {
        Index row;
        double residual;  // when it was made
    };
    struct Worker {
        Workspace<T> work;
        Buffer<T> values, product;
    };

    double& residual(Index i) { return result_.residual[static_cast<std::size_t>(i)]; }
    // Rounding, or a kernel that is not positive definite, must not leave a residual below zero (or not a
    // number).
    void reduce(Index i, double square) { residual(i) = std::max(0.0, residual(i) - square); }
    T* factor(Index i) { return result_.factor.data() + i * result_.stride; }
    Index pivot(Index k) const { return result_.pivots[static_cast<std::size_t>(k)]; }

    void choose_candidates() {
        if (random_)
            draw_candidates();
        else
            take_largest();
        const auto count = static_cast<Index>(candidates_.size());
        candidate_rows_.resize(candidates_.size());
        for (std::size_t c = 0; c < candidates_.size(); ++c) candidate_rows_[c] = rows_[candidates_[c]];
        panels_.resize(static_cast<std::size_t>((count + kTile - 1) / kTile));
        threads_.run(panels_.size(), [&](std::size_t t, int) {
            const Index at = static_cast<Index>(t) * kTile;
            source_.load_columns({candidate_rows_.data(), count}, at,
                                 static_cast<int>(std::min<Index>(kTile, count - at)), panels_[t]);
        });
    }

    // As many as a block can have, by the residuals that are known; `next_pivot` makes good for what the
    // pivots of the block change in them.
    void draw_candidates() {
        std::vector<double> up_to(result_.residual.size());
        double sum = 0;
        for (Index i = 0; i < rows_.n; ++i)
            up_to[static_cast<std::size_t>(i)] = sum += residual(i) > floor_ ? residual(i) : 0.0;
        proposals_.clear();
        for (int k = 0; k < kBlock && sum > enough_; ++k) {
            const auto row = std::upper_bound(up_to.begin(), up_to.end(), sum * random_->uniform());
            const Index i = std::min<Index>(row - up_to.begin(), rows_.n - 1);
            proposals_.push_back({i, residual(i)});
        }
        std::reverse(proposals_.begin(), proposals_.end());  // the first is the last of the list
        candidates_.clear();
        for (const Proposal& proposal : proposals_) candidates_.push_back(proposal.row);
        std::sort(candidates_.begin(), candidates_.end());
        candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
    }

    void take_largest() {
        const Index count =
            std::min(rows_.n, std::clamp(rows_.n / kCandidateShare, kFewestCandidates, kMostCandidates));
        std::vector<Index> order(static_cast<std::size_t>(rows_.n));
        std::iota(order.begin(), order.end(), Index(0));
        const auto before = [this](Index a, Index b) {
            if (a == first_ || b == first_) return a == first_ && b != first_;
            return residual(a) != residual(b) ? residual(a) > residual(b) : a < b;
        };
        bound_ = -std::numeric_limits<double>::infinity();
        if (count < rows_.n) {
            std::nth_element(order.begin(), order.begin() + count, order.end(), before);
            bound_ = residual(order[static_cast<std::size_t>(count)]);
        }
        candidates_.assign(order.begin(), order.begin() + count);
        std::sort(candidates_.begin(), candidates_.end());  // ties go to the first row
    }

    // The next pivot among the candidates, or -1.
    Index next_pivot() { return random_ ? drawn_candidate() : best_candidate(); }

    // A row that was drawn by an old residual is taken with the chance of its new one over that: so pivots
    // are drawn as if each had waited for the one before (Epperly, Tropp and Webber 2024).
    Index drawn_candidate() {
        while (!proposals_.empty()) {
            const auto [row, old] = proposals_.back();
            proposals_.pop_back();
            if (random_->uniform() * old < residual(row) && residual(row) > floor_) return row;
        }
        return -1;
    }

    // The candidate with the largest residual, or -1 when a row that is no candidate might have a larger one,
    // or when all residuals are zero to working precision.
    Index best_candidate() {
        if (first_ >= 0) return std::exchange(first_, Index(-1));
        Index best = candidates_.front();
        for (Index c : candidates_)
            if (residual(c) > residual(best)) best = c;
        return residual(best) >= bound_ && residual(best) > floor_ ? best : Index(-1);
    }

    int take_pivots() {
        const int most = static_cast<int>(std::min<Index>(kBlock, rank_ - done_));
        int taken = 0;
        while (taken < most) {
            const Index p = next_pivot();
            if (p < 0) break;
            result_.pivots.push_back(p);
            add_column(p, done_ + taken);
            ++taken;
        }
        return taken;
    }

    // Column k of F at the candidates: (k(x, z) - <F_x, F_z>) / sqrt(residual of z).
    void add_column(Index p, Index k) {
        const SimdOps<T>& ops = simd<T>();
        const double root = std::sqrt(residual(p));
        const Index row = rows_[p];
        const int filled = static_cast<int>((k + kPanel<T> - 1) / kPanel<T> * kPanel<T>);
        const T* at_pivot = factor(p);
        threads_.run(panels_.size(), [&](std::size_t t, int) {
            const Index begin = static_cast<Index>(t) * kTile;
            const Index end = std::min<Index>(begin + kTile, static_cast<Index>(candidates_.size()));
            alignas(64) T values[kTile];
            source_.tile({&row, 1}, 0, 1, panels_[t], values);
            for (Index c = begin; c < end; ++c) {
                const Index i = candidates_[static_cast<std::size_t>(c)];
                if (i == p) continue;
                T dot = 0;
                ops.add_columns(factor(i), filled, 1, filled, at_pivot, &dot);
                const double f = (static_cast<double>(values[c - begin]) - static_cast<double>(dot)) / root;
                factor(i)[k] = static_cast<T>(f);
                reduce(i, f * f);
            }
        });
        factor(p)[k] = static_cast<T>(root);
        residual(p) = 0;
    }

    // The block's columns of F at all rows: (K_xZ - F_x L') B^-T, where L are the earlier entries of the
    // block's pivots and the lower triangle B their entries within the block.
    void update_all_rows(int taken) {
        pack_block(taken);
        std::vector<Index> block(static_cast<std::size_t>(taken));
        for (int b = 0; b < taken; ++b) block[static_cast<std::size_t>(b)] = rows_[pivot(done_ + b)];
        for (Worker& worker : workers_) {
            source_.load_columns({block.data(), taken}, 0, taken, worker.work);
            worker.values.resize(kRowsPerTask * kTile);
            worker.product.resize(kRowsPerTask * kBlock);
        }
        std::vector<double> kept;  // the candidates have had this block's pivots already
        kept.reserve(candidates_.size());
        for (Index c : candidates_) kept.push_back(residual(c));

        const Index tasks = (rows_.n + kRowsPerTask - 1) / kRowsPerTask;
        threads_.run(static_cast<std::size_t>(tasks), [&](std::size_t t, int w) {
            const Index begin = static_cast<Index>(t) * kRowsPerTask;
            update_rows(begin, std::min<Index>(kRowsPerTask, rows_.n - begin), taken,
                        workers_[static_cast<std::size_t>(w)]);
        });
        for (std::size_t c = 0; c < candidates_.size(); ++c) residual(candidates_[c]) = kept[c];
        for (int b = 0; b < taken; ++b) {
            T* row = factor(pivot(done_ + b));
            for (int k = 0; k < taken; ++k) row[done_ + k] = lower_[static_cast<std::size_t>(b * kBlock + k)];
        }
    }

    // Panels of the block's pivots: minus their earlier entries (L), and the inverse of their triangle
    // (B^-T).
    void pack_block(int taken) {
        constexpr int W = kPanel<T>;
        lower_.assign(static_cast<std::size_t>(kBlock * kBlock), T(0));
        std::vector<double> inverse(static_cast<std::size_t>(kBlock * kBlock), 0.0);
        for (int b = 0; b < taken; ++b) {
            const T* row = factor(pivot(done_ + b)) + done_;
            std::copy_n(row, b + 1, lower_.data() + b * kBlock);
            double* out = inverse.data() + b * kBlock;
            out[b] = 1;
            for (int j = 0; j < b; ++j)
                for (int k = 0; k <= j; ++k)
                    out[k] -= static_cast<double>(row[j]) * inverse[static_cast<std::size_t>(j * kBlock + k)];
            for (int k = 0; k <= b; ++k) out[k] /= static_cast<double>(row[b]);
        }
        earlier_.assign(static_cast<std::size_t>(kBlock * std::max<Index>(done_, 1)), T(0));
        triangle_.assign(static_cast<std::size_t>(kBlock * kBlock), T(0));
        for (int b = 0; b < taken; ++b) {
            const T* row = factor(pivot(done_ + b));
            T* panel = earlier_.data() + static_cast<std::ptrdiff_t>(b / W) * W * done_ + b % W;
            for (Index k = 0; k < done_; ++k) panel[k * W] = -row[k];
            T* small = triangle_.data() + static_cast<std::ptrdiff_t>(b / W) * W * kBlock + b % W;
            for (int k = 0; k <= b; ++k)
                small[k * W] = static_cast<T>(inverse[static_cast<std::size_t>(b * kBlock + k)]);
        }
    }

    void update_rows(Index begin, Index count, int taken, Worker& worker) {
        constexpr int W = kPanel<T>;
        constexpr Index kDepth = 256;  // entries at a time, so that a panel stays in the nearest cache
        const SimdOps<T>& ops = simd<T>();
        T* values = worker.values.data();
        const int lanes = lanes_for<T>(taken);
        for (Index r = 0; r < count; r += source_.row_chunk())
            source_.tile(rows_, begin + r, static_cast<int>(std::min<Index>(source_.row_chunk(), count - r)),
                         worker.work, values + r * kTile);
        const int rows = static_cast<int>(count);
        for (int p = 0; p < lanes; p += W) {
            for (Index k = 0; k < done_; k += kDepth)
                ops.pair_dense(Pairing::product, factor(begin) + k, result_.stride, 1, rows,
                               static_cast<int>(std::min(kDepth, done_ - k)),
                               earlier_.data() + static_cast<std::ptrdiff_t>(p) * done_ + k * W, W,
                               values + p, kTile, true);
        }
        T* product = worker.product.data();
        for (int p = 0; p < lanes; p += W)
            ops.pair_dense(Pairing::product, values, kTile, 1, rows, taken,
                           triangle_.data() + static_cast<std::ptrdiff_t>(p) * kBlock, W, product + p, kBlock,
                           false);
        for (Index r = 0; r < count; ++r) {
            const T* row = product + r * kBlock;
            std::copy_n(row, taken, factor(begin + r) + done_);
            double square = 0;
            for (int b = 0; b < taken; ++b)
                square += static_cast<double>(row[b]) * static_cast<double>(row[b]);
            reduce(begin + r, square);
        }
    }

    const KernelSource<T>& source_;
    Subset rows_;
    Threads& threads_;
    Index rank_, done_ = 0, first_ = -1;
    double floor_ = 0, bound_ = 0, enough_ = 0;
    std::optional<Random> random_;
    std::vector<Proposal> proposals_;
    PivotedCholesky<T> result_;
    std::vector<Index> candidates_, candidate_rows_;
    std::vector<Workspace<T>> panels_;  // the candidates as columns, prepared once a block
    std::vector<Worker> workers_;
    std::vector<T> lower_;
    Buffer<T> earlier_, triangle_;
};

}  // namespace

template <class T>
PivotedCholesky<T> pivoted_cholesky(const KernelSource<T>& source, Subset rows, const PivotOptions& options,
                                    Threads& threads) {
    return Factoriser<T>(source, rows, options, threads).run();
}

template PivotedCholesky<float> pivoted_cholesky(const KernelSource<float>&, Subset, const PivotOptions&,
                                                 Threads&);
template PivotedCholesky<double> pivoted_cholesky(const KernelSource<double>&, Subset, const PivotOptions&,
                                                  Threads&);

}  // namespace sodm
