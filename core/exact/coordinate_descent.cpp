// Exact machines by dual coordinate descent, for any loss with a one-dimensional prox.
//
//   min_g  1/2 g'Qg + sum_i dual(g_i),   Q_ij = y_i y_j k(x_i, x_j),  f = sum_j y_j g_j k(x_j, .)
//
// One signed variable per instance (Eq. 1 of the paper in half the variables); a step is
// g_i <- prox(q g_i - u_i), u_i = y_i f_i, q = k(x_i, x_i), followed by f += (change of y_i g_i) K_i.
//
// When the Gram matrix fits the cache it is stored and swept in random order. When it does not, working sets:
// the rows whose dual is undecided and those that violate KKT most, as many as fit, are solved among
// themselves, and f is brought up to date everywhere by one fused product. Within a sweep, rows that are
// settled are left out (shrinking) and looked at again before the end.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/lanczos.hpp"
#include "base/random.hpp"
#include "exact/coordinate_sweeps.hpp"
#include "exact/part_descent.hpp"
#include "exact/solve.hpp"
#include "kernel/gram.hpp"
#include "kernel/products.hpp"

namespace sodm {

namespace {

using Values = std::vector<double>;

constexpr Index kSmallestSet = 2048;  // rows of a working set, at least
// Of a machine whose duals are at a bound but for a few, a set has so many at most, or twice as many as are
// at none: what a larger one has besides would not stay in it.
constexpr Index kLargestSet = 4096;
// How well a working set is solved: to this share of the largest violation it was chosen for.
constexpr double kOfWorstInSet = 0.2;
constexpr int kMostParts = 1000, kMostSweeps = 1000;
constexpr int kFirstSweeps = 20;  // before rows are solved in parts

template <class Loss>
struct Machine {
    const double* y;
    const double* offset;  // of the margins, or null
    Values q, g, f;        // k(x, x) + shift, duals, f including shift * y g and y * offset
    double objective = 0, gap = 0, violation = 0;
    int iterations = 0;

    double base_at(std::size_t i) const { return offset ? y[i] * offset[i] : 0.0; }
};

// The violation is looked at only where the gap is within `enough`, and is infinite elsewhere.
template <class Loss>
void assess(Machine<Loss>& machine, const double* weights, const Loss& loss, double enough = HUGE_VAL) {
    double reg = 0, primal = 0, dual = 0, violation = 0;
    for (std::size_t i = 0; i < machine.g.size(); ++i) {
        const double m = machine.y[i] * machine.f[i], g = machine.g[i], s = weights[i];
        reg += g * m;
        primal += loss.primal(m, s);
        dual += loss.dual(g, s);
    }
    double of_offset = 0;  // o'g, which `reg` has beside g'Qg
    for (std::size_t i = 0; machine.offset && i < machine.g.size(); ++i)
        of_offset += machine.g[i] * machine.offset[i];
    machine.objective = (reg - of_offset) / 2 + primal;
    machine.gap = (reg + primal + dual) / std::max(std::fabs(machine.objective), 1e-300);
    if (!std::isfinite(machine.objective)) throw std::invalid_argument(kNotFinite);
    machine.violation = HUGE_VAL;
    if (machine.gap > enough) return;
    for (std::size_t i = 0; i < machine.g.size(); ++i)
        violation = std::max(
            violation, loss.violation(machine.y[i] * machine.f[i], machine.g[i], weights[i], machine.q[i]));
    machine.violation = violation;
}

template <class T, class Loss>
class Descent {
  public:
    Descent(const KernelSource<T>& source, const Problem& problem, const Loss& loss, const Options& options,
            Threads& threads)
        : source_(source),
          problem_(problem),
          loss_(loss),
          options_(options),
          threads_(threads),
          n_(problem.n) {}

