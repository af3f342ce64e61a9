#include "exact/momentum.hpp"

#include <numeric>

namespace sodm {

void Momentum::go_on(Machine& machine, const OdmLoss& loss, HeldBias* bias) {
    const std::size_t n = machine.size();
    if (!way_a_.empty()) {
        Values x(n), fx(n);
        for (std::size_t i = 0; i < n; ++i) {
            x[i] = machine.a[i] + way_a_[i];
            fx[i] = machine.f[i] + way_f_[i];
        }
        const double step = line_search(machine, x, fx, loss, true, bias ? bias->scale() : 0.0,
                                        bias ? bias->raise() : 0.0, &threads_);
        for (std::size_t i = 0; i < n; ++i) {
            machine.a[i] += step * way_a_[i];
            machine.f[i] += step * way_f_[i];
        }
        if (bias) bias->add(step * std::accumulate(way_a_.begin(), way_a_.end(), 0.0));
    }
    if (!a_.empty()) {
        way_a_.resize(n);
        way_f_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            way_a_[i] = machine.a[i] - a_[i];
            way_f_[i] = machine.f[i] - f_[i];
        }
    }
    a_ = machine.a;
    f_ = machine.f;
}

}  // namespace sodm
