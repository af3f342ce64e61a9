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
// Rows whose steps are made together, so that f is brought up to date for all of them at once, by stretches
// that stay in the nearest cache and may go to several threads. The steps are those of one row after the
// other.
constexpr Index kChunk = 64, kStretch = 2048;
constexpr int kStepsInChunk = 3;  // rounds of steps among the rows of a chunk

// Sweeps in random order. Returns the sweeps made. Stops when no row violates KKT by more than `tol`, or
// `after_sweep` says so. `alone`: the caller is no task of `threads`, which may then help.
template <class T, class Loss, class AfterSweep>
int sweep(const SweepRows<T>& rows, const Loss& loss, double tol, int max_sweeps, Random& random,
          Threads& threads, int worker, bool alone, AfterSweep after_sweep) {
    const SimdOps<T>& ops = simd<T>();
    // No structured binding: lambdas below take these names, which C++17 does not allow of one.
    const T* const k = rows.k;
    const Index n = rows.n;
    const double shift = rows.shift;
    const double *const y = rows.y, *const s = rows.s, *const q = rows.q;
    double *const g = rows.g, *const f = rows.f;
    const Index chunk = n < 2 * kStretch ? 1 : kChunk;
    std::vector<Index> active(static_cast<std::size_t>(n));
    std::iota(active.begin(), active.end(), Index(0));
    std::vector<T> among(static_cast<std::size_t>(chunk * chunk));  // kernel values of the chunk's rows
    double at[kChunk], change[kChunk];
    bool known[kChunk], left_out[kChunk];
    double last_violation = HUGE_VAL, recheck = 0;
    int sweeps = 0;
    Index values = 0;
    while (sweeps < max_sweeps) {
        random.shuffle(active);
        double worst = 0;
        std::size_t kept = 0;
        for (std::size_t first = 0; first < active.size(); first += static_cast<std::size_t>(chunk)) {
            const Index* own = active.data() + first;
            const Index count = std::min(chunk, static_cast<Index>(active.size() - first));
            Index ids[kChunk];
            for (Index r = 0; r < count; ++r) {
                ids[r] = own[r];
                at[r] = f[own[r]];
                change[r] = 0;
                known[r] = left_out[r] = false;
            }
            for (int round = 0; round < (count > 1 ? kStepsInChunk : 1); ++round)
                for (Index r = 0; r < count; ++r) {
                    const Index i = ids[r];
                    const double u = y[i] * at[r], to = loss.prox(q[i] * g[i] - u, q[i], s[i]);
                    if (round == 0) {
                        const double violation = loss.moved(g[i], to, q[i], s[i]);
                        worst = std::max(worst, violation);
                        // Settled by a wider margin than anything still moves: leave it out until the final
                        // check.
                        if (violation == 0 && loss.violation(u - last_violation, g[i], s[i], q[i]) == 0 &&
                            loss.violation(u + last_violation, g[i], s[i], q[i]) == 0) {
                            left_out[r] = true;
                            continue;
                        }
                        active[kept++] = i;
                    } else if (left_out[r]) {
                        continue;
                    }
                    const double step = to - g[i];
                    if (step == 0) continue;
                    g[i] += step;
                    const double by = step * y[i];
                    change[r] += by;
                    if (count == 1) continue;
                    T* row = among.data() + r * chunk;
                    if (!known[r])
                        for (Index c = 0; c < count; ++c) row[c] = k[i * n + ids[c]];
                    known[r] = true;
                    for (Index c = 0; c < count; ++c) at[c] += by * static_cast<double>(row[c]);
                    at[r] += shift * by;
                }
            const auto update = [&](Index from, Index to) {
                for (Index r = 0; r < count; ++r)
                    if (change[r] != 0) ops.add_scaled(k + ids[r] * n + from, change[r], f + from, to - from);
            };
            Index moved = 0;
            for (Index r = 0; r < count; ++r) moved += change[r] != 0;
            if (moved == 0) continue;
            if (alone && moved > 4)
                threads.run(static_cast<std::size_t>((n + kStretch - 1) / kStretch), [&](std::size_t t, int) {
                    const Index from = static_cast<Index>(t) * kStretch;
                    update(from, std::min(n, from + kStretch));
                });
            else
                for (Index from = 0; from < n; from += kStretch) update(from, std::min(n, from + kStretch));
            for (Index r = 0; r < count; ++r) f[ids[r]] += shift * change[r];
            values += moved * n;
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

// task(machine, worker, alone) for each machine: several at a time, or one with all threads to itself.
template <class Task>
void for_each_machine(std::size_t machines, Threads& threads, const Task& task) {
    if (machines == 1)
        task(0, 0, true);
    else
        threads.run(machines, [&](std::size_t c, int worker) { task(c, worker, false); });
}

}  // namespace sodm
