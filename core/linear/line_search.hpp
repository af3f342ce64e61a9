// The smallest value of the objective along a line, from margins alone.
#pragma once

#include <cmath>
#include <vector>

#include "base/loss.hpp"
#include "linear/row_list.hpp"

namespace sodm {

// t > 0 where the derivative of
//   f(t) = 1/2 |w + t d|^2 + sum_i primal(m_i + t q_i, s_i)
// is zero, up to a thousandth of f'(0) or to rounding. f' is increasing and piecewise linear: Newton's
// method on it, kept between points where its signs differ. wd = <w, d>, dd = <d, d>; weight may be null. 0
// if d does not lead down.
inline double line_search(const OdmLoss& loss, const double* weight, const double* margin,
                          const double* along, Index n, double wd, double dd, const Crew& crew) {
    constexpr Index kBlock = 1 << 14;
    constexpr double kEnough = 1e-3, kRounding = 1e-15;
    const double low = 1 - loss.theta, high = 1 + loss.theta, below = 1 / loss.low, above = 1 / loss.high;
    struct Sum {
        double slope, curvature, size;
    };
    std::vector<Sum> parts(static_cast<std::size_t>((n + kBlock - 1) / kBlock));
    const auto look = [&](double t) {
        crew.run(parts.size(), [&](std::size_t b, Watch watch) {
            Sum sum{0, 0, 0};
            const Index from = static_cast<Index>(b) * kBlock, to = std::min(n, from + kBlock);
            for (Index i = from; i < to; ++i) {
                const double q = along[i], m = margin[i] + t * q, s = weight ? weight[i] : 1.0;
                const double past = std::min(m - low, 0.0) + std::max(m - high, 0.0);
                const double h = past < 0 ? s * below : past > 0 ? s * above : 0.0, term = h * past * q;
                sum.slope += term;
                sum.curvature += h * q * q;
                sum.size += std::fabs(term);
            }
            watch.did(to - from);
            parts[b] = sum;
        });
        Sum all{wd + t * dd, dd, std::fabs(wd) + t * dd};
        for (const Sum& part : parts) {
            all.slope += part.slope;
            all.curvature += part.curvature;
            all.size += part.size;
        }
        return all;
    };
    const Sum start = look(0.0);
    if (!(start.slope < 0)) return 0.0;
    double from = 0, to = HUGE_VAL, t = 1;
    for (int k = 0; k < 100; ++k) {
        const Sum here = look(t);
        if (std::fabs(here.slope) <= std::max(-kEnough * start.slope, kRounding * here.size)) break;
        (here.slope < 0 ? from : to) = t;
        double next = t - here.slope / here.curvature;
        if (!(next > from && next < to)) next = std::isfinite(to) ? 0.5 * (from + to) : 2 * t;
        if (next == t) break;
        t = next;
    }
    return t;
}

}  // namespace sodm
