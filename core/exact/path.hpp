// Machines along lam, as a search for parameters wants them: many small problems on parts of one Gram matrix,
// each solved for one loss after the other, from the solution before, to a coarse gap.
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
    Subset rows;      // positions in the Gram matrix
    Problem problem;  // signs, weights and offsets of these rows, and duals to start from
    std::vector<double> lams;
    Subset held;  // positions in the Gram matrix where f is wanted
};

struct PathSolution {
    std::vector<double> coefficients;  // losses x machines x rows: y g
    std::vector<double> seconds;       // one for each loss
    std::vector<double> held;          // losses x machines x held rows: f there
};

// What the loss of a lam is, given the sum of the weights.
template <class Loss>
using LossOf = std::function<Loss(double lam, double total)>;

// The number of threads changes no result.
template <class Loss>
std::vector<PathSolution> solve_paths(const GramMatrix& gram, double offset,
                                      const std::vector<PathTask>& tasks, const LossOf<Loss>& loss_of,
                                      const Options& options, Threads& threads);

}  // namespace sodm
