#include "exact/held_bias.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sodm {

namespace {
// The share of what the bias leaves of the gap that the coefficients may leave when it goes on: what is known
// of the secant is not better than they are.
constexpr double kSettled = 0.25;
constexpr double kLongest = 4;  // times the last step, where only one side of the optimum is known
}  // namespace

HeldBias::HeldBias(double scale, const Machine& machine)
    : scale_(scale),
      sum_(std::accumulate(machine.a.begin(), machine.a.end(), 0.0)),
      value_(scale * sum_),
      low_(-HUGE_VAL),
      high_(HUGE_VAL) {}

Values HeldBias::responses(const Machine& machine, const OdmLoss& loss) const {
    Values out(machine.size(), 0.0);
    for (std::size_t i = 0; i < machine.size(); ++i)
        if (machine.a[i] != 0) {
            const double ridge = machine.y[i] * machine.a[i] > 0 ? loss.low : loss.high;
            out[i] = 1 / (machine.q[i] - scale_ + ridge / machine.s[i]);
        }
    return out;
}

bool HeldBias::follow(const Machine& machine, const OdmLoss& loss) {
    const double excess = scale_ * sum_ - value_, by_bias = excess * excess / (2 * scale_);
    double by_rows = 0, norm = -scale_ * sum_ * sum_, losses = 0;
    for (std::size_t i = 0; i < machine.size(); ++i) {
        const double m = machine.y[i] * (machine.f[i] - excess);
        by_rows += loss.young(m, machine.y[i] * machine.a[i], machine.s[i]);
        losses += loss.primal(m, machine.s[i]);
        norm += machine.a[i] * (machine.f[i] - machine.base_at(i));
    }
    gap_ = by_rows + by_bias;
    objective_ = norm / 2 + value_ * value_ / (2 * scale_) + losses;
    if (by_rows > kSettled * by_bias) return false;

    (excess > 0 ? low_ : high_) = value_;
    // The slope of c sum a(b) - b is between -1, no coefficient answering, and that of all of them alone.
    const Values answers = responses(machine, loss);
    const double steep = -1 - scale_ * std::accumulate(answers.begin(), answers.end(), 0.0);
    double slope = steep;
    if (has_last_ && value_ != last_value_)
        slope = std::clamp((excess - last_excess_) / (value_ - last_value_), steep, -1.0);
    double next = value_ - excess / slope;
    if (has_last_ && std::isinf(low_ + high_)) {
        const double most = kLongest * std::fabs(value_ - last_value_);
        next = std::clamp(next, value_ - most, value_ + most);
    }
    if (!(low_ < next && next < high_)) next = (low_ + high_) / 2;
    last_value_ = value_;
    last_excess_ = excess;
    has_last_ = true;
    value_ = next;
    return true;
}

}  // namespace sodm
