#include "exact/working_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sodm {

namespace {
std::size_t at(Index i) { return static_cast<std::size_t>(i); }
}  // namespace

std::vector<Index> WorkingSet::extend(const std::vector<Machine>& machines, const OdmLoss& loss) {
    const auto n = static_cast<Index>(is_member_.size());
    Values distance(at(n), HUGE_VAL);  // into the dead zone, negative outside
    for (const Machine& machine : machines)
        for (Index i = 0; i < n; ++i) {
            const double margin = machine.y[at(i)] * machine.f[at(i)];
            double inside = std::min(margin - (1 - loss.theta), 1 + loss.theta - margin);
            if (machine.a[at(i)] != 0) inside = std::min(inside, -1e-9);
            distance[at(i)] = std::min(distance[at(i)], inside);
        }
    std::vector<Index> wanted, inside;
    for (Index i = 0; i < n; ++i) (distance[at(i)] < 0 ? wanted : inside).push_back(i);
    const auto nearer = [&](Index p, Index q) {
        return distance[at(p)] < distance[at(q)] || (distance[at(p)] == distance[at(q)] && p < q);
    };
    const auto nearest = std::min(inside.size(), wanted.size() / 8 + 64);
    if (nearest > 0) {
        std::nth_element(inside.begin(), inside.begin() + static_cast<Index>(nearest) - 1, inside.end(),
                         nearer);
        wanted.insert(wanted.end(), inside.begin(), inside.begin() + static_cast<Index>(nearest));
    }
    // Those that will leave A last: so that tiles of rows that have left it stand together.
    std::sort(wanted.begin(), wanted.end(), nearer);
    std::vector<Index> fresh;
    for (Index i : wanted)
        if (!is_member_[at(i)]) fresh.push_back(i);
    if (4 * (members_.size() + fresh.size()) > 5 * wanted.size()) {
        std::fill(is_member_.begin(), is_member_.end(), char(0));
        members_.clear();
        fresh = wanted;
    }
    members_.insert(members_.end(), fresh.begin(), fresh.end());
    for (Index i : fresh) is_member_[at(i)] = 1;
    return fresh;
}

std::vector<Index> WorkingSet::take_all() {
    if (members_.size() == is_member_.size()) return {};
    members_.resize(is_member_.size());
    std::iota(members_.begin(), members_.end(), Index(0));
    std::fill(is_member_.begin(), is_member_.end(), char(1));
    return members_;
}

std::vector<Index> WorkingSet::others() const {
    std::vector<Index> rows;
    for (std::size_t i = 0; i < is_member_.size(); ++i)
        if (!is_member_[i]) rows.push_back(static_cast<Index>(i));
    return rows;
}

std::vector<Machine> WorkingSet::gather(const std::vector<Machine>& machines) const {
    std::vector<Machine> local(machines.size());
    for (std::size_t c = 0; c < machines.size(); ++c) {
        const Machine& machine = machines[c];
        local[c].resize(members_.size());
        for (std::size_t k = 0; k < members_.size() && !machine.base.empty(); ++k)
            local[c].base.push_back(machine.base[at(members_[k])]);
        local[c].iterations = machine.iterations;
        local[c].guessed = machine.guessed;
        local[c].stepped = machine.stepped;
        for (std::size_t k = 0; k < members_.size(); ++k) {
            const auto i = at(members_[k]);
            local[c].y[k] = machine.y[i];
            local[c].s[k] = machine.s[i];
            local[c].q[k] = machine.q[i];
            local[c].a[k] = machine.a[i];
            local[c].f[k] = machine.f[i];
        }
    }
    return local;
}

void WorkingSet::scatter(const std::vector<Machine>& local, std::vector<Machine>& machines) const {
    for (std::size_t c = 0; c < machines.size(); ++c) {
        machines[c].iterations = local[c].iterations;
        machines[c].guessed = local[c].guessed;
        machines[c].stepped = local[c].stepped;
        for (std::size_t k = 0; k < members_.size(); ++k) {
            machines[c].a[at(members_[k])] = local[c].a[k];
            machines[c].f[at(members_[k])] = local[c].f[k];
        }
    }
}

}  // namespace sodm
