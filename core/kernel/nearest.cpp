#include "kernel/nearest.hpp"

#include <algorithm>
#include <cmath>

#include "base/parts.hpp"
#include "kernel/products.hpp"

namespace sodm {

namespace {

constexpr Index kValues = 1 << 15;  // of a task at a time: they stay in the cache of a core
constexpr Index kFewest = 16;       // rows of a task, at least
constexpr Index kCells = 8;         // of a task

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Runs of values of which none is below the second smallest so far are passed over, their minimum taken side
// by side.
void find_two(const double* values, const double* add, Index count, std::int32_t* centre, double* value) {
    constexpr Index kRun = 8;
    double first = HUGE_VAL, second = HUGE_VAL;
    Index nearest = 0, next = 0;
    for (Index c0 = 0; c0 < count; c0 += kRun) {
        double run[kRun];
        const Index length = std::min(kRun, count - c0);
        if (length == kRun) {
            double lowest[2] = {HUGE_VAL, HUGE_VAL};
            for (Index k = 0; k < kRun; k += 2)
                for (Index l = 0; l < 2; ++l) {
                    run[k + l] = values[c0 + k + l] + add[c0 + k + l];
                    lowest[l] = run[k + l] < lowest[l] ? run[k + l] : lowest[l];
                }
            if (!(lowest[0] < second || lowest[1] < second)) continue;
        } else {
            for (Index k = 0; k < length; ++k) run[k] = values[c0 + k] + add[c0 + k];
        }
        for (Index k = 0; k < length; ++k) {
            if (!(run[k] < second)) continue;
            const bool nearer = run[k] < first;
            second = nearer ? first : run[k];
            next = nearer ? nearest : c0 + k;
            if (!nearer) continue;
            first = run[k];
            nearest = c0 + k;
        }
    }
    centre[0] = static_cast<std::int32_t>(nearest);
    centre[1] = static_cast<std::int32_t>(next);
    value[0] = first;
    value[1] = second;
}

template <class T>
void add_row(const T* row, Index features, Index apart, double share, double* sum) {
    if (apart == 1)
        for (Index k = 0; k < features; ++k) sum[k] += share * static_cast<double>(row[k]);
    else
        for (Index k = 0; k < features; ++k) sum[k] += share * static_cast<double>(row[k * apart]);
}

}  // namespace

NearestTwo nearest_two(const KernelSource<double>& source, Index rows, Index centres, const double* add,
                       Threads& threads) {
    NearestTwo out;
    out.centre.resize(at(2 * rows));
    out.value.resize(at(2 * rows));
    const Index step = std::max(kFewest, kValues / std::max<Index>(1, centres));
    std::vector<Buffer<double>> room(at(threads.count()));
    threads.run(at((rows + step - 1) / step), [&](std::size_t task, int worker) {
        const Index first = static_cast<Index>(task) * step, count = std::min(step, rows - first);
        std::vector<Index> own(at(count));
        for (Index k = 0; k < count; ++k) own[at(k)] = first + k;
        Buffer<double>& values = room[at(worker)];
        values.resize(at(step * centres));
        Threads alone(1);
        kernel_block(source, Subset{own.data(), count}, Subset::all(centres), values.data(), centres, alone);
        for (Index k = 0; k < count; ++k)
            find_two(values.data() + k * centres, add, centres, out.centre.data() + 2 * (first + k),
                     out.value.data() + 2 * (first + k));
    });
    return out;
}

std::vector<double> means_of_cells(const RowsView& view, const Index* of, Index cells, Threads& threads) {
    std::vector<Index> begin(at(cells) + 1, 0), rows(at(view.n));
    for (Index i = 0; i < view.n; ++i) ++begin[at(of[i]) + 1];
    for (std::size_t c = 0; c < at(cells); ++c) begin[c + 1] += begin[c];
    std::vector<Index> place(begin.begin(), begin.end() - 1);
    for (Index i = 0; i < view.n; ++i) rows[at(place[at(of[i])]++)] = i;
    std::vector<double> means(at(cells * view.features), 0.0);
    in_parts(&threads, cells, kCells, [&](Index first, Index last) {
        for (Index c = first; c < last; ++c) {
            const double share = 1.0 / static_cast<double>(begin[at(c) + 1] - begin[at(c)]);
            double* sum = means.data() + c * view.features;
            const auto add = [&](const auto* values) {
                for (Index k = begin[at(c)]; k < begin[at(c) + 1]; ++k)
                    add_row(values + rows[at(k)] * view.row_stride, view.features, view.feature_stride, share,
                            sum);
            };
            if (view.single)
                add(static_cast<const float*>(view.values));
            else
                add(static_cast<const double*>(view.values));
        }
    });
    return means;
}

}  // namespace sodm
