// The sequential inner loops of the stochastic and dual methods for linear problems, and the ball cover.
// Rows must have unit feature stride, or be CSR.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "linear/linear_rows.hpp"

namespace sodm {

// A run of SVRG steps (Johnson and Zhang 2013) on the rows order[0..n_steps-1], for several problems at once:
//
//   w <- w - step * ( grad f_i(w) - grad f_i(anchor) + grad p(anchor) ),
//   f_i(w) = |w|^2 / 2 + scale * s_i / 2 * [ (low - m_i)_+^2 + upsilon (m_i - high)_+^2 ]
//
// `mean` is grad p(anchor) - anchor, the anchor's mean loss gradient. w, anchor, mean: problems x width; w is
// updated.
void svrg_steps(const LinearRows& rows, const MarginLoss& loss, double scale, double step, int n_problems,
                const std::int32_t* positive, const Index* order, Index n_steps, const double* anchor,
                const double* mean, double* w, Monitor* monitor);

// The one-dimensional problems of dual coordinate descent.
struct DualLoss {
    bool hinge = false;
    MarginLoss margin;   // ODM
    double scale = 1.0;  // ODM: lam / (W (1-theta)^2); hinge: lam / W
};

// One sweep of dual coordinate descent over the rows of `order`, with w = sum_i y_i g_i x_i maintained.
// duals: problems x n, w: problems x width; both updated. Returns the largest change of a dual variable in
// units of the margin, for each problem.
std::vector<double> dual_sweep(const LinearRows& rows, const DualLoss& loss, int n_problems,
                               const std::int32_t* positive, const double* squared_norm, const Index* order,
                               Index n_order, double* duals, double* w, Monitor* monitor);

// Every row joins the first centre of its own class within `radius`, or becomes a centre. `key` is any
// function of a row that changes by no more than the distance between rows: only centres with a key within
// radius are looked at. Returns, for each row, the row number of its centre.
std::vector<Index> ball_cover(const LinearRows& rows, const double* squared_norm, const double* key,
                              const Index* order, double radius, Monitor* monitor);

}  // namespace sodm
