// Exact ODM by semismooth Newton on working sets, coordinate steps between the Newton steps.
//
//   min_g  1/2 g'Qg + sum_i dual(g_i),   Q_ij = y_i y_j k(x_i, x_j),   a_j = y_j g_j,   f = K a
//
// The optimum is piecewise linear in its data: with A = {i : g_i != 0}, D_i = low/s_i or high/s_i by the sign
// of g_i and t_i = y_i (1 -+ theta), it solves
//
//   (K_AA + D_A) a_A = t_A,   a = 0 elsewhere;   t_A - y o_A where the margins have offsets o (solve.hpp).
//
// A step guesses A and the signs and solves this by conjugate gradients, preconditioned with a Nystrom
// factor. There are two kinds of steps:
//
//   primal: A has the rows with a margin outside the dead zone (Chapelle 2007); exact line search on the
//   primal. Finds its way from far away, but rows that left A keep a rest of their old dual until a whole
//   step is taken.
//
//   dual: coordinate steps first, which settle what is decided among near neighbours (Newton steps alone
//   chatter about it); A has the rows whose own coordinate step leaves a nonzero dual; coefficients whose
//   sign came out wrong are dropped; exact line search on the dual.
//
// Primal steps are the rule. Where one had to be shortened although the gap is small already, dual steps are
// tried, and taken back if the gap does not fall.
//
// Rows well inside the dead zone never enter: the working set has the rows outside it or near its edge, its
// Gram matrix is kept in memory as far as it fits, and all other rows are looked at again when the working
// set is solved. A cold start would make the first working set far too large, so nested random subsamples are
// solved first; from any f the KKT conditions tell which rows matter and give their duals (the lift).
//
// For a solution of the system with residual r the duality gap is sum_A r_i^2 / (2 D_i): conjugate gradients
// are stopped by that.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "base/lanczos.hpp"
#include "base/random.hpp"
#include "exact/coordinate_sweeps.hpp"
#include "exact/held_bias.hpp"
#include "exact/momentum.hpp"
#include "exact/newton_machine.hpp"
#include "exact/solve.hpp"
#include "exact/step_policy.hpp"
#include "exact/working_matrix.hpp"
#include "exact/working_set.hpp"
#include "kernel/neighbourhood.hpp"
#include "kernel/packed_tile.hpp"
#include "kernel/products.hpp"
#include "kernel/spectrum.hpp"

