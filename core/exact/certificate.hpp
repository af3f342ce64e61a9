// How far a machine is from the best, shown in double: see src/sodm/solvers/certificate.py, which does the
// same for rows that are not all at hand in double.
#pragma once

#include "base/loss.hpp"
#include "base/parallel.hpp"
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
    double* decision = nullptr;  // f as the solver knows it; in double afterwards where it was computed anew
    double unit = 0;             // the roundoff of the solver's kernel values
};

// Looks at the machine: margins of support vectors are computed anew in double, from `exact`, and tell what
// the solver's are worth; if the gap cannot be shown to be within `tol` by that, all margins that count are.
// `rounding` compares the errors of the rows.
template <class Loss>
Certificate certify(const KernelSource<double>& exact, const Rounding& rounding, const FoundMachine& machine,
                    const Loss& loss, double tol, Threads& threads);

}  // namespace sodm
