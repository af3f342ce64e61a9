#include "linear/linear_pass.hpp"

#include <algorithm>

#include "linear/narrow_pass.hpp"
#include "linear/wide_pass.hpp"

namespace sodm {

namespace {
constexpr int kNarrow = 48;  // up to this many features rows are turned into panels
constexpr std::size_t kMaxTasks = 64;
}  // namespace

struct LinearPass::Impl {
    virtual ~Impl() = default;
    virtual PassSums evaluate(const PassJob& job, Threads& threads) = 0;
    virtual std::vector<double> times(const MarginLoss& loss, const std::vector<int>& problems,
                                      const double* v, Threads& threads) const = 0;
};

namespace {

// What the pass takes of the loss: its corners, and its curvature above them against that below.
MarginLoss margin_loss(const OdmLoss& loss) { return {1 - loss.theta, 1 + loss.theta, loss.upsilon}; }

// T: the rows' own precision; H: the precision of the Gram products.
template <class T, class H>
class Pass final : public LinearPass::Impl {
  public:
    Pass(const LinearRows& rows, int n_problems, Curvature curvature)
        : all_(rows, n_problems, curvature == Curvature::gram || curvature == Curvature::gram_in_double,
               curvature == Curvature::diagonal),
          narrow_(!all_.diagonal && all_.width <= kNarrow && (all_.gram || !rows.view.sparse)),
          total_(all_.gram ? static_cast<std::size_t>(n_problems * all_.width * all_.width) : 0, 0.0) {}

    PassSums evaluate(const PassJob& job, Threads& threads) override {
        return narrow_ ? evaluate_by<NarrowPass<T, H>>(job, threads)
                       : evaluate_by<WidePass<T, H>>(job, threads);
    }

    std::vector<double> times(const MarginLoss& loss, const std::vector<int>& problems, const double* v,
                              Threads& threads) const override {
        const std::size_t k = problems.size(), d = static_cast<std::size_t>(all_.width);
        const LinearRows& rows = all_.rows;
        const Index n_tiles = (rows.view.n + kTileRows - 1) / kTileRows;
        const std::size_t n_tasks = task_count(k, n_tiles);
        std::vector<std::vector<double>> parts(n_tasks);
        threads.run(n_tasks, [&](std::size_t t, int worker) {
            const Index from = n_tiles * static_cast<Index>(t) / static_cast<Index>(n_tasks) * kTileRows;
            const Index to = std::min(
                rows.view.n, n_tiles * static_cast<Index>(t + 1) / static_cast<Index>(n_tasks) * kTileRows);
            std::vector<double>& out = parts[t];
            out.assign(k * d, 0.0);
            TileRows<T> tile(rows);
            Watch watch(threads, worker);
            for (Index first = from; first < to; first += kTileRows) {
                const int n = static_cast<int>(std::min<Index>(kTileRows, to - first));
                const RowReader<T> reader = tile.load(first, n);
                for (std::size_t j = 0; j < k; ++j) {
                    const std::int8_t* state = all_.state_of(problems[j]);
                    for (Index i = first; i < first + n; ++i) {
                        const double h = curvature_of(loss, state[i]) * rows.row_weight(i);
                        if (h == 0.0) continue;
                        const Index row = i - tile.offset();
                        reader.add(h * reader.dot(row, v + j * d), row, out.data() + j * d);
                        watch.did(2 * reader.size(row));
                    }
                }
            }
        });
        std::vector<double> sum(k * d, 0.0);
        for (const auto& part : parts)
            for (std::size_t e = 0; e < k * d; ++e) sum[e] += part[e];
        return sum;
    }

  private:
    template <class Task>
    PassSums evaluate_by(const PassJob& job, Threads& threads) {
        const std::size_t k = job.problems.size(), d = static_cast<std::size_t>(all_.width);
        const Index n = all_.rows.view.n, n_tiles = (n + Task::kRows - 1) / Task::kRows;
        const std::size_t n_tasks = task_count(k, n_tiles);
        std::vector<PassPart> parts(n_tasks);
        std::vector<Task> work(static_cast<std::size_t>(threads.count()));
        threads.run(n_tasks, [&](std::size_t t, int worker) {
            const Index from = n_tiles * static_cast<Index>(t) / static_cast<Index>(n_tasks) * Task::kRows;
            const Index to = n_tiles * static_cast<Index>(t + 1) / static_cast<Index>(n_tasks) * Task::kRows;
            PassPart& part = parts[t];
            part.loss.assign(k, 0.0);
            part.gradient.assign(k * d, 0.0);
            if (all_.diagonal) part.curvature.assign(k * d, 0.0);
            if (all_.gram) part.curvature.assign(k * d * d, 0.0);
            work[static_cast<std::size_t>(worker)].run(all_, job, from, std::min(to, n), part,
                                                       Watch(threads, worker));
        });
        return add_up(job, parts);
    }