namespace sodm {

namespace {

constexpr Index kDense = 640;           // working sets up to this size are factored
constexpr Index kSmallestLevel = 1000;  // rows of the first subsample, at least
// Who asks for a gap below kPrecise gets what there is to be had where systems are factored: a step or two
// more, and no digit is missing.
constexpr double kPrecise = 1e-5, kLastDigit = 1e-13;
// Of few rows, a working set that has all but a fourth is all: the rest cost less than another round.
constexpr Index kMostOf = 4;
constexpr int kMaxInner = 60;                      // Newton steps on one working set
constexpr int kMaxRounds = 30;                     // working sets of one level
constexpr double kLevelTol = 0.03;                 // relative gap at which a subsample has told enough
constexpr double kOfGap = 0.01, kOfAdded = 0.005;  // how well a working set is solved, see `level`
constexpr Index kSweepRows = 8000;                 // most rows of a level that begins with coordinate sweeps
// Lam comes up a ladder where its ridge would be less than a fourth of kFirstRung, beside the diagonal of the
// kernel, and so many rows seem to matter that a step takes a good part of a second.
constexpr double kFirstRung = 0.16, kRung = 4;
constexpr Index kManyRows = 6000;
// A kernel whose values are zero for most pairs of rows is no local one where a few hundred landmarks tell
// nearly all of it, as in two or three dimensions, or where a row sees many others all the same: passes creep
// and tiles precondition poorly, while Nystrom's systems are easy. (A spiral of 40,000 rows took 89 s instead
// of .1, rings of 20,000 17 instead of 1.6.) Settled on spirals, checkerboards, skin-nonskin and covtype,
// looked at afterwards: moons, circles, shells, ijcnn1, susy-subset, up to 100,000 rows.
constexpr double kCarried = 0.2, kMostSeen = 500;
// Coordinate sweeps before the first Newton step: as long as ten of them bring the gap down by this factor;
// of few rows, whose systems are factored, as long as they will be done within so many at their rate, for a
// step costs as much as hundreds of sweeps there.
constexpr int kSweeps = 20, kSweepsBetweenLooks = 10, kMostSweeps = 100, kMostSweepsOfFew = 300;
constexpr double kSweepGain = 1.4;
// The same for passes of block coordinate steps, where the kernel is local.
constexpr int kPassesBetweenLooks = 5, kMostPasses = 500;
constexpr double kPassGain = 1.08, kPassGainOfFactored = 2;
// They go on to this share of the tolerance: where fewer rows are undecided, Newton's steps end sooner.
// Settled on covtype (20,000 rows, a sixth less time for lam 2^16); on ijcnn1, skin-nonskin, phishing,
// susy-subset and a9a with narrow kernels it makes no difference beyond single fits.
constexpr double kPassShare = 0.03;
// A round below the tolerance has settled something if it brings the gap down to this share; few rows are not
// worth many digits.
constexpr double kSettles = 0.5, kAimOfFew = 1e-4;
// Kernel values of so many rows at least are packed (fewer are in the cache), where that adds to the gap no
// more than kLittle of the tolerance, and products are summed in single precision where that is so little.
// Certificates take errors to be four times the largest that they have seen, which makes some hundreds of it:
// with a larger share they would have to compute all margins anew.
constexpr Index kPackedRows = 4096;
constexpr double kLittle = 1e-3;
// Steps on the whole of a local kernel's rows that are spent on it, at most.
constexpr int kSettlingSteps = 4;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

template <class T>
class Newton {
  public:
    Newton(const KernelSource<T>& source, const Problem& problem, const OdmLoss& loss, const Options& options,
           Threads& threads)
        : source_(source),
          problem_(problem),
          loss_(loss),
          options_(options),
          threads_(threads),
          iterative_(source, problem, options, threads) {}

    Solution run() {
        machines_.resize(at(problem_.count));
        local_ = !problem_.maybe_indefinite && is_local(source_, threads_) &&
                 seen_by_a_row(source_, threads_) <= kMostSeen &&
                 rest_of_landmarks(source_, threads_) > kCarried;
        iterative_.use_neighbours(local_);
        if (std::is_same<T, float>::value && !problem_.maybe_indefinite)
            packing_error_ = packing_error(source_, threads_);
        sum_error_ =
            0.5 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::fabs(source_.diagonal(0));
        if ((problem_.start || problem_.start_decision) && start()) {
            level(problem_.n, true);
        } else {
            // Of a narrow kernel a subsample knows little: its rows are no neighbours any more.
            order_ = local_ ? neighbourhood_order(source_, threads_)
                            : Random(options_.seed).permutation(problem_.n);
            std::vector<Index> sizes{problem_.n};
            while (!local_ && sizes.back() / 4 >= kSmallestLevel) sizes.push_back(sizes.back() / 4);
            for (auto m = sizes.rbegin(); m != sizes.rend(); ++m) {
                grow(*m);
                if (m == sizes.rbegin() && !local_) sweep_first(*m);
                if (*m == problem_.n && m != sizes.rbegin()) climb(*(m - 1));
                level(*m, *m == problem_.n);
            }
        }
        return solution();
    }

