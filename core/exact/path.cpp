#include "exact/path.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "base/relay.hpp"
#include "exact/coordinate_sweeps.hpp"
#include "exact/newton_machine.hpp"
#include "kernel/matrix_kernel.hpp"

namespace sodm {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

constexpr int kMostSweeps = 120, kSweepsBetweenLooks = 4, kFirstLooks = 2;
constexpr double kLead = 2;  // times the last way: tried first, twice that at most
// Of the violation allowed: sweeps that move less have ended. The gap is often the last to come down.
constexpr double kStill = 0.01;

struct Solved {
    Values a, f;
};

// Positions that follow each other: where they begin, and how many. Searches lay the Gram matrix out by
// classes and folds, so that a task has few of them.
using Runs = std::vector<std::pair<Index, Index>>;

Runs runs_of(Subset positions) {
    Runs runs;
    for (Index j = 0; j < positions.n; ++j)
        if (!runs.empty() && positions[j] == runs.back().first + runs.back().second)
            ++runs.back().second;
        else
            runs.emplace_back(positions[j], 1);
    return runs;
}

// The machines of one task, on a copy of the kernel values of its rows.
class Path {
  public:
    Path(const PathTask& task, const Options& options, Threads& threads)
        : task_(task), options_(options), threads_(threads), n_(task.problem.n), k_(at(n_) * at(n_)) {
        const Runs runs = runs_of(task.rows);
        for (Index i = 0; i < n_; ++i) copy(task.rows[i], runs, k_.data() + i * n_);
        total_ = std::accumulate(task.problem.weights, task.problem.weights + n_, 0.0);
        const auto count = at(task.problem.count);
        duals_.assign(count * at(n_), 0.0);
        view_.n = view_.features = view_.row_stride = n_;
        view_.single = true;
        view_.values = k_.data();
        machines_.resize(count);
        last_.resize(count);
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
        if (task.problem.start) start();
    }

    template <class Loss>
    PathSolution run(const LossOf<Loss>& loss_of) {
        PathSolution out;
        for (double lam : task_.lams) {
            const auto began = std::chrono::steady_clock::now();
            step(loss_of(task_.theta, lam, total_));
            for (std::size_t k = 0; k < duals_.size(); ++k)
                out.coefficients.push_back(task_.problem.signs[k] * duals_[k]);
            out.seconds.push_back(
                std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
        }
        outputs(out);
        return out;
    }

  private:
    // Kernel values of a row of the Gram matrix with some others.
    void copy(Index row, const Runs& columns, float* to) const {
        const float* from = task_.gram.values + row * task_.gram.n;
        const auto offset = static_cast<float>(task_.offset);
        for (const auto& [first, count] : columns) {
            for (Index j = 0; j < count; ++j) to[j] = from[first + j] + offset;
            to += count;
        }
    }

    // f at the rows held: a row of the Gram matrix after the other, for all losses and machines.
    void outputs(PathSolution& out) const {
        const auto held = at(task_.held.n), machines = task_.lams.size() * machines_.size();
        const SimdOps<float>& ops = simd<float>();
        out.held.assign(machines * held, 0.0);
        if (held == 0) return;
        const Runs runs = runs_of(task_.held);
        Buffer<float> values(held);
        for (std::size_t j = 0; j < at(n_); ++j) {
            copy(task_.rows[static_cast<Index>(j)], runs, values.data());
            for (std::size_t m = 0; m < machines; ++m) {
                const double a = out.coefficients[m * at(n_) + j];
                if (a != 0) ops.add_scaled(values.data(), a, out.held.data() + m * held, task_.held.n);
            }
        }
    }

    void start() {
        duals_.assign(task_.problem.start, task_.problem.start + duals_.size());
        const SimdOps<float>& ops = simd<float>();
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            Machine& machine = machines_[c];
            for (std::size_t i = 0; i < at(n_); ++i) {
                machine.a[i] = machine.y[i] * duals_[c * at(n_) + i];
                if (machine.a[i] != 0)
                    ops.add_scaled(k_.data() + i * at(n_), machine.a[i], machine.f.data(), n_);
            }
        }
    }

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
        // Newton's method alone may end far from the tolerance.
        const MatrixKernel<float> source(view_, 0.0, {}, task_.offset);
        take(solve_odm("auto", source, started(), loss, options_, threads_));
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

