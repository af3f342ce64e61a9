// The exact solvers: what they are given and what they return.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/loss.hpp"
#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

// Several machines on the same rows: one per row of `signs`, as in one-vs-rest. They share every kernel
// value.
struct Problem {
    Index n = 0;
    int count = 1;                    // machines
    const double* signs = nullptr;    // count x n, +-1
    const double* weights = nullptr;  // n, > 0
    // count x n offsets o of the margins, m = y f + o, or null for zeros. With them
    //   primal  1/2 g'Qg + sum_i primal(Qg + o)_i,   dual  1/2 g'Qg + o'g + sum_i dual(g_i).
    // A zone around c_i instead of 1 has o_i = 1 - c_i, a function f0 to be corrected o_i = y_i f0(x_i).
    //
    // The solvers keep f + y o where else they have f: then y times it is the margin, and the gap,
    // g'Qg + o'g + primal + dual = g'm + primal + dual, reads as without.
    const double* offset = nullptr;
    const double* start = nullptr;  // count x n duals to start from, or null
    // count x n values of some f, or null; f need not come from any duals on these rows. Used when there is
    // no `start`: Newton takes its first active set from it, coordinate descent starts from the duals that
    // the optimality conditions assign to it (the lift).
    const double* start_decision = nullptr;
    bool maybe_indefinite = false;  // the kernel may not be positive semidefinite
    // The same kernel in double, where `source` is in single precision; made when it is asked for.
    std::function<const KernelSource<double>&()> exact;
};

struct Progress {
    const char* stage;
    Index rows;
    int iteration;
    double gap, violation;
};

struct Options {
    double tol = 1e-3;  // relative duality gap
    // A smaller one to go on to while that is cheap: what is decided about unseen rows depends on the order
    // of the rows and on chance at a gap of `tol`, where no row of the training set shows it. Missing it is
    // no failure.
    double aim = 1.0;         // no smaller than tol: none
    double violation = 0.03;  // KKT violation in units of the margin
    int max_iter = 1000;
    // Products with the matrix of all rows after which Newton's method is to give up: where the spectrum is
    // flat and lam large, conjugate gradients take hundreds of them for each of many steps.
    double max_products = HUGE_VAL;
    // The same for coordinate descent in working sets: sweeps over the matrix of all rows.
    double max_sweeps = HUGE_VAL;
    // Share of the rows: descent is given up where a working set would have more, or as many as a stored
    // block may have. 1: never.
    double most_in_set = 1;
    std::size_t cache_bytes = std::size_t(1000) << 20;
    // Blocks that a method wants whole may take so much of it: what is chosen, and with it the last digits of
    // a result, does not depend on the memory of a machine that has more.
    std::size_t block_bytes() const { return std::min(cache_bytes, std::size_t(1000) << 20); }
    std::uint64_t seed = 0;
    std::function<void(const Progress&)> progress;
};

struct Solution {
    std::vector<double> duals, decision;  // count x n
    std::vector<double> objective, gap, violation;
    std::vector<int> iterations;
    std::vector<char> converged;
    std::string method;
    double shift = 0;  // k + shift I was solved because k is not positive semidefinite
};

// The ridge of a row of weight 1, in units of the mean of s_i k(x_i, x_i).
template <class T>
double ridge_beside_diagonal(const KernelSource<T>& source, const Problem& problem, const OdmLoss& loss) {
    double diagonal = 0;
    for (Index i = 0; i < problem.n; ++i) diagonal += problem.weights[i] * source.diagonal(i);
    return loss.low * static_cast<double>(problem.n) / diagonal;
}

// Semismooth Newton with preconditioned conjugate gradients, started on nested subsamples (newton.cpp).
template <class T>
Solution solve_newton(const KernelSource<T>& source, const Problem& problem, const OdmLoss& loss,
                      const Options& options, Threads& threads);

// Dual coordinate descent on a stored Gram matrix or in working sets (coordinate_descent.cpp).
template <class T, class Loss>
Solution solve_coordinate(const KernelSource<T>& source, const Problem& problem, const Loss& loss,
                          const Options& options, Threads& threads);

// The method for the job. ODM: Newton, and coordinate descent from where it stands if rounding stalls it;
// hinge: the primal is not piecewise quadratic, so coordinate descent. `method` is "auto", "newton" or "dcd".
template <class T>
Solution solve_odm(const std::string& method, const KernelSource<T>& source, const Problem& problem,
                   const OdmLoss& loss, const Options& options, Threads& threads);

}  // namespace sodm