  private:
    // Where the ridge is small a subsample fits its own rows and says little of the others: most of them seem
    // to matter, and Newton unlearns it in dozens of steps, each with a system of many rows. With a larger
    // ridge both are mended; so lam comes up a ladder, from the subsample on, a few coarse steps a rung.
    void climb(Index subsample) {
        const auto bytes = at(problem_.n) * at(problem_.n) * sizeof(T);
        if (bytes <= options_.block_bytes()) return;  // there descent takes over what takes long
        const double ridge = ridge_beside_diagonal(source_, problem_, loss_);
        if (ridge >= kFirstRung / kRung || loss_.one_piece() || problem_.maybe_indefinite) return;
        Index most = 0;  // rows that seem to matter to a machine
        for (const Machine& machine : machines_) {
            Index rows = 0;
            for (std::size_t i = 0; i < machine.size(); ++i)
                rows += loss_.lift(machine.y[i] * machine.f[i], machine.s[i]) != 0;
            most = std::max(most, rows);
        }
        // Where landmarks leave less than the ridge, Newton's systems are easy whatever lam is.
        if (most < kManyRows || rest_of_landmarks(source_, threads_) <= ridge) return;
        rung_ = kFirstRung / ridge;
        for (Machine& machine : machines_) {
            machine.resize(at(subsample));
            if (problem_.offset) machine.base.resize(at(subsample));
        }
        level(subsample, false);
        grow(problem_.n);
        for (; rung_ > 1; rung_ = std::max(1.0, rung_ / kRung)) level(problem_.n, false);
    }

    // The loss of a subsample: W is the sum of its weights.
    OdmLoss level_loss(Index m) const {
        double all = 0, here = 0;
        for (Index i = 0; i < problem_.n; ++i) {
            const double s = problem_.weights[order_[at(i)]];
            all += s;
            if (i < m) here += s;
        }
        OdmLoss loss = loss_;
        loss.low *= rung_ * here / all;
        loss.high *= rung_ * here / all;
        return loss;
    }

    // Extends the machines to the first m rows; f there from the model so far.
    void grow(Index m) {
        const auto before = static_cast<Index>(machines_[0].size());
        std::vector<Index> added(at(m - before));
        std::iota(added.begin(), added.end(), before);
        for (int c = 0; c < problem_.count; ++c) {
            Machine& machine = machines_[at(c)];
            machine.resize(at(m));
            if (problem_.offset) machine.base.resize(at(m));
            for (Index i = before; i < m; ++i) {
                const Index row = order_[at(i)];
                machine.y[at(i)] = problem_.signs[c * problem_.n + row];
                machine.s[at(i)] = problem_.weights[row];
                machine.q[at(i)] = source_.diagonal(row) + shift_;
                if (problem_.offset) machine.base[at(i)] = given_base(c, at(i));
            }
        }
        evaluate(added);
    }

    // f at these positions, from the coefficients.
    void evaluate(const std::vector<Index>& positions) {
        if (positions.empty()) return;
        const Values values = products(source_, positions);
        for (std::size_t c = 0; c < machines_.size(); ++c)
            for (std::size_t k = 0; k < positions.size(); ++k) {
                const auto i = at(positions[k]);
                machines_[c].f[i] =
                    values[c * positions.size() + k] + shift_ * machines_[c].a[i] + machines_[c].base_at(i);
            }
    }

    // K a at these positions, machine after machine.
    template <class U>
    Values products(const KernelSource<U>& source, const std::vector<Index>& positions) {
        std::vector<Index> support_rows, rows;
        Values weights, values(positions.size() * machines_.size());
        std::vector<Index> support;
        for (std::size_t i = 0; i < machines_[0].size(); ++i)
            for (const Machine& machine : machines_)
                if (machine.a[i] != 0) {
                    support.push_back(static_cast<Index>(i));
                    support_rows.push_back(order_[i]);
                    break;
                }
        for (Index p : positions) rows.push_back(order_[at(p)]);
        for (const Machine& machine : machines_)
            for (Index i : support) weights.push_back(machine.a[at(i)]);
        kernel_apply(source, Subset{support_rows.data(), static_cast<Index>(support.size())},
                     Subset{rows.data(), static_cast<Index>(rows.size())}, weights.data(), problem_.count,
                     values.data(), threads_);
        return values;
    }

