// The two losses, each through its margins m_i = y_i f(x_i) and signed duals g_i. W is the sum of the weights
// s_i.
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
    double theta, low, high;

    OdmLoss(double lam, double upsilon, double theta_, double total_weight)
        : theta(theta_), low(total_weight * (1 - theta_) * (1 - theta_) / lam), high(low / upsilon) {}

    double primal(double m, double s) const {
        const double under = std::max(0.0, 1 - theta - m), over = std::max(0.0, m - 1 - theta);
        return 0.5 * s * (under * under / low + over * over / high);
    }
    double slope(double m, double s) const {
        return s * (std::max(0.0, m - 1 - theta) / high - std::max(0.0, 1 - theta - m) / low);
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
    double feasible(double g, double) const { return g; }
    double dual_slope(double g, double s) const {
        return g >= 0 ? low / s * g - (1 - theta) : high / s * g - (1 + theta);
    }
    // How far an instance is from satisfying KKT, in units of the margin: the step its dual would make on its
    // own, times the curvature of that step.
    double violation(double m, double g, double s, double q) const {
        const double to = prox(q * g - m, q, s);
        return std::fabs(to - g) * (q + (to + g >= 0 ? low : high) / s);
    }
};

// Support vector machine without bias: primal term C s (1-m)_+, dual term -g on 0 <= g <= C s, C = lam / W.
struct HingeLoss {
    static constexpr bool kMostlyBounded = true;
    double cost;

    HingeLoss(double lam, double total_weight) : cost(lam / total_weight) {}

    double primal(double m, double s) const { return cost * s * std::max(0.0, 1 - m); }
    double dual(double g, double) const { return -g; }
    double prox(double r, double q, double s) const { return std::min(cost * s, std::max(0.0, (r + 1) / q)); }
    // Full where a row has a loss.
    double lift(double m, double s) const { return m < 1 ? cost * s : 0.0; }
    double feasible(double g, double s) const { return std::min(cost * s, std::max(0.0, g)); }
    double violation(double m, double g, double s, double q) const {
        return std::fabs(prox(q * g - m, q, s) - g) * q;
    }
};

}  // namespace sodm
