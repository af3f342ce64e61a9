// How far a machine is from the best, shown in double: see src/sodm/solvers/certificate.py, which does the
// same for rows that are not all at hand in double.
#pragma once

#include <functional>

#include "base/loss.hpp"
#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"
#include "kernel/rounding.hpp"

namespace sodm {

struct Certificate {
    double objective = 0;
    double gap = 0;        // bound on the relative duality gap
    double violation = 0;  // largest violation of the optimality conditions, in units of the margin
};

// One machine as its solver left it; n rows.
struct FoundMachine {
    Index n = 0;
    const double* signs = nullptr;
    const double* weights = nullptr;
    const double* duals = nullptr;
    const double* diagonal = nullptr;  // k(x, x)
    double* decision = nullptr;  // f as the solver knows it; in double afterwards where it was computed anew
    double unit = 0;             // the roundoff of the solver's kernel values
};

// Kernel values of the same rows in double, made when they are asked for.
using ExactValues = std::function<const KernelSource<double>&()>;

// Looks at the machine. Most often the gap is shown to be within `tol` by what `rounding` allows the margins
// to be off, and no more is computed. If not, margins of support vectors are computed anew in double, from
// `exact`, and tell what the solver's are worth; if that does not show it either, all margins that count are.
template <class Loss>
Certificate certify(const ExactValues& exact, const Rounding& rounding, const FoundMachine& machine,
                    const Loss& loss, double tol, Threads& threads);

}  // namespace sodm
