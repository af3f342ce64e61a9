#include "exact/newton_machine.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/ordered_sum.hpp"

namespace sodm {

namespace {

struct Objectives {
    double reg = 0, primal = 0, conjugate = 0, violation = 0;
    double of_base = 0;  // o'g, which `reg` has beside g'Qg

    void operator+=(const Objectives& other) {
        reg += other.reg;
        primal += other.primal;
        conjugate += other.conjugate;
        violation = std::max(violation, other.violation);
        of_base += other.of_base;
    }
};

}  // namespace

void Machine::assess(const OdmLoss& loss, Threads* threads) {
    const auto sums = ordered_sum<Objectives>(threads, size(), [&](std::size_t first, std::size_t last) {
        Objectives here;
        for (std::size_t i = first; i < last; ++i) {
            const double m = y[i] * f[i], g = y[i] * a[i];
            here.reg += a[i] * f[i];
            here.primal += loss.primal(m, s[i]);
            here.conjugate += loss.dual(g, s[i]);
            here.violation = std::max(here.violation, loss.violation(m, g, s[i], q[i]));
            here.of_base += a[i] * base_at(i);
        }
        return here;
    });
    violation = sums.violation;
    objective = (sums.reg - sums.of_base) / 2 + sums.primal;
    dual = (sums.reg + sums.of_base) / 2 + sums.conjugate;
    absolute_gap = objective + dual;
    gap = absolute_gap / std::max(std::fabs(objective), 1e-300);
    if (!std::isfinite(objective)) throw std::invalid_argument(kNotFinite);
}

namespace {

// Where an increasing function, negative at 0, passes zero: between 0 and `limit`, or `limit`. It may have
// jumps.
template <class Slope>
double find_step(const Slope& slope, double limit) {
    const double start = slope(0), enough = 0.02 * std::fabs(start);
    if (!(start < 0)) return 0;
    double low = 0, high = 1, slope_low = start, slope_high = slope(1);
    if (std::fabs(slope_high) <= enough) return 1;
    while (slope_high < 0) {
        if (high >= limit) return limit;
        low = high;
        slope_low = slope_high;
        high = std::min(limit, 2 * high);
        slope_high = slope(high);
    }
    // Relative to the step: with a large lam the Newton point may lie a million times too far.
    for (int k = 0; k < 40 && high - low > 1e-4 * high; ++k) {
        const double margin = 0.1 * (high - low);
        const double guess = std::clamp(low + (high - low) * slope_low / (slope_low - slope_high),
                                        low + margin, high - margin);
        const double value = slope(guess);
        if (std::fabs(value) <= enough) return guess;
        if (value < 0) {
            low = guess;
            slope_low = value;
        } else {
            high = guess;
            slope_high = value;
        }
    }
    return low;
}

// Of the way a, f to a + da, f + df: <da, f>, <da, df> and the sum of da.
struct Along {
    double linear = 0, quadratic = 0, sum = 0;

    void operator+=(const Along& other) {
        linear += other.linear;
        quadratic += other.quadratic;
        sum += other.sum;
    }
};

}  // namespace

double line_search(const Machine& machine, const Values& da, const Values& df, const OdmLoss& loss,
                   bool on_dual, double constant, double raise, Threads* threads) {
    const std::size_t n = machine.size();
    const auto along = ordered_sum<Along>(threads, n, [&](std::size_t first, std::size_t last) {
        Along here;
        for (std::size_t i = first; i < last; ++i) {
            here.linear += da[i] * machine.f[i];
            here.quadratic += da[i] * df[i];
            here.sum += da[i];
        }
        return here;
    });
    double linear = along.linear, quadratic = along.quadratic;
    const double sum_da = along.sum;
    linear += raise * sum_da;
    quadratic -= constant * sum_da * sum_da;
    if (on_dual)
        return find_step(
            [&](double step) {
                const auto part = [&](std::size_t first, std::size_t last) {
                    double sum = 0;
                    for (std::size_t i = first; i < last; ++i)
                        if (da[i] != 0) {
                            // At step 0 a coefficient that is zero has the slope of the side it is going to.
                            const double to = machine.y[i] * (machine.a[i] + step * da[i]),
                                         way = machine.y[i] * da[i];
                            sum += way *
                                   loss.dual_slope(to == 0 ? std::copysign(1e-300, way) : to, machine.s[i]);
                        }
                    return sum;
                };
                return linear + step * quadratic + ordered_sum<double>(threads, n, part);
            },
            2.0);
    for (std::size_t i = 0; i < machine.base.size(); ++i) linear -= da[i] * machine.base[i];
    return find_step(
        [&](double step) {
            const auto part = [&](std::size_t first, std::size_t last) {
                double sum = 0;
                for (std::size_t i = first; i < last; ++i)
                    sum += machine.y[i] * df[i] *
                           loss.slope(machine.y[i] * (machine.f[i] + step * df[i]), machine.s[i]);
                return sum;
            };
            return linear + step * quadratic + ordered_sum<double>(threads, n, part);
        },
        8.0);
}

template <class T, class U>
bool relax_block(Machine& machine, const OdmLoss& loss, double shift, Index first, int count, const T* block,
                 Index stride, int sweeps, U* change, double constant, double raise) {
    Values f(machine.f.begin() + first, machine.f.begin() + first + count);
    for (double& value : f) value += raise;
    double sum = 0;  // of all steps
    bool moved = false;
    const SimdOps<T>& ops = simd<T>();
    double first_sweep = 0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        double largest = 0;
        for (int r = 0; r < count; ++r) {
            const auto i = static_cast<std::size_t>(first + r);
            const double g = machine.y[i] * machine.a[i], q = machine.q[i] - constant;
            const double step =
                machine.y[i] *
                (loss.prox(q * g - machine.y[i] * f[static_cast<std::size_t>(r)], q, machine.s[i]) - g);
            if (step == 0) continue;
            machine.a[i] += step;
            change[r] += static_cast<U>(step);
            const T* row = block + r * stride;
            ops.add_scaled(row, step, f.data(), count);
            f[static_cast<std::size_t>(r)] += shift * step;
            sum += step;
            largest = std::max(largest, std::fabs(step) * q);
            moved = true;
        }
        if (sweep == 0) first_sweep = largest;
        if (largest < 1e-3 || largest < 0.1 * first_sweep) break;
    }
    if (moved)
        std::transform(f.begin(), f.end(), machine.f.begin() + first,
                       [&](double value) { return value - raise + constant * sum; });
    return moved;
}

template bool relax_block(Machine&, const OdmLoss&, double, Index, int, const float*, Index, int, float*,
                          double, double);
template bool relax_block(Machine&, const OdmLoss&, double, Index, int, const double*, Index, int, double*,
                          double, double);

}  // namespace sodm
