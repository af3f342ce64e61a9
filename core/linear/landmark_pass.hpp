// A pass over rows of the linear problem on the features of landmarks (kernel/features.hpp), without these
// features: by kernel values, each evaluated once and kept nowhere.
#pragma once

#include <vector>

#include "base/loss.hpp"
#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

// Of problems p with f = sum_j a_pj k(z_j, .), margins m = y f:
struct LandmarkSums {
    std::vector<double> loss;  // 2 sum_i primal(m_i, s_i), one for each problem
    std::vector<double>
        slopes;  // K(z, X) times the derivative of the sum of primal by f; problems x landmarks
};

// The rows of the source are the landmarks, its columns the rows x. coefficients: problems x landmarks,
// signs: problems x n, weights: n.
LandmarkSums landmark_pass(const KernelSource<double>& source, int problems, const double* coefficients,
                           const double* signs, const double* weights, const OdmLoss& loss, Threads& threads);

}  // namespace sodm
