#include "exact/momentum.hpp"

#include <numeric>

#include "base/parts.hpp"

namespace sodm {

void Momentum::go_on(Machine& machine, const OdmLoss& loss, HeldBias* bias) {
    constexpr Index kRows = 4096;  // of a task
    const std::size_t n = machine.size();
    const bool goes = !way_a_.empty(), knows = !a_.empty();
    double step = 0;
    if (goes) {
        step = line_search(machine, way_a_, way_f_, loss, true, bias ? bias->scale() : 0.0,
                           bias ? bias->raise() : 0.0, &threads_);
        if (bias) bias->add(step * std::accumulate(way_a_.begin(), way_a_.end(), 0.0));
    }
    if (knows) {
        way_a_.resize(n);
        way_f_.resize(n);
    }
    a_.resize(n);
    f_.resize(n);
    in_parts(&threads_, static_cast<Index>(n), kRows, [&](Index first, Index last) {
        for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
            if (goes) {
                machine.a[i] += step * way_a_[i];
                machine.f[i] += step * way_f_[i];
            }
            if (knows) {
                way_a_[i] = machine.a[i] - a_[i];
                way_f_[i] = machine.f[i] - f_[i];
            }
            a_[i] = machine.a[i];
            f_[i] = machine.f[i];
        }
    });
}

}  // namespace sodm
