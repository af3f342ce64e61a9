// A task of the pass over rows of few features: they are turned, a panel at a time, so that everything runs
// along the rows and no sum crosses a register.
#pragma once

#include "linear/gram_sum.hpp"
#include "linear/pass_task.hpp"

namespace sodm {

// Turns rows first.. into a panel, with the constant feature last and zeros wherever there is no row or
// feature.
template <class T>
void load_panel(const LinearRows& rows, Index first, int n, Index features, T* panel) {
    const RowsView& view = rows.view;
    const T* values = static_cast<const T*>(view.values);
    const Index d = view.features;
    if (view.sparse) {
        std::fill_n(panel, features * kPanelRows, T(0));
        const RowReader<T> reader(rows);
        for (int r = 0; r < n; ++r)
            reader.entries(first + r,
                           [&](Index k, double x) { panel[k * kPanelRows + r] += static_cast<T>(x); });
    } else {
        if (view.feature_stride == 1)
            linear_simd<T>().turn(values + first * view.row_stride, view.row_stride, n, static_cast<int>(d),
                                  panel, kPanelRows);
        else
            for (Index k = 0; k < d; ++k)
                for (int r = 0; r < n; ++r)
                    panel[k * kPanelRows + r] =
                        values[(first + r) * view.row_stride + k * view.feature_stride];
        if (n < kPanelRows)
            for (Index k = 0; k < d; ++k)
                std::fill(panel + k * kPanelRows + n, panel + (k + 1) * kPanelRows, T(0));
        for (Index k = d; k < features; ++k) std::fill_n(panel + k * kPanelRows, kPanelRows, T(0));
    }
    if (rows.bias != 0.0) std::fill_n(panel + d * kPanelRows, n, static_cast<T>(rows.bias));
}

// T: the rows' own precision; H: the precision of the Gram products. One for each thread.
template <class T, class H>
class NarrowPass {
  public:
    static constexpr int kRows = kPanelRows;

    void run(PassRows& all, const PassJob& job, Index from, Index to, PassPart& part, Watch watch) {
        const std::size_t k = job.problems.size(), d = static_cast<std::size_t>(all.width);
        const Index features = round_up(all.width, kGramBlock);
        const LinearOps<T>& ops = linear_simd<T>();
        const RowsView& view = all.rows.view;
        panel_.resize(static_cast<std::size_t>(features * kPanelRows));
        slots_.assign(k * d * kSlots, 0.0);
        gram_.resize(all.gram ? k : 0);
        for (auto& sum : gram_) sum.reset(all.width);
        for (Index first = from; first < to; first += kPanelRows) {
            const int n = static_cast<int>(std::min<Index>(kPanelRows, to - first));
            const int lanes = static_cast<int>(round_up(n, kLaneGroup));
            load_panel(all.rows, first, n, features, panel_.data());
            const H* panel_in_h = nullptr;
            // Where the next panel's rows are, and their second half; the pass over the present one fetches
            // them. Sparse rows are not read this way: their present panel, which is near already, stands in.
            const Index bytes = kPanelRows * view.row_stride * static_cast<Index>(sizeof(T));
            const char* next = reinterpret_cast<const char*>(panel_.data());
            if (!view.sparse) next = static_cast<const char*>(view.values) + (first / kPanelRows + 1) * bytes;
            const char* second = view.sparse ? next : next + bytes / 2;
            for (std::size_t j = 0; j < k; ++j) {
                ops.decide(panel_.data(), kPanelRows, static_cast<int>(all.width), lanes, job.w + j * d,
                           room_.decision, next);
                const int changed = room_.sum_losses(all, job, j, first, n, lanes, part);
                ops.add_gradient(panel_.data(), kPanelRows, static_cast<int>(all.width), lanes, room_.slope,
                                 slots_.data() + j * d * kSlots, second);
                watch.did(kPanelRows * features * (changed && all.gram ? features : 2));
                if (!changed || !all.gram) continue;
                if (!panel_in_h) panel_in_h = as_h(features);
                add_changes(panel_in_h, n, lanes, changed, features, gram_[j],
                            part.curvature.data() + j * d * d, all.width);
            }
        }
        finish(all, k, part);
    }

  private:
    // Collecting a lane costs about `features` moves, leaving one in the panel features^2 / 32 products.
    void add_changes(const H* panel, int n, int lanes, int changed, Index features, NarrowGram<H>& gram,
                     double* total, Index width) {
        if (changed * (features + 32) > lanes * features) {
            gram.add_panel(panel, room_.change, lanes, total, width);
            return;
        }
        for (int r = 0; r < n; ++r)
            if (room_.change[r] != H(0)) gram.add_lane(panel, r, room_.change[r], total, width);
    }

    void finish(const PassRows& all, std::size_t k, PassPart& part) {
        const std::size_t d = static_cast<std::size_t>(all.width);
        for (std::size_t j = 0; j < k; ++j) {
            if (all.gram) {
                double* total = part.curvature.data() + j * d * d;
                gram_[j].flush(total, all.width);
                if (gram_[j].pending) gram_[j].move_on(total, all.width);
            }
            for (std::size_t f = 0; f < d; ++f) {
                const double* s = slots_.data() + (j * d + f) * kSlots;
                part.gradient[j * d + f] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
            }
        }
    }

    // The panel in the precision of the Gram products.
    const H* as_h(Index features) {
        if constexpr (std::is_same_v<T, H>) {
            (void)features;
            return panel_.data();
        } else {
            panel_in_h_.resize(static_cast<std::size_t>(features * kPanelRows));
            std::copy_n(panel_.data(), features * kPanelRows, panel_in_h_.data());
            return panel_in_h_.data();
        }
    }

    MarginRoom<H, kPanelRows> room_;
    Buffer<T> panel_;
    Buffer<H> panel_in_h_;
    std::vector<double> slots_;
    std::vector<NarrowGram<H>> gram_;
};

}  // namespace sodm
