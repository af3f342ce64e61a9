// The little dense linear algebra the solvers need, in double.
#pragma once

#include <cstddef>
#include <vector>

#include "base/memory.hpp"
#include "base/parallel.hpp"

namespace sodm {

// In place: lower triangle of the symmetric positive definite a (n x n, row-major) becomes L with L L' = a.
// False if a pivot is not positive.
bool cholesky(double* a, Index n, Threads& threads);

// Solves L L' x = b in place.
void cholesky_solve(const double* l, Index n, double* b);

// Inverse of the lower triangle l, lower triangle of out; the rest of out is zero.
void invert_lower(const double* l, Index n, double* out, Threads& threads);

double dot(const double* a, const double* b, Index n);

}  // namespace sodm