    // Beside a small ridge coefficients are in the hundreds, and what single precision has rounded of kernel
    // values moves f by thousandths, which decisions feel: a row in some hundred is as near to the border. So
    // f is computed in double, once, and the difference taken for an offset of the margins. What remains to
    // be solved is off by the errors of the values times the little that coefficients still change. Whether
    // there is anything to solve.
    bool correct() {
        if (!problem_.exact || corrected_ || !wide_ || problem_.maybe_indefinite) return false;
        corrected_ = true;
        std::vector<Index> all(at(problem_.n));
        std::iota(all.begin(), all.end(), Index(0));
        const Values values = products(problem_.exact(), all);
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            Machine& machine = machines_[c];
            machine.base.resize(at(problem_.n), 0.0);
            for (std::size_t i = 0; i < machine.size(); ++i) {
                const double f = values[c * machine.size() + i] + given_base(static_cast<Index>(c), i);
                machine.base[i] += f - machine.f[i];
                machine.f[i] = f;
            }
            machine.stuck = false;
            machine.idle = 0;
        }
        return true;
    }

    // y times the offset that the problem has at this position.
    double given_base(Index c, std::size_t i) const {
        const Index row = c * problem_.n + order_[i];
        return problem_.offset ? problem_.signs[row] * problem_.offset[row] : 0.0;
    }

    // Takes the start that was given. False if f = 0 is better: duals that were found apart from each other
    // and put together may reach so far beyond the dead zone that every row seems to matter.
    bool start() {
        order_.resize(at(problem_.n));
        std::iota(order_.begin(), order_.end(), Index(0));
        if (local_) order_ = neighbourhood_order(source_, threads_);
        grow(problem_.n);
        if (!problem_.start) {
            guess_from(problem_.start_decision);
            return true;
        }
        start_from(problem_.start);
        bool better = true;
        for (Machine& machine : machines_) {
            machine.assess(loss_);
            double zero = 0;
            for (std::size_t i = 0; i < machine.size(); ++i)
                zero += loss_.primal(machine.y[i] * machine.base_at(i), machine.s[i]);
            better &= machine.objective < zero;
        }
        if (!better) machines_.assign(at(problem_.count), Machine());
        return better;
    }

    void start_from(const double* duals) {
        for (int c = 0; c < problem_.count; ++c)
            for (Index i = 0; i < problem_.n; ++i)
                machines_[at(c)].a[at(i)] = duals[c * problem_.n + order_[at(i)]] * machines_[at(c)].y[at(i)];
        std::vector<Index> all(at(problem_.n));
        std::iota(all.begin(), all.end(), Index(0));
        evaluate(all);
    }

    void guess_from(const double* decision) {
        for (int c = 0; c < problem_.count; ++c) {
            Machine& machine = machines_[at(c)];
            for (Index i = 0; i < problem_.n; ++i)
                machine.f[at(i)] = decision[c * problem_.n + order_[at(i)]];
            machine.add_base(machine.f);
            machine.guessed = true;
        }
    }

