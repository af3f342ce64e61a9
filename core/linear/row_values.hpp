// Smaller passes over rows of a linear problem: one value for each row.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "linear/linear_rows.hpp"

namespace sodm {

// decisions[j * n + i] = <w_j, x_i> for n_problems vectors w_j
void linear_decisions(const LinearRows& rows, int n_problems, const double* w, double* decisions,
                      Threads& threads);

// Whether all values are finite.
bool linear_finite(const RowsView& view, Threads& threads);

// |x_i|^2 with the constant feature
std::vector<double> linear_squared_norms(const LinearRows& rows, Threads& threads);

}  // namespace sodm