    Solution run() {
        start();
        if (started()) {  // which may be good enough
            bool all = true;
            for (auto& machine : machines_) {
                assess(machine, problem_.weights, loss_);
                all &= finished(machine);
            }
            if (all) return solution();
        }
        const auto bytes = static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_) * sizeof(T);
        // Where most duals end at a bound, the few that do not are worth finding first.
        const bool chunks = Loss::kMostlyBounded && n_ > 2 * kSmallestSet;
        if (bytes <= options_.block_bytes() && !chunks)
            stored();
        else
            working_sets();
        return solution();
    }

  private:
    static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
    bool started() const { return problem_.start || problem_.start_decision; }
    bool finished(const Machine<Loss>& machine) const {
        return machine.gap <= options_.tol && machine.violation <= options_.violation;
    }

    void start() {
        machines_.resize(at(problem_.count));
        for (int c = 0; c < problem_.count; ++c) {
            Machine<Loss>& machine = machines_[at(c)];
            machine.y = problem_.signs + c * n_;
            machine.g.assign(at(n_), 0.0);
            machine.offset = problem_.offset ? problem_.offset + c * n_ : nullptr;
            machine.f.resize(at(n_));
            for (std::size_t i = 0; i < machine.f.size(); ++i) machine.f[i] = machine.base_at(i);
            for (Index i = 0; i < n_; ++i) {
                const double s = problem_.weights[i];
                if (problem_.start)
                    machine.g[at(i)] = loss_.feasible(problem_.start[c * n_ + i], s);
                else if (problem_.start_decision)
                    machine.g[at(i)] = loss_.lift(
                        machine.y[i] * (problem_.start_decision[c * n_ + i] + machine.base_at(at(i))), s);
            }
        }
        if (problem_.maybe_indefinite) {
            GramMatrix<T> gram(source_, options_.cache_bytes, threads_);
            std::vector<Index> rows(at(n_));
            std::iota(rows.begin(), rows.end(), Index(0));
            gram.assign(rows);
            const double lowest = smallest_eigenvalue(n_, options_.seed, 40, [&](const Values& x, Values& y) {
                y.resize(x.size());
                gram.apply(x.data(), 1, y.data());
            });
            double trace = 0;
            for (Index i = 0; i < n_; ++i) trace += std::fabs(source_.diagonal(i));
            // Rounded values of a semidefinite kernel differ from it by half of this at most, in norm.
            const double rounding = 2 * static_cast<double>(std::numeric_limits<T>::epsilon()) * trace;
            if (lowest < -std::max(1e-5 * trace / static_cast<double>(n_), rounding)) shift_ = -1.1 * lowest;
        }
        for (auto& machine : machines_) {
            machine.q.resize(at(n_));
            for (Index i = 0; i < n_; ++i) machine.q[at(i)] = std::max(source_.diagonal(i) + shift_, 1e-12);
        }
        if (started()) refresh(all_rows());
    }

    std::vector<Index> all_rows() const {
        std::vector<Index> rows(at(n_));
        std::iota(rows.begin(), rows.end(), Index(0));
        return rows;
    }

    // f at these rows, from the duals.
    void refresh(const std::vector<Index>& rows) {
        std::vector<Index> support;
        for (Index i = 0; i < n_; ++i)
            for (const auto& machine : machines_)
                if (machine.g[at(i)] != 0) {
                    support.push_back(i);
                    break;
                }
        Values weights, values(rows.size() * machines_.size(), 0.0);
        for (const auto& machine : machines_)
            for (Index i : support) weights.push_back(machine.y[i] * machine.g[at(i)]);
        if (!support.empty())
            kernel_apply(source_, Subset{support.data(), static_cast<Index>(support.size())},
                         Subset{rows.data(), static_cast<Index>(rows.size())}, weights.data(), problem_.count,
                         values.data(), threads_);
        for (std::size_t c = 0; c < machines_.size(); ++c)
            for (std::size_t k = 0; k < rows.size(); ++k) {
                const auto i = at(rows[k]);
                machines_[c].f[i] = values[c * rows.size() + k] +
                                    shift_ * machines_[c].y[i] * machines_[c].g[i] + machines_[c].base_at(i);
            }
    }