    // A few coordinate sweeps before the first Newton step. From zero, Newton takes all rows to be active and
    // has to unlearn it row by row where lam is large and neighbours are few: on 2,667 rows of
    // susy-subset (gamma 8, lam 2^18) they turn 66 Newton steps of 14 s into a few of half a second. They go
    // on while they close the gap, and cost as much as one Newton step where they do not.
    void sweep_first(Index m) {
        const auto bytes = at(m) * at(m) * sizeof(T);
        if (loss_.one_piece()) return;  // every row is active
        if (m > kSweepRows || bytes > options_.block_bytes() || problem_.maybe_indefinite) return;
        const OdmLoss loss = level_loss(m);
        const bool few = m <= kDense, whole = m == problem_.n;
        const double tol =
            std::max(std::min(options_.tol, std::max(options_.aim, few ? kAimOfFew : 0.0)), kPrecise);
        const int most = few ? kMostSweepsOfFew : kMostSweeps;
        const Subset rows{order_.data(), m};
        Buffer<T> k(at(m) * at(m));
        kernel_block(source_, rows, rows, k.data(), m, threads_);
        for_each_machine(machines_.size(), threads_, [&](std::size_t c, int worker, bool alone) {
            Machine& machine = machines_[c];
            Random random(options_.seed + c);
            Values g(at(m), 0.0);
            int sweeps = 0;
            double before = HUGE_VAL;
            const SweepRows<T> all{
                k.data(),         m,        shift_,          machine.y.data(), machine.s.data(),
                machine.q.data(), g.data(), machine.f.data()};
            sweep(all, loss, 1e-3, most, random, threads_, worker, alone, [&] {
                for (std::size_t i = 0; i < g.size(); ++i) machine.a[i] = machine.y[i] * g[i];
                machine.assess(loss);
                const bool done = machine.gap <= tol && (!whole || machine.violation <= options_.violation);
                if (done && (whole || sweeps >= kSweeps)) return true;
                if (++sweeps < kSweeps || sweeps % kSweepsBetweenLooks != 0) return false;
                const double gain = before / machine.gap;
                before = machine.gap;
                if (!few) return gain < kSweepGain;
                // At this rate there will be more of them than a factored step costs.
                return gain <= 1 ||
                       sweeps + kSweepsBetweenLooks * std::log(machine.gap / tol) / std::log(gain) > most;
            });
            for (std::size_t i = 0; i < g.size(); ++i) machine.a[i] = machine.y[i] * g[i];
            machine.iterations = 1;  // together they count as a step
        });
    }

    void level(Index m, bool last) {
        const OdmLoss loss = level_loss(m);
        // A subsample is there for its f alone: one working set, primal steps, until the primal hardly falls.
        const double tol = last ? options_.tol : std::max(options_.tol, kLevelTol);
        const double violation = last ? options_.violation : HUGE_VAL;
        const double aim = last ? std::min(tol, std::max(options_.aim, m <= kDense ? kAimOfFew : 0.0)) : tol;
        const StepPolicy goal(loss, aim, violation, !last), enough(loss, tol, violation, !last);
        double best = HUGE_VAL;  // gap so far, once it is below tol
        WorkingSet set(m);
        Index held = 0;  // members that `iterative_` has
        wide_ = !is_little(sum_error_, m, loss, tol);
        iterative_.begin_level(m >= kPackedRows && is_little(packing_error_, m, loss, tol), wide_);
        bool stalled = false;
        for (Machine& machine : machines_) machine.stepped = false;
        double inner = HUGE_VAL;  // gap of the last working set
        for (int round = 0; round < (last ? kMaxRounds : 1); ++round) {
            bool all = true, tolerable = true;
            double gap = 0;
            for (Machine& machine : machines_) {
                machine.assess(loss, &threads_);
                all &= goal.finished(machine);
                tolerable &= enough.finished(machine);
                gap = std::max(gap, machine.gap);
            }
            if (total_iterations_ >= options_.max_iter || given_up()) return;
            // Beyond what is tolerable, as long as it gets better.
            if (all || (tolerable && gap > kSettles * best)) {
                if (!last || !correct()) return;
                best = HUGE_VAL;
                stalled = false;
                continue;
            }
            if (tolerable) best = gap;

            // Rows far apart cost nothing, so that none need be left out of a local kernel's working set. Nor
            // where systems are factored: a round more is some factors more, and all kernel values cost less.
            const bool factors = iterative_.factors() && iterative_.factors_soon(m);
            auto fresh = local_ || factors ? set.take_all() : set.extend(machines_, loss);
            if (iterative_.factors_soon(m) &&
                static_cast<Index>(set.members().size()) * kMostOf > m * (kMostOf - 1))
                fresh = set.take_all();
            if (round > 0 && fresh.empty() && stalled) return;
            const std::unique_ptr<WorkingMatrix> dense = matrix_of(set, fresh, held);
            WorkingMatrix& matrix = dense ? *dense : iterative_;
            std::vector<Machine> local = set.gather(machines_);
            // Rows outside the working set may still come in: no use solving it much better than the level is
            // solved, or, once that is known, than what those rows have added to the gap the last time.
            const bool whole = local_ || set.others().empty();
            const double added =
                round > 0 ? kOfAdded * std::max(0.0, gap - inner) : kOfGap * std::min(gap, 1.0);
            double wanted = whole || tolerable ? aim : std::max(0.5 * aim, added);
            if (dense && last && tol < kPrecise) wanted = kLastDigit;
            // Single rows that are wrong are no matter while others may still come in.
            const double of_rows = wanted > tol ? HUGE_VAL : (local_ ? 1.0 : 0.7) * violation;
            const StepPolicy policy(loss, wanted, of_rows, !last, last ? tol : 0.0, local_);
            stalled = solve_working_set(matrix, local, loss, policy, enough, m) == 0;
            inner = 0;
            for (const Machine& machine : local) inner = std::max(inner, machine.gap);
            set.scatter(local, machines_);
            evaluate(set.others());
        }
    }

