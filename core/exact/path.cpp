#include "exact/path.hpp"

#include <chrono>
#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "base/relay.hpp"
#include "exact/coordinate_sweeps.hpp"
#include "exact/newton_machine.hpp"
#include "kernel/products.hpp"

namespace sodm {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

constexpr int kMostSweeps = 120, kSweepsBetweenLooks = 4;

// The machines of one task, on a copy of the kernel values of its rows.
class Path {
  public:
    Path(const RowsView& gram, double offset, const PathTask& task, const Options& options, Threads& threads)
        : task_(task), options_(options), threads_(threads), n_(task.problem.n), k_(at(n_) * at(n_)) {
        const Subset all = Subset::all(n_);
        kernel_block(MatrixKernel<float>(gram, offset, task.rows), all, all, k_.data(), n_, threads);
        total_ = std::accumulate(task.problem.weights, task.problem.weights + n_, 0.0);
        const auto count = at(task.problem.count);
        duals_.assign(count * at(n_), 0.0);
        view_.n = view_.features = view_.row_stride = n_;
        view_.single = true;
        view_.values = k_.data();
        machines_.resize(count);
        for (std::size_t c = 0; c < count; ++c) {
            Machine& machine = machines_[c];
            machine.resize(at(n_));
            for (std::size_t i = 0; i < at(n_); ++i) {
                machine.y[i] = task.problem.signs[c * at(n_) + i];
                machine.s[i] = task.problem.weights[i];
                machine.q[i] = static_cast<double>(k_[i * at(n_) + i]);
                if (task.problem.offset)
                    machine.base.push_back(machine.y[i] * task.problem.offset[c * at(n_) + i]);
            }
            machine.add_base(machine.f);
        }
    }

    template <class Loss>
    PathSolution run(const LossOf<Loss>& loss_of) {
        PathSolution out;
        for (double lam : task_.lams) {
            const auto began = std::chrono::steady_clock::now();
            step(loss_of(lam, total_));
            for (std::size_t k = 0; k < duals_.size(); ++k)
                out.coefficients.push_back(task_.problem.signs[k] * duals_[k]);
            out.seconds.push_back(
                std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
        }
        return out;
    }

  private:
    // From the duals so far to those of another loss.
    void step(const OdmLoss& loss) {
        bool done = !task_.problem.maybe_indefinite;
        if (done) {
            std::vector<char> swept(machines_.size());
            for_each_machine(machines_.size(), threads_, [&](std::size_t c, int worker, bool alone) {
                swept[c] = sweep_machine(c, loss, worker, alone);
            });
            for (char one : swept) done &= one != 0;
        }
        if (done) return;
        const MatrixKernel<float> source(view_, 0.0);
        const Problem problem = started();
        take(task_.problem.maybe_indefinite ? solve_odm("auto", source, problem, loss, options_, threads_)
                                            : solve_newton(source, problem, loss, options_, threads_));
    }

    void step(const HingeLoss& loss) {
        take(solve_coordinate(MatrixKernel<float>(view_, 0.0), started(), loss, options_, threads_));
    }

    Problem started() const {
        Problem problem = task_.problem;
        const bool any = std::any_of(duals_.begin(), duals_.end(), [](double g) { return g != 0; });
        problem.start = any ? duals_.data() : nullptr;
        return problem;
    }

    void take(const Solution& found) {
        duals_ = found.duals;
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            Machine& machine = machines_[c];
            for (std::size_t i = 0; i < at(n_); ++i) {
                machine.a[i] = machine.y[i] * duals_[c * at(n_) + i];
                machine.f[i] = found.decision[c * at(n_) + i] + machine.base_at(i);
            }
        }
    }

    // Whether sweeps alone solved it.
    bool sweep_machine(std::size_t c, const OdmLoss& loss, int worker, bool alone) {
        Machine& machine = machines_[c];
        double* g = duals_.data() + c * at(n_);
        Random random(options_.seed + c);
        int sweeps = 0;
        double before = HUGE_VAL;
        bool done = false;
        const auto look = [&] {
            if (++sweeps % kSweepsBetweenLooks != 0) return false;
            for (std::size_t i = 0; i < at(n_); ++i) machine.a[i] = machine.y[i] * g[i];
            machine.assess(loss);
            done = machine.gap <= options_.tol && machine.violation <= options_.violation;
            const double gain = before / machine.gap, left = std::log(machine.gap / options_.tol);
            before = machine.gap;
            // At this rate it takes more of them than Newton's steps cost.
            return done || gain <= 1 ||
                   (left > 0 && sweeps + kSweepsBetweenLooks * left / std::log(gain) > kMostSweeps);
        };
        const SweepRows<float> rows{
            k_.data(), n_, 0.0, machine.y.data(), machine.s.data(), machine.q.data(), g, machine.f.data()};
        sweep(rows, loss, 0.1 * options_.violation, kMostSweeps, random, threads_, worker, alone, look);
        return done;
    }

    const PathTask& task_;
    const Options& options_;
    Threads& threads_;
    Index n_;
    Buffer<float> k_;
    RowsView view_;
    double total_ = 0;
    std::vector<Machine> machines_;
    std::vector<double> duals_;  // machines x rows
};

}  // namespace

template <class Loss>
std::vector<PathSolution> solve_paths(const RowsView& gram, double offset, const std::vector<PathTask>& tasks,
                                      const LossOf<Loss>& loss_of, const Options& options, Threads& threads) {
    std::vector<PathSolution> out(tasks.size());
    if (tasks.size() == 1) {  // all threads for the one
        out[0] = Path(gram, offset, tasks[0], options, threads).run(loss_of);
        return out;
    }
    threads.run(tasks.size(), [&](std::size_t k, int worker) {
        Relay relay(threads, worker);
        Threads alone(1, &relay);
        out[k] = Path(gram, offset, tasks[k], options, alone).run(loss_of);
    });
    return out;
}

template std::vector<PathSolution> solve_paths(const RowsView&, double, const std::vector<PathTask>&,
                                               const LossOf<OdmLoss>&, const Options&, Threads&);
template std::vector<PathSolution> solve_paths(const RowsView&, double, const std::vector<PathTask>&,
                                               const LossOf<HingeLoss>&, const Options&, Threads&);

}  // namespace sodm
