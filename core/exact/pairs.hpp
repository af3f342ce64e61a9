// One against one: a machine for each pair of classes, on the rows of these two.
//
// A row of class c has K - 1 duals, one for each other class d: dual d - 1 if d > c, dual d if d < c (the
// order of scikit-learn's SVC). In the pair (c, d), c < d, rows of c are +1 and rows of d are -1. Pairs are
// small and many: each is solved by one thread, side by side with others, with its share of the memory
// whatever the number of threads; so that number does not change a result.
#pragma once

#include <string>
#include <vector>

#include "exact/certificate.hpp"
#include "exact/solve.hpp"

namespace sodm {

struct PairProblem {
    Index n = 0;
    int classes = 0;
    const std::int64_t* codes = nullptr;     // n, 0..classes-1
    const double* weights = nullptr;         // n, > 0
    const double* start = nullptr;           // (classes-1) x n duals to start from, or null
    const double* start_decision = nullptr;  // (classes-1) x n values of some f of the pairs, or null
    const std::int64_t* pairs = nullptr;     // n_pairs x 2, the pairs (c, d), c < d, to be solved
    Index n_pairs = 0;
    bool maybe_indefinite = false;
    bool share = false;  // evaluate no kernel value twice: see PairValues
};

// What a certificate is made from: kernel values in double, should it ask for them, and what rounding does to
// those of the solver.
struct PairCertificates {
    ExactValues exact;
    const Rounding* rounding = nullptr;
    double tol = 0, violation = 0;
};

struct PairSolution {
    std::vector<double> duals, decision;                   // (classes-1) x n; zero for pairs not asked for
    std::vector<double> objective, gap, violation, shift;  // one for each pair asked for
    std::vector<int> iterations;
    std::vector<char> converged;
    std::string method;
};

// Solves the pairs, all with the same loss: its ridge is that of the problem of all rows. With `exact` given,
// objective, gap and violation are those of certificates.
template <class T, class Loss>
PairSolution solve_pairs(const std::string& method, const KernelSource<T>& source, const PairProblem& problem,
                         const Loss& loss, const Options& options, const PairCertificates& certificates,
                         Threads& threads);

}  // namespace sodm
