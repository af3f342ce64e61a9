// The inner loop of SVRG, DSVRG and CSVRG. Rows must have unit feature stride, or be CSR.
#pragma once

#include "base/loss.hpp"
#include "base/parallel.hpp"
#include "linear/linear_rows.hpp"

namespace sodm {

// A run of SVRG steps (Johnson and Zhang 2013, the inner loop of their Procedure SVRG) on the rows
// order[0..n_steps-1], for several problems at once:
//
//   w <- w - step * ( grad f_i(w) - grad f_i(anchor) + grad p(anchor) ),
//   f_i(w) = |w|^2 / 2 + loss.primal(m_i, s_i)
//
// where the scale of `loss` is such that the f_i have p as their mean. `mean` is grad p(anchor) - anchor, the
// anchor's mean loss gradient. w, anchor, mean: problems x width. The last w is in w.
void svrg_steps(const LinearRows& rows, const OdmLoss& loss, double step, int n_problems,
                const std::int32_t* positive, const Index* order, Index n_steps, const double* anchor,
                const double* mean, double* w, Monitor* monitor);

}  // namespace sodm