    // Enough tasks to keep many cores busy, few enough that adding up what they made is a small part of the
    // work.
    std::size_t task_count(std::size_t k, Index n_tiles) const {
        const RowsView& view = all_.rows.view;
        const double d = static_cast<double>(all_.width), n = static_cast<double>(view.n);
        const double stored =
            view.sparse && !narrow_ ? static_cast<double>(view.start(view.n) - view.start(0)) : n * d;
        const double sums = static_cast<double>(k) * (all_.gram ? d * d : 2 * d);
        const double work =
            static_cast<double>(k) * (all_.gram ? stored * stored / std::max(n, 1.0) / 8 : 4 * stored);
        double tasks = std::min(static_cast<double>(kMaxTasks), work / (16 * sums));
        tasks = std::min(tasks, 5e8 / (8 * sums));
        return static_cast<std::size_t>(std::max(1.0, std::min(tasks, static_cast<double>(n_tiles))));
    }

    PassSums add_up(const PassJob& job, const std::vector<PassPart>& parts) {
        const std::size_t k = job.problems.size(), d = static_cast<std::size_t>(all_.width);
        PassSums sums;
        sums.loss.assign(k, 0.0);
        sums.gradient.assign(k * d, 0.0);
        if (all_.diagonal) sums.curvature.assign(k * d, 0.0);
        for (const PassPart& part : parts) {
            for (std::size_t j = 0; j < k; ++j) sums.loss[j] += part.loss[j];
            for (std::size_t e = 0; e < k * d; ++e) sums.gradient[e] += part.gradient[e];
            if (all_.diagonal)
                for (std::size_t e = 0; e < k * d; ++e) sums.curvature[e] += part.curvature[e];
            for (std::size_t j = 0; all_.gram && j < k; ++j) {
                double* total = total_.data() + static_cast<std::size_t>(job.problems[j]) * d * d;
                for (std::size_t e = 0; e < d * d; ++e) total[e] += part.curvature[j * d * d + e];
            }
        }
        if (all_.gram) {
            sums.curvature.resize(k * d * d);
            for (std::size_t j = 0; j < k; ++j) {
                const double* total = total_.data() + static_cast<std::size_t>(job.problems[j]) * d * d;
                double* out = sums.curvature.data() + j * d * d;
                for (std::size_t a = 0; a < d; ++a)
                    for (std::size_t c = a; c < d; ++c) out[a * d + c] = out[c * d + a] = total[a * d + c];
            }
        }
        return sums;
    }

    PassRows all_;
    const bool narrow_;
    std::vector<double> total_;  // the Gram matrices as of the last evaluation, upper triangles
};

}  // namespace

LinearPass::LinearPass(const LinearRows& rows, int n_problems, Curvature curvature) {
    if (!rows.view.single)
        impl_ = std::make_unique<Pass<double, double>>(rows, n_problems, curvature);
    else if (curvature == Curvature::gram_in_double)
        impl_ = std::make_unique<Pass<float, double>>(rows, n_problems, curvature);
    else
        impl_ = std::make_unique<Pass<float, float>>(rows, n_problems, curvature);
}
LinearPass::~LinearPass() = default;

PassSums LinearPass::evaluate(const OdmLoss& loss, const std::vector<int>& problems,
                              const std::int32_t* positive, const double* w, Threads& threads) {
    const MarginLoss margins = margin_loss(loss);
    return impl_->evaluate({margins, problems, positive, w}, threads);
}

std::vector<double> LinearPass::times(const OdmLoss& loss, const std::vector<int>& problems, const double* v,
                                      Threads& threads) const {
    return impl_->times(margin_loss(loss), problems, v, threads);
}

}  // namespace sodm