    void stored() {
        Buffer<T> k(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_));
        kernel_block(source_, Subset::all(n_), Subset::all(n_), k.data(), n_, threads_);
        for_each_machine(machines_.size(), threads_, [&](std::size_t c, int worker, bool alone) {
            Machine<Loss>& machine = machines_[c];
            Random random(options_.seed + c);
            // The gap decides; sweeping only stops by itself when nothing moves any more.
            const SweepRows<T> rows{
                k.data(),        n_, shift_, machine.y, problem_.weights, machine.q.data(), machine.g.data(),
                machine.f.data()};
            const auto look = [&] {
                const bool shown = worker == 0 && options_.progress;
                assess(machine, problem_.weights, loss_, shown ? HUGE_VAL : options_.tol);
                if (shown) options_.progress(Progress{"dcd", n_, ++reports_, machine.gap, machine.violation});
                return finished(machine);
            };
            // Easy problems are done in a few sweeps; where those bring little, the rows that move most do.
            const bool in_parts = n_ > 2 * kPart;
            const int first = !in_parts              ? options_.max_iter
                              : Loss::kMostlyBounded ? 0
                                                     : std::min(options_.max_iter, kFirstSweeps);
            if (first > 0)
                machine.iterations = sweep(rows, loss_, 1e-14, first, random, threads_, worker, alone, look);
            else
                assess(machine, problem_.weights, loss_);  // it may have been started at its solution
            if (!in_parts || finished(machine)) return;
            // Parts that have as many rows as there are count as a sweep.
            const auto of_sweep = static_cast<int>((n_ + kPart - 1) / kPart);
            double swept = machine.iterations;
            const auto look_at_work = [&](double values) {
                swept += values / static_cast<double>(n_) / static_cast<double>(n_);
                return look() || swept >= options_.max_sweeps;
            };
            const int parts = descend_in_parts(rows, loss_, 1e-14, (options_.max_iter - first) * of_sweep,
                                               random, threads_, worker, alone, look_at_work);
            machine.iterations += (parts + of_sweep - 1) / of_sweep;
            assess(machine, problem_.weights, loss_);
        });
    }

    // Chunking: the rows that carry a dual that is still undecided, and those that violate KKT most, as many
    // as a stored block may have; solved among themselves, then f everywhere by one fused product.
    void working_sets() {
        const auto capacity = std::min<Index>(
            n_, std::max<Index>(kSmallestSet, static_cast<Index>(std::sqrt(
                                                  static_cast<double>(options_.block_bytes()) / sizeof(T)))));
        Buffer<T> block;
        const std::vector<Index> everything = all_rows();
        Random random(options_.seed);
        std::vector<Index> set = random.permutation(n_);
        set.resize(at(std::min(capacity, std::max(kSmallestSet, n_ / 8))));
        std::sort(set.begin(), set.end());
        for (auto& machine : machines_) assess(machine, problem_.weights, loss_);
        for (int round = 0; round < options_.max_iter; ++round) {
            double worst = 0;
            if (round > 0 || started()) worst = choose(set, capacity);
            const double share = static_cast<double>(set.size()) / static_cast<double>(n_);
            const bool full = round > 0 && static_cast<Index>(set.size()) >= capacity;
            if (options_.most_in_set < 1 && (full || share > options_.most_in_set)) return;
            const Values change = solve_block(set, block, round, worst > 0 ? worst : 1.0);
            spread(set, change, everything);
            bool all = true;
            double gap = 0;
            worst = 0;
            for (auto& machine : machines_) {
                assess(machine, problem_.weights, loss_);
                ++machine.iterations;
                all &= finished(machine);
                gap = std::max(gap, machine.gap);
                worst = std::max(worst, machine.violation);
            }
            if (options_.progress) options_.progress(Progress{"dcd", n_, round + 1, gap, worst});
            if (all || swept_ >= options_.max_sweeps) return;
        }
    }

