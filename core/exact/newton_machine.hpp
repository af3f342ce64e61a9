// One machine on its way to the solution: coefficients, decision values, objectives, and steps along a line.
#pragma once

#include <vector>

#include "base/loss.hpp"
#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

using Values = std::vector<double>;

// One machine on a list of rows: all rows of a level, or a working set.
struct Machine {
    Values y, s, q, a, f;  // signs, weights, k(x, x) + shift, coefficients, f = K a + shift a + base
    Values base;           // y times the offset of the margin; empty without offsets
    double objective = 0, dual = 0, gap = 0, absolute_gap = 0, violation = 0;
    int iterations = 0;
    bool dual_steps = false, stuck = false, polished = false;
    bool relaxed = false;    // f has been added to by coordinate passes, rounded each time
    bool stepped = false;    // by Newton, on the rows of this level
    bool guessed = false;    // f was given and does not belong to a: the first Newton point replaces both
    double gap_to_beat = 0;  // by the dual step under trial
    int idle = 0;            // steps without gain
    int primal_only = 0,
        patience = 2;       // steps until a dual step is tried again; twice as many after each failure
    Values kept_a, kept_f;  // from before the dual step under trial

    void resize(std::size_t n) {
        for (Values* values : {&y, &s, &q, &a, &f}) values->resize(n, 0.0);
    }
    std::size_t size() const { return y.size(); }
    double base_at(std::size_t i) const { return base.empty() ? 0.0 : base[i]; }
    // To values that were made of coefficients alone.
    void add_base(Values& values) const {
        for (std::size_t i = 0; i < base.size(); ++i) values[i] += base[i];
    }

    // Sets the objectives, the gap and the violation; the same by one thread and by many.
    void assess(const OdmLoss& loss, Threads* threads = nullptr);
};

// How far to go from a, f along da, df: the minimiser of the primal or of the dual on that line. Both are
// convex and piecewise quadratic there. On the dual the kernel may be taken without a `constant` that f is
// made with, f being raised by `raise` instead (see HeldBias).
double line_search(const Machine& machine, const Values& da, const Values& df, const OdmLoss& loss,
                   bool on_dual, double constant = 0, double raise = 0, Threads* threads = nullptr);

// Exact coordinate steps among the rows first..first+count-1, on their block of kernel values, from what f is
// there plus `raise`. A constant that the diagonal q has and the block has not is `constant`. Returns whether
// anything moved; change[r] is by how much a moved, and f of these rows is brought up to date.
template <class T, class U>
bool relax_block(Machine& machine, const OdmLoss& loss, double shift, Index first, int count, const T* block,
                 Index stride, int sweeps, U* change, double constant = 0, double raise = 0);

}  // namespace sodm
