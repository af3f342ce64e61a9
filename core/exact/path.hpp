// Machines along lam, as a search for parameters wants them: many small problems on parts of a few Gram
// matrices, each solved for one loss after the other, from the solution before, to a coarse gap.
//
// Coordinate sweeps do most of it: from a solution nearby a few of them are enough, and each costs as much as
// the rows that move. Where they are too slow, which their rate tells, Newton's method goes on from there.
#pragma once

#include <vector>

#include "exact/solve.hpp"

namespace sodm {

// n x n kernel values, without an offset.
struct GramMatrix {
    const float* values = nullptr;
    Index n = 0;
};

struct PathTask {
    GramMatrix gram;
    double offset = 0;  // added to all its values
    double theta = 0;   // of the loss
    Subset rows;        // positions in the Gram matrix
    Problem problem;    // signs, weights and offsets of these rows, and duals to start from
    std::vector<double> lams;
    Subset held;  // positions in the Gram matrix where f is wanted
};

struct PathSolution {
    std::vector<double> coefficients;  // losses x machines x rows: y g
    std::vector<double> seconds;       // one for each loss
    std::vector<double> held;          // losses x machines x held rows: f there
};

// What the loss of a theta and a lam is, given the sum of the weights.
template <class Loss>
using LossOf = std::function<Loss(double theta, double lam, double total)>;

// Tasks are solved side by side; few of them share the threads. Their number changes no result.
template <class Loss>
std::vector<PathSolution> solve_paths(const std::vector<PathTask>& tasks, const LossOf<Loss>& loss_of,
                                      const Options& options, Threads& threads);

}  // namespace sodm
