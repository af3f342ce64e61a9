#include "kernel/neighbourhood.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "kernel/products.hpp"

namespace sodm {

namespace {

constexpr Index kGroup = 32;     // rows that need no order among themselves
constexpr int kFreeLevels = 40;  // cuts that may be uneven; below them groups are halved
constexpr Index kPart = 2048;    // rows of a large group that one task looks at

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

struct Group {
    Index first, size;
};

// Tasks 0..count-1, each with a workspace: on all threads, or one after the other on that of the caller.
template <class T>
using Run = std::function<void(Index count, const std::function<void(Index, Workspace<T>&)>& task)>;

// Parts are sorted, then merged, two by two.
template <class T, class Value>
void sort_in_parts(std::vector<Value>& values, const Run<T>& run) {
    const auto n = static_cast<Index>(values.size());
    const auto end = [&](Index first, Index size) { return values.begin() + std::min(n, first + size); };
    run((n + kPart - 1) / kPart,
        [&](Index part, Workspace<T>&) { std::sort(end(part * kPart, 0), end(part * kPart, kPart)); });
    for (Index size = kPart; size < n; size *= 2)
        run((n + 2 * size - 1) / (2 * size), [&](Index pair, Workspace<T>&) {
            const Index first = 2 * pair * size;
            std::inplace_merge(end(first, 0), end(first, size), end(first, 2 * size));
        });
}

// Orders the rows of a group along the line between two of its ends, and returns where to cut.
template <class T>
Index cut(const KernelSource<T>& source, Index* rows, Index n, bool halve, const Run<T>& run) {
    std::vector<double> from(at(n)), to(at(n));
    const auto measure = [&](Index row, std::vector<double>& out) {
        run((n + kPart - 1) / kPart, [&](Index part, Workspace<T>& work) {
            const Index first = part * kPart;
            source.distances(row, Subset{rows + first, std::min(kPart, n - first)}, work, out.data() + first);
        });
    };
    const auto farthest = [&](const std::vector<double>& d) {
        return rows[std::max_element(d.begin(), d.end()) - d.begin()];
    };
    measure(rows[0], from);
    measure(farthest(from), to);
    measure(farthest(to), from);
    std::vector<std::pair<double, Index>> along(at(n));
    for (Index i = 0; i < n; ++i) along[at(i)] = {to[at(i)] - from[at(i)], rows[i]};
    sort_in_parts<T>(along, run);
    for (Index i = 0; i < n; ++i) rows[i] = along[at(i)].second;
    Index best = n / 2;
    if (halve) return best;
    double widest = 0;
    for (Index i = 1; i < n; ++i) {
        const double gap = along[at(i)].first - along[at(i - 1)].first;
        const double room = gap * std::sqrt(static_cast<double>(std::min(i, n - i)));
        if (room > widest) {
            widest = room;
            best = i;
        }
    }
    return best;
}

}  // namespace

template <class T>
double negligible(double scale) {
    return scale * static_cast<double>(std::numeric_limits<T>::epsilon()) / 1024;
}

template <class T>
bool is_local(const KernelSource<T>& source, Threads& threads) {
    constexpr Index kSample = 128;
    const Index n = source.rows();
    if (n < 8 * kSample) return false;
    std::vector<Index> some(at(kSample));
    for (Index k = 0; k < kSample; ++k) some[at(k)] = k * n / kSample;
    std::vector<T> values(at(kSample * kSample));
    const Subset list{some.data(), kSample};
    kernel_block(source, list, list, values.data(), kSample, threads);
    double scale = 0, lowest = HUGE_VAL;
    for (T v : values) {
        scale = std::max(scale, std::fabs(static_cast<double>(v)));
        lowest = std::min(lowest, static_cast<double>(v));
    }
    const double near = lowest + negligible<T>(scale) +
                        std::fabs(lowest) * static_cast<double>(std::numeric_limits<T>::epsilon());
    const auto constant =
        std::count_if(values.begin(), values.end(), [&](T v) { return static_cast<double>(v) <= near; });
    return 2 * constant > kSample * kSample;
}

template <class T>
std::vector<Index> neighbourhood_order(const KernelSource<T>& source, Threads& threads) {
    const Index n = source.rows();
    std::vector<Index> order(at(n));
    std::iota(order.begin(), order.end(), Index(0));
    std::vector<Workspace<T>> work(at(threads.count()));
    std::vector<Group> groups;
    if (n > kGroup) groups.push_back({0, n});
    for (int level = 0; !groups.empty(); ++level) {
        std::vector<Index> cuts(groups.size());
        const auto cut_group = [&](std::size_t g, const Run<T>& run) {
            cuts[g] = cut(source, order.data() + groups[g].first, groups[g].size, level >= kFreeLevels, run);
        };
        // Large groups are few: all threads work on each. Small ones are many: a thread for each.
        for (std::size_t g = 0; g < groups.size(); ++g)
            if (groups[g].size > kPart)
                cut_group(g, [&](Index count, const std::function<void(Index, Workspace<T>&)>& task) {
                    threads.run(at(count), [&](std::size_t k, int worker) {
                        task(static_cast<Index>(k), work[at(worker)]);
                    });
                });
        threads.run(groups.size(), [&](std::size_t g, int worker) {
            if (groups[g].size <= kPart)
                cut_group(g, [&](Index count, const std::function<void(Index, Workspace<T>&)>& task) {
                    for (Index k = 0; k < count; ++k) task(k, work[at(worker)]);
                });
        });
        std::vector<Group> next;
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (const Group half : {Group{groups[g].first, cuts[g]},
                                     Group{groups[g].first + cuts[g], groups[g].size - cuts[g]}})
                if (half.size > kGroup) next.push_back(half);
        groups = std::move(next);
    }
    return order;
}

template bool is_local(const KernelSource<float>&, Threads&);
template bool is_local(const KernelSource<double>&, Threads&);
template std::vector<Index> neighbourhood_order(const KernelSource<float>&, Threads&);
template std::vector<Index> neighbourhood_order(const KernelSource<double>&, Threads&);
template double negligible<float>(double);
template double negligible<double>(double);

}  // namespace sodm
