// Passes of coordinate steps that go on where the last ones went.
#pragma once

#include "exact/held_bias.hpp"
#include "exact/newton_machine.hpp"

namespace sodm {

// Passes end at their own rate: what they do not settle at once is a direction that each of them takes a step
// along. Between two passes the machine goes on along the last way, from one beginning of a pass to the next,
// to the minimum of the dual on that line. f is known along it, so that this costs no kernel value. Half to a
// third of the passes are enough then, where they are many.
class Momentum {
  public:
    explicit Momentum(Threads& threads) : threads_(threads) {}

    // Before a pass; `bias` as for the pass.
    void go_on(Machine& machine, const OdmLoss& loss, HeldBias* bias);

  private:
    Threads& threads_;
    Values a_, f_;          // where the last pass began
    Values way_a_, way_f_;  // from the beginning of the one before
};

}  // namespace sodm
