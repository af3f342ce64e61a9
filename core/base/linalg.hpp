// The little dense linear algebra the solvers need.
#pragma once

#include <cstddef>
#include <vector>

#include "base/memory.hpp"
#include "base/parallel.hpp"

namespace sodm {

// In place: lower triangle of the symmetric positive definite a (n x n, row-major) becomes L with L L' = a.
// False if a pivot is not positive. `stride` from row to row; the first `done` columns may be those of L
// already.
template <class T>
bool cholesky(T* a, Index n, Index stride, Index done, Threads& threads);
template <class T>
bool cholesky(T* a, Index n, Threads& threads) {
    return cholesky(a, n, n, Index(0), threads);
}

// Solves L L' x = b in place.
void cholesky_solve(const double* l, Index n, double* b);

// Inverse of the lower triangle l, lower triangle of out; the rest of out is zero.
void invert_lower(const double* l, Index n, double* out, Threads& threads);

double dot(const double* a, const double* b, Index n);

// Of values in either precision, in double; eight sums side by side, which the processor adds at once.
template <class T>
double sum_of_squares(const T* v, Index n) {
    double sums[8] = {};
    Index k = 0;
    for (; k + 8 <= n; k += 8)
        for (int lane = 0; lane < 8; ++lane) {
            const auto x = static_cast<double>(v[k + lane]);
            sums[lane] += x * x;
        }
    for (; k < n; ++k) sums[0] += static_cast<double>(v[k]) * static_cast<double>(v[k]);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace sodm
