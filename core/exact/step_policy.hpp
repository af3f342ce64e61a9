// Newton's steps: which system a machine solves next, and how far it goes towards the solution.
//
// Primal steps are the rule. Where one had to be shortened although the gap is small already, dual steps are
// tried, and taken back if the gap does not fall. newton.cpp says what the two kinds are.
#pragma once

#include "base/loss.hpp"
#include "exact/newton_machine.hpp"

namespace sodm {

// The system (K_AA + D_A) x_A = t_A - base_A of one Newton step: which rows are in, with which sign.
struct Step {
    Machine* machine;
    std::size_t number = 0;         // of the machine among those of the working set
    std::vector<signed char> side;  // 1 below the dead zone, -1 above, 0 not in A
    Values inverse_d, target, x;    // 1 / D (0 outside A), t - base, start and solution
    Values kx;                      // K x of the solution
    bool goes_on = false;           // x starts as the machine's a on A, of which f knows the product
    double cg_target = 0;           // absolute duality gap that the residual may stand for
    double cg_share = 0;            // and what it may besides, as a share of the system's own dual value
};

class StepPolicy {
  public:
    // `coarse`: the machine is wanted for its f alone, so only the primal counts. Below a gap of `enough`
    // the first step without gain is the last.
    // `descent`: between passes of coordinate steps, which go down on the dual: so do the steps, and none is
    // taken back (two that go down on different objectives may undo each other for ever).
    StepPolicy(const OdmLoss& loss, double tol, double violation, bool coarse, double enough = 0,
               bool descent = false)
        : loss_(loss),
          tol_(tol),
          violation_(violation),
          enough_(enough),
          coarse_(coarse),
          descent_(descent) {}

    bool finished(const Machine& machine) const {
        return !machine.guessed && machine.gap <= tol_ && machine.violation <= violation_;
    }
    // Coordinate passes before the machine's next step.
    int passes(Machine& machine) const;
    // Which rows the next step takes to be active, and on which side.
    Step propose(Machine& machine) const;
    // Goes to the Newton point x with f = fx, or as far towards it as the objective falls, and chooses the
    // kind of the next step.
    void advance(Machine& machine, const Values& x, const Values& fx) const;

  private:
    void judge_dual_step(Machine& machine) const;
    void judge_primal_step(Machine& machine, bool whole, double objective, double gap) const;

    const OdmLoss& loss_;
    double tol_, violation_, enough_;
    bool coarse_, descent_;
};

}  // namespace sodm