    // Whether kernel values, or products with them, may be wrong by so much. f is off by about e |a| then,
    // which adds sum_A (e |a|)^2 / (2 D_i) to the gap: at most m (e / D)^2 of D |a|^2 / 2, and so of the
    // objective.
    bool is_little(double error, Index m, const OdmLoss& loss, double tol) const {
        double squares = 0;  // of weights: m of them, if they are equal
        for (Index i = 0; i < m; ++i) squares += std::pow(problem_.weights[order_[at(i)]], 2);
        const double share = error / std::min(loss.low, loss.high);
        return squares * share * share <= kLittle * tol;
    }

    // The matrix of the working set: a dense one where that is cheap, else null and `iterative_` brought up
    // to date.
    std::unique_ptr<WorkingMatrix> matrix_of(const WorkingSet& set, const std::vector<Index>& fresh,
                                             Index& held) {
        const auto rows_at = [&](const std::vector<Index>& positions) {
            std::vector<Index> rows;
            for (Index p : positions) rows.push_back(order_[at(p)]);
            return rows;
        };
        const auto size = static_cast<Index>(set.members().size());
        if (size <= kDense)
            return std::make_unique<DenseMatrix<T>>(source_, rows_at(set.members()),
                                                    problem_.maybe_indefinite, threads_);
        if (held > 0 && held + static_cast<Index>(fresh.size()) == size)
            iterative_.append(rows_at(fresh));
        else
            iterative_.assign(rows_at(set.members()));
        held = size;
        return nullptr;
    }

    // Newton steps until all machines are done or stuck; returns how many.
    int solve_working_set(WorkingMatrix& matrix, std::vector<Machine>& local, const OdmLoss& loss,
                          const StepPolicy& policy, const StepPolicy& enough, Index m) {
        for (Machine& machine : local) machine.assess(loss, &threads_);
        int inner = 0;
        for (; inner < kMaxInner && total_iterations_ < options_.max_iter && !given_up(); ++inner) {
            std::vector<Step> steps;
            for (Machine& machine : local) {
                if (machine.stuck || policy.finished(machine)) continue;
                if (local_ && !machine.guessed) descend(matrix, machine, loss, enough, m);
                take_passes(matrix, machine, loss, policy);
                if (!policy.finished(machine)) steps.push_back(policy.propose(machine));
            }
            if (steps.empty()) break;
            if (local_ && std::all_of(local.begin(), local.end(),
                                      [&](const Machine& machine) { return enough.finished(machine); }))
                if (++settling_ > kSettlingSteps) break;
            std::vector<Step*> list;
            for (Step& step : steps) {
                step.number = static_cast<std::size_t>(step.machine - local.data());
                list.push_back(&step);
            }
            const int before = matrix.products();
            while (!matrix.solve(list, shift_)) {
                raise_shift(matrix, local);
                for (Machine& machine : local) machine.assess(loss, &threads_);
                for (Step& step : steps) {
                    const std::size_t number = step.number;
                    step = policy.propose(*step.machine);
                    step.number = number;
                }
            }
            const double share = static_cast<double>(matrix.size()) / static_cast<double>(problem_.n);
            if (m == problem_.n && rung_ == 1) products_ += (matrix.products() - before) * share * share;
            drop_wrong_signs(matrix, steps);
            double worst = 0, worst_violation = 0;
            for (Step& step : steps) {
                for (std::size_t i = 0; i < step.kx.size(); ++i) step.kx[i] += shift_ * step.x[i];
                step.machine->add_base(step.kx);
                policy.advance(*step.machine, step.x, step.kx);
                worst = std::max(worst, step.machine->gap);
                worst_violation = std::max(worst_violation, step.machine->violation);
            }
            ++total_iterations_;
            if (options_.progress)
                options_.progress(Progress{"newton", m, total_iterations_, worst, worst_violation});
        }
        return inner;
    }

