// Coordinate sweeps over a stored block of kernel values, for any loss with a one-dimensional prox.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

// The rows of a stored square block: signs, weights and k(x, x) + shift are read, duals and f are changed.
template <class T>
struct SweepRows {
    const T* k;  // n x n kernel values
    Index n;
    double shift;
    const double *y, *s, *q;
    double *g, *f;
};

// Between two looks at the caller's wish to stop there are so many values of the block: some milliseconds.
constexpr Index kValuesBetweenChecks = Index(1) << 24;

// Sweeps in random order. Returns the sweeps made. Stops when no row violates KKT by more than `tol`, or
// `after_sweep` says so.
template <class T, class Loss, class AfterSweep>
int sweep(const SweepRows<T>& rows, const Loss& loss, double tol, int max_sweeps, Random& random,
          const Threads& threads, int worker, AfterSweep after_sweep) {
    const SimdOps<T>& ops = simd<T>();
    const auto [k, n, shift, y, s, q, g, f] = rows;
    std::vector<Index> active(static_cast<std::size_t>(n));
    std::iota(active.begin(), active.end(), Index(0));
    double last_violation = HUGE_VAL, recheck = 0;
    int sweeps = 0;
    Index values = 0;
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
            values += n;
            if (values >= kValuesBetweenChecks) {
                threads.check(worker);
                values = 0;
            }
        }
        ++sweeps;
        threads.check(worker);
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
