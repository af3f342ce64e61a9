// A task of the pass over rows of many features, dense or sparse, taken as they are.
#pragma once

#include "linear/gram_sum.hpp"
#include "linear/pass_task.hpp"
#include "linear/tile_rows.hpp"

namespace sodm {

// Whether a Gram matrix of sparse rows is cheaper entry by entry than from rows written out in full.
inline bool scatter_pays(const RowsView& view) {
    if (!view.sparse || view.n == 0) return false;
    const double per_row =
        static_cast<double>(view.start(view.n) - view.start(0)) / static_cast<double>(view.n);
    const double width = static_cast<double>(view.features);
    return per_row * per_row < width * width / 8;
}

// T: the rows' own precision; H: the precision of the Gram products. One for each thread.
template <class T, class H>
class WidePass {
  public:
    static constexpr int kRows = kTileRows;

    void run(PassRows& all, const PassJob& job, Index from, Index to, PassPart& part, Watch watch) {
        const std::size_t k = job.problems.size(), d = static_cast<std::size_t>(all.width);
        const bool scatter = all.gram && scatter_pays(all.rows.view);
        gram_.resize(all.gram && !scatter ? k : 0);
        for (auto& sum : gram_) sum.reset(all.width);
        TileRows<T> tile(all.rows);
        for (Index first = from; first < to; first += kTileRows) {
            const int n = static_cast<int>(std::min<Index>(kTileRows, to - first));
            const RowReader<T> reader = tile.load(first, n);
            const Index base = first - tile.offset();
            const int lanes = static_cast<int>(round_up(n, kLaneGroup));
            std::fill(room_.decision + n, room_.decision + lanes, 0.0);
            for (std::size_t j = 0; j < k; ++j) {
                for (int r = 0; r < n; ++r) {
                    room_.decision[r] = reader.dot(base + r, job.w + j * d);
                    watch.did(2 * reader.size(base + r));
                }
                const int changed = room_.sum_losses(all, job, j, first, n, lanes, part);
                double* gradient = part.gradient.data() + j * d;
                for (int r = 0; r < n; ++r)
                    if (room_.slope[r] != 0.0) reader.add(room_.slope[r], base + r, gradient);
                if (all.diagonal) {
                    const std::int8_t* state = all.state_of(job.problems[j]) + first;
                    for (int r = 0; r < n; ++r)
                        if (state[r] != kInside)
                            reader.add_squares(
                                all.rows.row_weight(first + r) * curvature_of(job.loss, state[r]), base + r,
                                part.curvature.data() + j * d);
                } else if (all.gram && changed) {
                    double* total = part.curvature.data() + j * d * d;
                    for (int r = 0; r < n; ++r) {
                        if (room_.change[r] == H(0)) continue;
                        if (scatter)
                            scatter_row(all, reader, base + r, room_.change[r], total, watch);
                        else
                            collect_row(all, reader, base + r, room_.change[r], gram_[j], total, watch);
                    }
                }
            }
        }
        for (std::size_t j = 0; j < gram_.size(); ++j) {
            double* total = part.curvature.data() + j * d * d;
            gram_[j].flush(total, all.width, watch);
            gram_[j].move_on(total, all.width);
        }
    }

  private:
    static void collect_row(const PassRows& all, const RowReader<T>& reader, Index row, H h,
                            WideGram<H>& gram, double* total, Watch& watch) {
        gram.add_row(
            h,
            [&](H* x) {
                reader.entries(row, [&](Index k, double value) { x[k] += static_cast<H>(value); });
                if (all.rows.bias != 0.0) x[all.rows.view.features] = static_cast<H>(all.rows.bias);
            },
            total, all.width, watch);
    }

    // Both halves of the matrix get their share: the entries of a row come in any order.
    static void scatter_row(const PassRows& all, const RowReader<T>& reader, Index row, H h, double* total,
                            Watch& watch) {
        const Index d = all.rows.view.features;
        const double bias = all.rows.bias;
        reader.entries(row, [&](Index a, double xa) {
            double* line = total + a * all.width;
            const double hx = static_cast<double>(h) * xa;
            reader.entries(row, [&](Index c, double xc) { line[c] += hx * xc; });
            if (bias != 0.0) line[d] += hx * bias;
        });
        if (bias != 0.0) total[d * all.width + d] += static_cast<double>(h) * bias * bias;
        watch.did(reader.size(row) * reader.size(row));
    }

    MarginRoom<H, kTileRows> room_;
    std::vector<WideGram<H>> gram_;
};

}  // namespace sodm
