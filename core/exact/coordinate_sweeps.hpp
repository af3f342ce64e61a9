// Coordinate sweeps over a stored block of kernel values, for any loss with a one-dimensional prox.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernel/kernel_source.hpp"
#include "base/random.hpp"

namespace sodm {

// Sweeps over a stored square block k (n x n): g and f of its rows. Returns the sweeps made. Stops when no
// row violates KKT by more than `tol`, or `after_sweep` says so.
template <class T, class Loss, class AfterSweep>
int sweep(const T* k, Index n, double shift, const double* y, const double* s, const double* q, double* g,
          double* f, const Loss& loss, double tol, int max_sweeps, Random& random, AfterSweep after_sweep) {
    const SimdOps<T>& ops = simd<T>();
    std::vector<Index> active(static_cast<std::size_t>(n));
    std::iota(active.begin(), active.end(), Index(0));
    double last_violation = HUGE_VAL, recheck = 0;
    int sweeps = 0;
    while (sweeps < max_sweeps) {
        random.shuffle(active);
        double worst = 0;
        std::size_t kept = 0;
        for (Index i : active) {
            const double u = y[i] * f[i], violation = loss.violation(u, g[i], s[i], q[i]);
            worst = std::max(worst, violation);
            // Settled by a wider margin than anything still moves: leave it out until the final check.
            if (violation == 0 && loss.violation(u - last_violation, g[i], s[i], q[i]) == 0 &&
                loss.violation(u + last_violation, g[i], s[i], q[i]) == 0)
                continue;
            active[kept++] = i;
            const double step = loss.prox(q[i] * g[i] - u, q[i], s[i]) - g[i];
            if (step == 0) continue;
            g[i] += step;
            ops.add_scaled(k + i * n, step * y[i], f, n);
            f[i] += shift * step * y[i];
        }
        ++sweeps;
        const bool whole = active.size() == static_cast<std::size_t>(n);
        active.resize(kept);
        last_violation = worst;
        if (after_sweep()) break;
        if (whole) {
            if (worst <= tol) break;
            // Rows are left out on the evidence of one sweep; look at all of them again well before the end,
            // or the rest is polished for nothing.
            recheck = 0.1 * worst;
        } else if (worst <= std::max(tol, recheck)) {
            active.resize(static_cast<std::size_t>(n));  // the final unshrunk check
            std::iota(active.begin(), active.end(), Index(0));
            last_violation = HUGE_VAL;
        }
    }
    return sweeps;
}

}  // namespace sodm