    // The next working set; returns the largest violation.
    double choose(std::vector<Index>& set, Index capacity) const {
        Values violation(at(n_), 0.0);
        double worst = 0;
        for (const auto& machine : machines_)
            for (std::size_t i = 0; i < violation.size(); ++i)
                violation[i] =
                    std::max(violation[i], loss_.violation(machine.y[i] * machine.f[i], machine.g[i],
                                                           problem_.weights[i], machine.q[i]));
        for (double v : violation) worst = std::max(worst, v);
        std::vector<Index> carried, violators;
        for (Index i = 0; i < n_; ++i) {
            bool undecided = false;
            for (const auto& machine : machines_) {
                const double u = machine.y[i] * machine.f[at(i)], g = machine.g[at(i)],
                             s = problem_.weights[i], q = machine.q[at(i)];
                undecided |= g != 0 && !(loss_.violation(u - worst, g, s, q) == 0 &&
                                         loss_.violation(u + worst, g, s, q) == 0);
            }
            if (undecided)
                carried.push_back(i);
            else if (violation[at(i)] > 0)
                violators.push_back(i);
        }
        const auto more_violated = [&](Index p, Index q) {
            return violation[at(p)] > violation[at(q)] || (violation[at(p)] == violation[at(q)] && p < q);
        };
        const auto keep_most_violated = [&](std::vector<Index>& list, Index n) {
            if (static_cast<Index>(list.size()) <= n) return;
            std::nth_element(list.begin(), list.begin() + n, list.end(), more_violated);
            list.resize(at(n));
        };
        // No faster than by doubling: of many violators at once most would turn out to be none.
        const auto carry = static_cast<Index>(carried.size());
        if constexpr (Loss::kMostlyBounded) {
            Index free = 0;
            for (const auto& machine : machines_)
                for (Index i = 0; i < n_; ++i) free += loss_.is_free(machine.g[at(i)], problem_.weights[i]);
            capacity = std::min(capacity, std::max(kLargestSet, 2 * free));
        }
        keep_most_violated(
            violators, std::max({kSmallestSet, carry, capacity - carry > carry ? Index(0) : capacity / 4}));
        keep_most_violated(carried,
                           capacity - std::min<Index>(static_cast<Index>(violators.size()), capacity / 4));
        keep_most_violated(violators, capacity - static_cast<Index>(carried.size()));
        set = carried;
        set.insert(set.end(), violators.begin(), violators.end());
        std::sort(set.begin(), set.end());
        return worst;
    }