    // From the solution of one loss towards that of the next: on the way from the one before (from zero, if
    // it is the first), as far as the dual falls.
    static void lead(Machine& machine, Solved& last, const OdmLoss& loss) {
        const Solved here{machine.a, machine.f};
        if (last.a.empty()) last = {Values(here.a.size()), Values(here.f.size())}, machine.add_base(last.f);
        Values da(here.a.size()), df(da.size());
        for (std::size_t i = 0; i < da.size(); ++i) {
            da[i] = kLead * (here.a[i] - last.a[i]);
            df[i] = kLead * (here.f[i] - last.f[i]);
        }
        const double step = line_search(machine, da, df, loss, true);
        for (std::size_t i = 0; i < da.size(); ++i) {
            machine.a[i] += step * da[i];
            machine.f[i] += step * df[i];
        }
        last = here;
    }

    // Whether sweeps alone solved it.
    bool sweep_machine(std::size_t c, const OdmLoss& loss, int worker, bool alone) {
        Machine& machine = machines_[c];
        double* g = duals_.data() + c * at(n_);
        lead(machine, last_[c], loss);
        for (std::size_t i = 0; i < at(n_); ++i) g[i] = machine.y[i] * machine.a[i];
        Random random(options_.seed + c);
        int sweeps = 0;
        double before = HUGE_VAL;
        bool done = false;
        const auto assess = [&] {
            for (std::size_t i = 0; i < at(n_); ++i) machine.a[i] = machine.y[i] * g[i];
            machine.assess(loss);
            done = machine.gap <= options_.tol && machine.violation <= options_.violation;
        };
        const auto look = [&] {
            ++sweeps;
            if (sweeps <= kFirstLooks) {  // where lam is small one or two are often enough
                assess();
                return done;
            }
            if (sweeps % kSweepsBetweenLooks != 0) return false;
            assess();
            const double gain = before / machine.gap, left = std::log(machine.gap / options_.tol);
            before = machine.gap;
            // At this rate it takes more of them than Newton's steps cost.
            return done || gain <= 1 ||
                   (left > 0 && sweeps + kSweepsBetweenLooks * left / std::log(gain) > kMostSweeps);
        };
        const SweepRows<float> rows{
            k_.data(), n_, 0.0, machine.y.data(), machine.s.data(), machine.q.data(), g, machine.f.data()};
        sweep(rows, loss, kStill * options_.violation, kMostSweeps, random, threads_, worker, alone, look);
        if (!done && sweeps % kSweepsBetweenLooks != 0) assess();  // nothing moved any more
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
    std::vector<Solved> last_;   // of each machine, for the loss before the last
};

}  // namespace

template <class Loss>
std::vector<PathSolution> solve_paths(const std::vector<PathTask>& tasks, const LossOf<Loss>& loss_of,
                                      const Options& options, Threads& threads) {
    std::vector<PathSolution> out(tasks.size());
    if (tasks.size() == 1) {  // all threads for the one
        out[0] = Path(tasks[0], options, threads).run(loss_of);
        return out;
    }
    const int share = std::max(1, threads.count() / std::max(1, static_cast<int>(tasks.size())));
    threads.run(tasks.size(), [&](std::size_t k, int worker) {
        Relay relay(threads, worker);
        Threads own(share, &relay);
        out[k] = Path(tasks[k], options, own).run(loss_of);
    });
    return out;
}

template std::vector<PathSolution> solve_paths(const std::vector<PathTask>&, const LossOf<OdmLoss>&,
                                               const Options&, Threads&);
template std::vector<PathSolution> solve_paths(const std::vector<PathTask>&, const LossOf<HingeLoss>&,
                                               const Options&, Threads&);

}  // namespace sodm
