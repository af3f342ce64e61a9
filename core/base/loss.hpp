// The two losses, each through its margins m_i = y_i f(x_i) + o_i and signed duals g_i: the one definition of
// them in the core. W is the sum of the weights s_i; the offsets o_i are 0 unless a problem has some
// (solve.hpp).
//
//   primal(m, s)      the loss term of a row, primal'(m, s) its slope where there is one
//   dual(g, s)        its conjugate at -g
//   prox(r, q, s)     the minimiser over one dual, the rest fixed: r = q g - u, q the row's diagonal entry of
//   Q,
//                     u its entry of Q g
//   violation         how far a row is from the optimality conditions, in units of the margin
//   young(m, g, s)    what a row has of the duality gap, never negative (Fenchel and Young)
#pragma once

#include <algorithm>
#include <cmath>

namespace sodm {

// Optimal margin distribution machine (Eq. 1 of the paper, with one signed dual per instance):
//   primal term  s/2 [ (1-theta-m)_+^2 / low + (m-1-theta)_+^2 / high ]
//   dual term    low/(2s) g^2 - (1-theta) g  for g >= 0,   high/(2s) g^2 - (1+theta) g  for g < 0
//   low = W (1-theta)^2 / lam  (the paper's M c upsilon),  high = low / upsilon  (M c)
struct OdmLoss {
    static constexpr bool kMostlyBounded = false;
    double theta, upsilon, low, high;

    OdmLoss(double lam, double upsilon_, double theta_, double total_weight)
        : theta(theta_),
          upsilon(upsilon_),
          low(total_weight * (1 - theta_) * (1 - theta_) / lam),
          high(low / upsilon_) {}

    // With primal term  scale s/2 [ (1-theta-m)_+^2 + upsilon (m-1-theta)_+^2 ].
    static OdmLoss of_scale(double scale, double upsilon, double theta) {
        OdmLoss loss(1.0, upsilon, theta, 1.0);
        loss.low = 1 / scale;
        loss.high = loss.low / upsilon;
        return loss;
    }

    // Around targets t_i instead of 1: y = 1, offset 1 - t_i, and nothing is divided by (1 - theta)^2. Any
    // theta >= 0 (epsilon there) and upsilon > 0 will do.
    static OdmLoss of_targets(double lam, double upsilon, double epsilon, double total_weight) {
        return of_scale(lam / total_weight, upsilon, epsilon);
    }

    // Least squares: no zone and no sides, so that the optimum is the solution of one linear system.
    bool one_piece() const { return theta == 0 && low == high; }

    double primal(double m, double s) const {
        const double under = std::max(0.0, 1 - theta - m), over = std::max(0.0, m - 1 - theta);
        return 0.5 * s * (under * under / low + over * over / high);
    }
    double slope(double m, double s) const {
        return s * (std::max(0.0, m - 1 - theta) / high - std::max(0.0, 1 - theta - m) / low);
    }
    // The same without weight and scale, for loops without the time to divide: slope = s / low * shape_slope.
    double shape_slope(double m) const {
        const double below = 1 - theta, above = 1 + theta;
        return m < below ? m - below : m > above ? upsilon * (m - above) : 0.0;
    }
    double dual(double g, double s) const {
        return g >= 0 ? 0.5 * low / s * g * g - (1 - theta) * g : 0.5 * high / s * g * g - (1 + theta) * g;
    }
    // The dual that the KKT conditions give for a margin: the lift of a decision function to an instance.
    double lift(double m, double s) const { return -slope(m, s); }
    // Exact minimiser over one dual, the rest fixed: r = q g - u (method: one-dimensional prox).
    double prox(double r, double q, double s) const {
        if (r > -(1 - theta)) return (r + 1 - theta) / (q + low / s);
        if (r < -(1 + theta)) return (r + 1 + theta) / (q + high / s);
        return 0;
    }
    // The slack t on the side of g makes a square, (t - ridge g)^2 / 2 ridge; a margin on the other side of
    // the zone adds its own.
    double young(double m, double g, double s) const {
        return side(1 - theta - m, std::max(g, 0.0), low / s) +
               side(m - 1 - theta, std::max(-g, 0.0), high / s);
    }
    static double side(double t, double g, double ridge) {
        return t > 0 ? (t - ridge * g) * (t - ridge * g) / (2 * ridge) : g * (ridge * g / 2 - t);
    }
    double feasible(double g, double) const { return g; }
    double dual_slope(double g, double s) const {
        return g >= 0 ? low / s * g - (1 - theta) : high / s * g - (1 + theta);
    }
    // How far an instance is from satisfying KKT, in units of the margin: the step its dual would make on its
    // own, times the curvature of that step.
    double violation(double m, double g, double s, double q) const {
        return moved(g, prox(q * g - m, q, s), q, s);
    }
    // The same for a dual that has just made that step.
    double moved(double from, double to, double q, double s) const {
        return std::fabs(to - from) * (q + (to + from >= 0 ? low : high) / s);
    }
};

// Support vector machine without bias: primal term C s (1-m)_+, dual term -g on 0 <= g <= C s, C = lam / W.
struct HingeLoss {
    static constexpr bool kMostlyBounded = true;
    double cost;

    HingeLoss(double lam, double total_weight) : cost(lam / total_weight) {}
    // With primal term  scale s (1-m)_+.
    static HingeLoss of_scale(double scale) { return HingeLoss(scale, 1.0); }

    double primal(double m, double s) const { return cost * s * std::max(0.0, 1 - m); }
    double dual(double g, double) const { return -g; }
    double prox(double r, double q, double s) const { return std::min(cost * s, std::max(0.0, (r + 1) / q)); }
    // Full where a row has a loss.
    double lift(double m, double s) const { return m < 1 ? cost * s : 0.0; }
    double young(double m, double g, double s) const {
        return std::max(cost * s - g, 0.0) * std::max(1 - m, 0.0) + g * std::max(m - 1, 0.0);
    }
    double feasible(double g, double s) const { return std::min(cost * s, std::max(0.0, g)); }
    bool is_free(double g, double s) const { return g > 0 && g < cost * s; }
    double violation(double m, double g, double s, double q) const {
        return moved(g, prox(q * g - m, q, s), q, s);
    }
    double moved(double from, double to, double q, double) const { return std::fabs(to - from) * q; }
};

}  // namespace sodm
