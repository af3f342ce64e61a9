// Coordinate descent on a stored block, in parts: the rows that are furthest from their optimality conditions
// are solved among themselves where all they need stays in the cache, then f is brought up to date for all
// rows by one product.
//
// A step of a plain sweep reads a row of the block, from memory, for one dual; most sweeps of a machine with
// hard bounds and few free duals go to rows that hardly move. A part's steps read a row of the part.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "exact/coordinate_sweeps.hpp"

namespace sodm {

// Settled on hinge fits of a9a, cod-rna and ijcnn1 (C from 8 to 512).
constexpr Index kPart = 768;        // rows of a part: its values are two megabytes
constexpr int kSweepsOfPart = 400;  // at most
// A part is solved to this share of the violation it was chosen for.
constexpr double kOfWorst = 0.2;

template <class T>
struct Part {
    std::vector<Index> rows;
    Buffer<T> k;
    std::vector<double> y, s, q, g, f, before;

    // The values of these rows of a block.
    void gather(const SweepRows<T>& block, Threads& threads, bool alone) {
        const auto n = static_cast<Index>(rows.size());
        k.resize(static_cast<std::size_t>(n * n));
        const auto copy = [&](Index from, Index to) {
            for (Index r = from; r < to; ++r)
                for (Index c = 0; c < n; ++c)
                    k[static_cast<std::size_t>(r * n + c)] =
                        block.k[rows[static_cast<std::size_t>(r)] * block.n +
                                rows[static_cast<std::size_t>(c)]];
        };
        if (alone)
            threads.run(static_cast<std::size_t>((n + kChunk - 1) / kChunk), [&](std::size_t t, int) {
                const Index from = static_cast<Index>(t) * kChunk;
                copy(from, std::min(n, from + kChunk));
            });
        else
            copy(0, n);
        for (auto* values : {&y, &s, &q, &g, &f}) values->resize(rows.size());
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const Index i = rows[r];
            y[r] = block.y[i];
            s[r] = block.s[i];
            q[r] = block.q[i];
            g[r] = block.g[i];
            f[r] = block.f[i];
        }
        before = g;
    }

    // The duals and their product go back to the block.
    void scatter(const SweepRows<T>& block, Threads& threads, bool alone) const {
        const SimdOps<T>& ops = simd<T>();
        const auto update = [&](Index from, Index to) {
            for (std::size_t r = 0; r < rows.size(); ++r)
                if (g[r] != before[r])
                    ops.add_scaled(block.k + rows[r] * block.n + from, y[r] * (g[r] - before[r]),
                                   block.f + from, to - from);
        };
        const Index stretches = (block.n + kStretch - 1) / kStretch;
        const auto stretch = [&](std::size_t t, int) {
            const Index from = static_cast<Index>(t) * kStretch;
            update(from, std::min(block.n, from + kStretch));
        };
        if (alone)
            threads.run(static_cast<std::size_t>(stretches), stretch);
        else
            for (Index t = 0; t < stretches; ++t) stretch(static_cast<std::size_t>(t), 0);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            block.g[rows[r]] = g[r];
            block.f[rows[r]] += block.shift * y[r] * (g[r] - before[r]);
        }
    }
};

// Until no row of the block violates its conditions by more than `tol`, or `after_part`, which is told how
// many kernel values the part has read, says so. Returns the parts that were solved. `alone` as for `sweep`.
template <class T, class Loss, class AfterPart>
int descend_in_parts(const SweepRows<T>& block, const Loss& loss, double tol, int max_parts, Random& random,
                     Threads& threads, int worker, bool alone, AfterPart after_part) {
    const auto n = static_cast<std::size_t>(block.n);
    std::vector<double> violation(n);
    std::vector<char> taken(n);
    std::vector<Index> order;
    Part<T> part;
    int parts = 0;
    while (parts < max_parts) {
        threads.check(worker);
        double worst = 0;
        for (std::size_t i = 0; i < n; ++i) {
            violation[i] = loss.violation(block.y[i] * block.f[i], block.g[i], block.s[i], block.q[i]);
            worst = std::max(worst, violation[i]);
        }
        if (worst <= tol) break;
        // Half of a part are the rows that violate most; the rest those of the last one, whose duals have to
        // give way to them.
        order.clear();
        for (Index i = 0; i < block.n; ++i)
            if (violation[static_cast<std::size_t>(i)] > 0) order.push_back(i);
        const auto more = [&](Index p, Index q) {
            const double a = violation[static_cast<std::size_t>(p)],
                         b = violation[static_cast<std::size_t>(q)];
            return a > b || (a == b && p < q);
        };
        const auto keep_most_violated = [&](Index most) {
            if (static_cast<Index>(order.size()) <= most) return;
            std::nth_element(order.begin(), order.begin() + most, order.end(), more);
            order.resize(static_cast<std::size_t>(most));
        };
        const std::vector<Index> last = part.rows;
        keep_most_violated(last.empty() ? kPart : kPart / 2);
        part.rows = order;
        std::fill(taken.begin(), taken.end(), char(0));
        for (Index i : part.rows) taken[static_cast<std::size_t>(i)] = 1;
        for (Index i : last) {
            if (static_cast<Index>(part.rows.size()) >= kPart) break;
            if (!taken[static_cast<std::size_t>(i)] && block.g[i] != 0) part.rows.push_back(i);
        }
        std::sort(part.rows.begin(), part.rows.end());
        part.gather(block, threads, alone);
        const SweepRows<T> own{part.k.data(), static_cast<Index>(part.rows.size()),
                               block.shift,   part.y.data(),
                               part.s.data(), part.q.data(),
                               part.g.data(), part.f.data()};
        const int sweeps = sweep(own, loss, std::max(kOfWorst * worst, 0.5 * tol), kSweepsOfPart, random,
                                 threads, worker, false, [] { return false; });
        part.scatter(block, threads, alone);
        ++parts;
        const auto size = static_cast<double>(part.rows.size());
        if (after_part(size * (size * sweeps + static_cast<double>(block.n)))) break;
    }
    return parts;
}

}  // namespace sodm