    // Coordinate passes before a step. Those for single rows may open the gap, and are taken back then.
    void take_passes(WorkingMatrix& matrix, Machine& machine, const OdmLoss& loss, const StepPolicy& policy) {
        int passes = policy.passes(machine);
        if (passes == 0) return;
        const bool polish = !machine.dual_steps;
        const Machine before = polish ? machine : Machine();
        for (; passes > 0 && !policy.finished(machine); --passes) {
            matrix.relax(machine, loss, shift_);
            machine.assess(loss, &threads_);
        }
        if (polish && !policy.finished(machine) && machine.gap > before.gap) machine = before;
    }

    bool given_up() const { return !local_ && products_ > options_.max_products; }

    // Dual steps: coefficients whose sign came out wrong are not taken.
    void drop_wrong_signs(WorkingMatrix& matrix, std::vector<Step>& steps) {
        std::vector<const Values*> changed;
        std::vector<Step*> owners;
        for (Step& step : steps) {
            bool any = false;
            for (std::size_t i = 0; i < step.x.size() && step.machine->dual_steps; ++i)
                if (step.x[i] * step.machine->y[i] * step.side[i] < 0) {
                    step.x[i] = 0;
                    any = true;
                }
            if (!any) continue;
            changed.push_back(&step.x);
            owners.push_back(&step);
        }
        if (changed.empty()) return;
        std::vector<Values> products;
        matrix.multiply(changed, products);
        for (std::size_t v = 0; v < owners.size(); ++v) owners[v]->kx = std::move(products[v]);
    }

    // Passes of block coordinate steps, as long as they pay: a step of Newton costs as much as a few of them,
    // and brings the gap down by a factor of two or three while the active set is not known. Where it takes
    // hundreds of products that is no alternative; where its system can be factored it is.
    void descend(WorkingMatrix& matrix, Machine& machine, const OdmLoss& loss, const StepPolicy& enough,
                 Index m) {
        double before = machine.absolute_gap;
        if (enough.finished(machine)) return;
        const double tol = kPassShare * options_.tol;
        const StepPolicy goal(loss, tol, options_.violation, false);
        const double gain = iterative_.factors_soon(m) ? kPassGainOfFactored : kPassGain;
        std::optional<HeldBias> bias;
        if (source_.far_value() > 0) bias.emplace(source_.far_value(), machine);
        ++machine.iterations;  // together they count as a step
        ++total_iterations_;
        Momentum momentum(threads_);
        int since = 0;  // the pass with which this look began
        for (int pass = 1; pass <= kMostPasses && !goal.finished(machine); ++pass) {
            momentum.go_on(machine, loss, bias ? &*bias : nullptr);
            matrix.relax(machine, loss, shift_, bias ? &*bias : nullptr);
            machine.assess(loss, &threads_);
            if (options_.progress)
                options_.progress(Progress{"newton", m, total_iterations_, machine.gap, machine.violation});
            if (bias && bias->follow(machine, loss)) {
                since = pass;
                before = HUGE_VAL;
            }
            if (pass == since || (pass - since) % kPassesBetweenLooks != 0) continue;
            const double left = bias ? bias->gap() : machine.absolute_gap;
            if (left * gain > before || (bias && bias->relative_gap() <= tol)) break;
            before = left;
        }
        if (bias && !goal.finished(machine)) take_bias(matrix, machine, loss, *bias);
    }