    // f everywhere after the coefficients of these rows changed.
    void spread(const std::vector<Index>& set, const Values& change, const std::vector<Index>& everything) {
        std::vector<Index> moved;
        std::vector<std::size_t> from;
        for (std::size_t k = 0; k < set.size(); ++k)
            for (std::size_t c = 0; c < machines_.size(); ++c)
                if (change[c * set.size() + k] != 0) {
                    moved.push_back(set[k]);
                    from.push_back(k);
                    break;
                }
        if (moved.empty()) return;
        Values weights, update(everything.size() * machines_.size());
        for (std::size_t c = 0; c < machines_.size(); ++c)
            for (std::size_t k : from) weights.push_back(change[c * set.size() + k]);
        kernel_apply(source_, Subset{moved.data(), static_cast<Index>(moved.size())},
                     Subset{everything.data(), static_cast<Index>(everything.size())}, weights.data(),
                     problem_.count, update.data(), threads_);
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            for (std::size_t i = 0; i < everything.size(); ++i)
                machines_[c].f[i] += update[c * everything.size() + i];
            for (std::size_t k = 0; k < moved.size(); ++k)
                machines_[c].f[at(moved[k])] += shift_ * weights[c * moved.size() + k];
        }
    }

    // Solves the working set among itself; returns the change of y g, machine by machine.
    Values solve_block(const std::vector<Index>& set, Buffer<T>& block, int round, double worst) {
        const auto size = static_cast<Index>(set.size());
        block.resize(at(size * size));
        const Subset rows{set.data(), size};
        kernel_block(source_, rows, rows, block.data(), size, threads_);
        Values change(at(size) * machines_.size(), 0.0);
        const double share = static_cast<double>(size) * static_cast<double>(size) / static_cast<double>(n_) /
                             static_cast<double>(n_);
        const auto most = static_cast<int>(
            std::clamp((options_.max_sweeps - swept_) / share, 1.0, static_cast<double>(kMostSweeps)));
        std::vector<int> sweeps(machines_.size(), 0);
        for_each_machine(machines_.size(), threads_, [&](std::size_t c, int worker, bool alone) {
            Machine<Loss>& machine = machines_[c];
            Values y(at(size)), s(at(size)), q(at(size)), g(at(size)), f(at(size));
            for (Index k = 0; k < size; ++k) {
                const auto i = at(set[at(k)]);
                y[at(k)] = machine.y[i];
                s[at(k)] = problem_.weights[i];
                q[at(k)] = machine.q[i];
                g[at(k)] = machine.g[i];
                f[at(k)] = machine.f[i];
            }
            const Values before = g;
            Random random(options_.seed + static_cast<std::uint64_t>(round) * 1000003u + c);
            const SweepRows<T> here{block.data(), size,     shift_,   y.data(),
                                    s.data(),     q.data(), g.data(), f.data()};
            // No better than the end wants it, but better than it is.
            const double end = 0.3 * options_.violation;
            if (Loss::kMostlyBounded)
                descend_in_parts(here, loss_, std::max(kOfWorstInSet * worst, std::min(end, 0.5 * worst)),
                                 kMostParts, random, threads_, worker, alone, [](double) { return false; });
            else
                sweeps[c] = sweep(here, loss_, std::max(0.05 * worst, std::min(end, 0.1 * worst)), most,
                                  random, threads_, worker, alone, [] { return false; });
            for (Index k = 0; k < size; ++k) {
                machine.g[at(set[at(k)])] = g[at(k)];
                change[c * at(size) + at(k)] = y[at(k)] * (g[at(k)] - before[at(k)]);
            }
        });
        swept_ += share * *std::max_element(sweeps.begin(), sweeps.end());
        return change;
    }

    Solution solution() const {
        Solution out;
        for (const auto& machine : machines_) {
            out.duals.insert(out.duals.end(), machine.g.begin(), machine.g.end());
            for (std::size_t i = 0; i < machine.f.size(); ++i)
                out.decision.push_back(machine.f[i] - machine.base_at(i));
            out.objective.push_back(machine.objective);
            out.gap.push_back(machine.gap);
            out.violation.push_back(machine.violation);
            out.iterations.push_back(machine.iterations);
            out.converged.push_back(finished(machine));
        }
        out.method = "dcd";
        out.shift = shift_;
        return out;
    }

    const KernelSource<T>& source_;
    const Problem& problem_;
    const Loss& loss_;
    const Options& options_;
    Threads& threads_;
    Index n_;
    std::vector<Machine<Loss>> machines_;
    double shift_ = 0;
    int reports_ = 0;
    double swept_ = 0;  // sweeps of working sets, in units of all values
};

}  // namespace

template <class T, class Loss>
Solution solve_coordinate(const KernelSource<T>& source, const Problem& problem, const Loss& loss,
                          const Options& options, Threads& threads) {
    return Descent<T, Loss>(source, problem, loss, options, threads).run();
}

template Solution solve_coordinate(const KernelSource<float>&, const Problem&, const OdmLoss&, const Options&,
                                   Threads&);
template Solution solve_coordinate(const KernelSource<double>&, const Problem&, const OdmLoss&,
                                   const Options&, Threads&);
template Solution solve_coordinate(const KernelSource<float>&, const Problem&, const HingeLoss&,
                                   const Options&, Threads&);
template Solution solve_coordinate(const KernelSource<double>&, const Problem&, const HingeLoss&,
                                   const Options&, Threads&);

}  // namespace sodm
