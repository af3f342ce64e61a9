// The inner loop of dual coordinate descent, for both losses. Rows must have unit feature stride, or be CSR.
#pragma once

#include <vector>

#include "base/loss.hpp"
#include "base/parallel.hpp"
#include "linear/linear_rows.hpp"

namespace sodm {

// One sweep of dual coordinate descent (Hsieh et al. 2008, Algorithm 1) over the rows of `order`, each dual
// set to its minimiser (the prox of the loss), with w = sum_i y_i g_i x_i maintained. duals: problems x n,
// w: problems x width; the new ones are in duals and w. Returns the largest step of a dual in units of the
// margin, for each problem.
template <class Loss>
std::vector<double> dual_sweep(const LinearRows& rows, const Loss& loss, int n_problems,
                               const std::int32_t* positive, const double* squared_norm, const Index* order,
                               Index n_order, double* duals, double* w, Monitor* monitor);

// w = sum_i y_i g_i x_i, problems x width
std::vector<double> weights_of_duals(const LinearRows& rows, int n_problems, const std::int32_t* positive,
                                     const double* duals, Monitor* monitor);

}  // namespace sodm
