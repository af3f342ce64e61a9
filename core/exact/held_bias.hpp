// A bias that is held while the coefficients settle.
//
//   K = K0 + c 11',   f = K0 a + b,   b = c sum_i a_i
//
// Where K0 is local, coordinate steps settle its rows in some passes. The constant couples all of them: the
// duals share one stiff direction, of curvature c n, along which steps of single rows go by the thousand. For
// a fixed b there is K0 alone; its solution a(b) leaves  c sum_i a_i(b) - b,  which falls with b, is
// piecewise linear, and zero at the optimum. So b is held, passes are made until they leave little of the gap
// beside what b leaves of it, and b goes to where the secant through the last two says.
//
//   gap(a, b) = sum_i young(m_i, g_i, s_i) + (c sum_i a_i - b)^2 / 2c,   m = y (K0 a + b)
//
// When that is small, a change of the coefficients that is tiny for each of them makes their sum that of b.
#pragma once

#include <algorithm>

#include "exact/newton_machine.hpp"

namespace sodm {

class HeldBias {
  public:
    HeldBias(double scale, const Machine& machine);

    double scale() const { return scale_; }  // c
    // What f = K a has to be raised by for the bias to be the one that is held.
    double raise() const { return value_ - scale_ * sum_; }
    // The coefficients have changed by so much in all.
    void add(double change) { sum_ += change; }

    // After a pass: lets the bias go on where it is what is left of the gap. Whether it went.
    bool follow(const Machine& machine, const OdmLoss& loss);
    // As of the last call of `follow`, before the bias went on: the gap, and as a share of the primal.
    double gap() const { return gap_; }
    double relative_gap() const { return gap_ / std::max(objective_, 1e-300); }

    // How each coefficient answers to a fall of f if it is alone.
    Values responses(const Machine& machine, const OdmLoss& loss) const;

  private:
    double scale_, sum_ = 0, value_ = 0;
    double gap_ = 0, objective_ = 0;
    double last_value_ = 0, last_excess_ = 0;
    bool has_last_ = false;
    double low_, high_;  // the optimum is between these
};

}  // namespace sodm