    // The coefficients take on the sum that the held bias asks for, each its share.
    void take_bias(WorkingMatrix& matrix, Machine& machine, const OdmLoss& loss, const HeldBias& bias) {
        const Values share = bias.responses(machine, loss);
        const double sum = std::accumulate(share.begin(), share.end(), 0.0);
        if (!(sum > 0)) return;
        const double step = bias.raise() / (bias.scale() * sum);
        std::vector<Values> product;
        matrix.multiply({&share}, product);
        for (std::size_t i = 0; i < share.size(); ++i) {
            machine.a[i] += step * share[i];
            machine.f[i] += step * (product[0][i] + shift_ * share[i]);
        }
        machine.assess(loss, &threads_);
    }

    // The kernel is not positive semidefinite on these rows: solve k + shift I instead.
    void raise_shift(WorkingMatrix& matrix, std::vector<Machine>& local) {
        std::vector<Values> out;
        const double lowest =
            smallest_eigenvalue(matrix.size(), options_.seed, 40, [&](const Values& x, Values& y) {
                matrix.multiply({&x}, out);
                y = out[0];
            });
        const double raised =
            std::max({-1.1 * lowest, 2 * shift_, 1e-7 * std::fabs(source_.diagonal(0)), 1e-12});
        if (!std::isfinite(raised) || raised > 1e30) throw std::invalid_argument(kNotFinite);
        for (auto* machines : {&machines_, &local})
            for (Machine& machine : *machines)
                for (std::size_t i = 0; i < machine.size(); ++i) {
                    machine.f[i] += (raised - shift_) * machine.a[i];
                    machine.q[i] += raised - shift_;
                }
        shift_ = raised;
    }

    Solution solution() const {
        Solution out;
        out.duals.resize(at(problem_.n * problem_.count));
        out.decision.resize(out.duals.size());
        for (int c = 0; c < problem_.count; ++c) {
            const Machine& machine = machines_[at(c)];
            for (Index i = 0; i < problem_.n; ++i) {
                const auto to = at(c * problem_.n + order_[at(i)]);
                out.duals[to] = machine.y[at(i)] * machine.a[at(i)];
                out.decision[to] = machine.f[at(i)] - given_base(c, at(i));
            }
            out.objective.push_back(machine.objective);
            out.gap.push_back(machine.gap);
            out.violation.push_back(machine.violation);
            out.iterations.push_back(machine.iterations);
            out.converged.push_back(
                StepPolicy(loss_, options_.tol, options_.violation, false).finished(machine));
        }
        out.method = "newton";
        out.shift = shift_;
        return out;
    }

    const KernelSource<T>& source_;
    const Problem& problem_;
    const OdmLoss& loss_;
    const Options& options_;
    Threads& threads_;
    IterativeMatrix<T> iterative_;
    std::vector<Index> order_;
    std::vector<Machine> machines_;
    double shift_ = 0;
    double packing_error_ = HUGE_VAL, sum_error_ = 0;
    double rung_ = 1;         // the ridge is so many times what was asked for, see `climb`
    bool wide_ = false;       // sums of this level are in double
    bool corrected_ = false;  // f has been computed in double
    bool local_ = false;      // nearly all kernel values are zero, and rows stand among their neighbours
    int total_iterations_ = 0, settling_ = 0;
    double products_ = 0;  // of conjugate gradients with the rows of the last level, in units of n^2 values
};

}  // namespace

template <class T>
Solution solve_newton(const KernelSource<T>& source, const Problem& problem, const OdmLoss& loss,
                      const Options& options, Threads& threads) {
    return Newton<T>(source, problem, loss, options, threads).run();
}

template Solution solve_newton(const KernelSource<float>&, const Problem&, const OdmLoss&, const Options&,
                               Threads&);
template Solution solve_newton(const KernelSource<double>&, const Problem&, const OdmLoss&, const Options&,
                               Threads&);

}  // namespace sodm
