#include "exact/step_policy.hpp"

#include <algorithm>
#include <cmath>

namespace sodm {

namespace {

// A whole primal step is taken although the primal rises if it brings the gap down to this share: where the
// best f is nearly the one we have (contradictory rows, large lam) the primal moves by rounding alone, while
// the duals, and with them the gap, still have all the way to go.
constexpr double kClosesGap = 0.5;
// A dual step is kept if it brings the gap down to this share of the best one before.
constexpr double kDualGain = 0.7;
// Dual steps are of use near the solution only: they are tried below this relative gap.
constexpr double kDualBelow = 0.2;
// A primal step has gained something if the gap fell to this share, or the objective by this share of itself.
constexpr double kPrimalGain = 0.9, kObjectiveGain = 1e-10;
// Steps without gain in a row after which rounding has the last word.
constexpr int kIdleSteps = 2;
// The same for steps between passes, where the primal, and with it the gap, goes up and down on its way.
constexpr int kIdleDescent = 6;
// On a subsample: the primal must fall to this share, or the subsample has told what it can.
constexpr double kCoarseGain = 0.98;
// Conjugate gradients go on until their residual stands for this share of the tolerance or of the gap we
// have; when only single rows are still wrong, to a hundredth of that.
constexpr double kOfTolerance = 0.2, kOfGap = 0.02, kForRows = 0.01, kOfGapInDescent = 0.1;
// Coordinate passes for single rows that are still wrong when the gap is closed.
constexpr int kPolish = 3;

}  // namespace

int StepPolicy::passes(Machine& machine) const {
    if (machine.dual_steps) return 1;
    // Once, because they may open the gap again.
    if (machine.gap > tol_ || machine.polished) return 0;
    machine.polished = true;
    return kPolish;
}

Step StepPolicy::propose(Machine& machine) const {
    const std::size_t n = machine.size();
    if (descent_ && !machine.guessed && !machine.dual_steps) {
        machine.dual_steps = true;
        machine.gap_to_beat = HUGE_VAL;
    }
    Step step;
    step.machine = &machine;
    // After a step its residual is left with the rows that came and went since. Before the first one, a is
    // that of fewer rows or of none, and the duals that the optimality conditions assign to f are better.
    step.goes_on = machine.dual_steps || machine.stepped;
    step.side.assign(n, 0);
    for (Values* values : {&step.inverse_d, &step.target, &step.x}) values->assign(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        const double y = machine.y[i], g = y * machine.a[i], m = y * machine.f[i];
        const double to = machine.dual_steps ? loss_.prox(machine.q[i] * g - m, machine.q[i], machine.s[i])
                                             : loss_.lift(m, machine.s[i]);
        if (to == 0) continue;
        step.side[i] = to > 0 ? 1 : -1;
        step.inverse_d[i] = machine.s[i] / (to > 0 ? loss_.low : loss_.high);
        step.target[i] = y * (to > 0 ? 1 - loss_.theta : 1 + loss_.theta) - machine.base_at(i);
        step.x[i] = step.goes_on ? machine.a[i] : y * to;
    }
    if (loss_.one_piece()) {  // this system is the last
        step.cg_share = kOfTolerance * tol_;
        return step;
    }
    step.cg_target =
        std::max(kOfTolerance * tol_ * std::fabs(machine.objective),
                 (machine.gap > enough_ && descent_ ? kOfGapInDescent : kOfGap) * machine.absolute_gap);
    if (machine.gap <= tol_ && machine.violation > violation_) step.cg_target *= kForRows;
    return step;
}

void StepPolicy::advance(Machine& machine, const Values& x, const Values& fx) const {
    const double objective = machine.objective, gap = machine.absolute_gap;
    ++machine.iterations;
    Machine there = machine;
    there.a = x;
    there.f = fx;
    there.assess(loss_);
    there.guessed = false;
    there.stepped = machine.stepped = true;
    there.relaxed = false;
    bool whole = machine.guessed;
    if (machine.dual_steps)
        whole |= there.dual <= machine.dual;
    else
        whole |=
            there.objective <= machine.objective || there.absolute_gap < kClosesGap * machine.absolute_gap;
    if (whole) {
        std::swap(machine, there);
    } else {
        Values da(x.size()), df(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            da[i] = x[i] - machine.a[i];
            df[i] = fx[i] - machine.f[i];
        }
        const double length = line_search(machine, da, df, loss_, machine.dual_steps);
        for (std::size_t i = 0; i < x.size(); ++i) {
            machine.a[i] += length * da[i];
            machine.f[i] += length * df[i];
        }
        machine.assess(loss_);
    }
    if (coarse_)
        machine.stuck = machine.objective > kCoarseGain * objective;
    else if (machine.dual_steps)
        judge_dual_step(machine);
    else
        judge_primal_step(machine, whole, objective, gap);
}

void StepPolicy::judge_dual_step(Machine& machine) const {
    if (descent_) {
        const bool gained = machine.absolute_gap < kPrimalGain * machine.gap_to_beat;
        machine.idle = gained ? 0 : machine.idle + 1;
        machine.stuck = machine.idle >= (machine.gap <= enough_ ? 1 : kIdleDescent);
        machine.gap_to_beat = std::min(machine.gap_to_beat, machine.absolute_gap);
        return;
    }
    if (machine.absolute_gap < kDualGain * machine.gap_to_beat) {
        machine.gap_to_beat = machine.absolute_gap;
        return;
    }
    machine.a = machine.kept_a;
    machine.f = machine.kept_f;
    machine.assess(loss_);
    machine.dual_steps = false;
    machine.primal_only = machine.patience *= 2;
}

void StepPolicy::judge_primal_step(Machine& machine, bool whole, double objective, double gap) const {
    if (machine.primal_only > 0) --machine.primal_only;
    if (whole || machine.primal_only > 0 || machine.gap > kDualBelow) {
        const bool below = machine.gap <= enough_;
        // Below the tolerance that is asked for the gap alone counts.
        const bool gained = machine.absolute_gap < kPrimalGain * gap ||
                            (!below && objective - machine.objective > kObjectiveGain * objective);
        machine.idle = gained ? 0 : machine.idle + 1;
        machine.stuck = machine.idle >= (below ? 1 : kIdleSteps);
        return;
    }
    machine.dual_steps = true;
    machine.kept_a = machine.a;
    machine.kept_f = machine.f;
    machine.gap_to_beat = machine.absolute_gap;
}

}  // namespace sodm
