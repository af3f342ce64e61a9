// Sparse rows against panels of sparse columns.
#include <algorithm>

#include "kernel/point_kernel.hpp"

namespace sodm {

// Panels over all features, or, when there are very many, over the features that occur in these columns: slot
// 0 is a line of zeros for all others.
template <class T>
void PointKernel<T>::load_sparse_columns(Workspace<T>& work) const {
    constexpr int W = kPanel<T>;
    const int count = static_cast<int>(work.columns.size());
    const int lanes = lanes_for<T>(count);
    Index slots = z_.features;
    if (renumbers()) {
        if (work.slot_of_feature.size() != static_cast<std::size_t>(z_.features))
            work.slot_of_feature.assign(static_cast<std::size_t>(z_.features), 0);
        for (std::int32_t f : work.touched) work.slot_of_feature[static_cast<std::size_t>(f)] = 0;
        work.touched.clear();
        for (Index column : work.columns)
            for (auto e = z_.ptr[static_cast<std::size_t>(column)];
                 e < z_.ptr[static_cast<std::size_t>(column) + 1]; ++e) {
                const std::int32_t f = z_.feature[static_cast<std::size_t>(e)];
                auto& slot = work.slot_of_feature[static_cast<std::size_t>(f)];
                if (slot) continue;
                work.touched.push_back(f);
                slot = static_cast<std::int32_t>(work.touched.size());
            }
        slots = static_cast<Index>(work.touched.size()) + 1;
    }
    work.panels.assign(static_cast<std::size_t>(slots * lanes), T(0));
    for (int c = 0; c < count; ++c) {
        const auto column = static_cast<std::size_t>(work.columns[static_cast<std::size_t>(c)]);
        T* panel = work.panels.data() + static_cast<std::ptrdiff_t>(c / W) * W * slots + c % W;
        for (auto e = z_.ptr[column]; e < z_.ptr[column + 1]; ++e) {
            Index slot = z_.feature[static_cast<std::size_t>(e)];
            if (renumbers()) slot = work.slot_of_feature[static_cast<std::size_t>(slot)];
            panel[slot * W] = z_.value[static_cast<std::size_t>(e)];
        }
    }
}

// Rows of a tile, their features renumbered as the panel's are. Products with features that the panel does
// not have are left out, but every product stays in the one of two sums (see pair_sparse) that it would be in
// if they were not: so a kernel value does not depend on which other columns are in the panel.
template <class T>
void PointKernel<T>::gather_sparse_rows(Subset rows, Index first, int count, Workspace<T>& work) const {
    std::size_t entries = 0;
    for (int r = 0; r < count; ++r) {
        const auto i = static_cast<std::size_t>(rows[first + r]);
        entries += static_cast<std::size_t>(x_.ptr[i + 1] - x_.ptr[i]) + 1;
    }
    work.row_value.resize(entries);
    work.row_feature.resize(entries);
    work.row_ptr.assign(1, 0);
    if (!renumbers()) {  // as they are
        std::size_t at = 0;
        for (int r = 0; r < count; ++r) {
            const auto i = static_cast<std::size_t>(rows[first + r]);
            const auto begin = static_cast<std::size_t>(x_.ptr[i]),
                       size = static_cast<std::size_t>(x_.ptr[i + 1]) - begin;
            std::copy_n(x_.feature.data() + begin, size, work.row_feature.data() + at);
            std::copy_n(x_.value.data() + begin, size, work.row_value.data() + at);
            at += size;
            work.row_ptr.push_back(static_cast<std::int64_t>(at));
        }
        return;
    }
    // Only products vanish with the column's value; differences need every feature of the row.
    const bool leave_out = x_.layout.pairing == Pairing::product;
    std::size_t at = 0;
    for (int r = 0; r < count; ++r) {
        const auto i = static_cast<std::size_t>(rows[first + r]);
        const auto begin = static_cast<std::size_t>(x_.ptr[i]), end = static_cast<std::size_t>(x_.ptr[i + 1]);
        std::size_t next[2] = {at, at + 1};  // places of the first sum and of the second alternate
        for (std::size_t e = begin; e < end; ++e) {
            const std::int32_t f = work.slot_of_feature[static_cast<std::size_t>(x_.feature[e])];
            if (leave_out && f == 0) continue;
            std::size_t& place = next[(e - begin) & 1];
            work.row_feature[place] = f;
            work.row_value[place] = x_.value[e];
            place += 2;
        }
        const std::size_t stop = leave_out ? std::max(next[0], next[1] - 1) : at + (end - begin);
        for (std::size_t& place : next)
            for (; place < stop; place += 2) {
                work.row_feature[place] = 0;
                work.row_value[place] = T(0);
            }
        at = stop;
        work.row_ptr.push_back(static_cast<std::int64_t>(at));
    }
}

template void PointKernel<float>::load_sparse_columns(Workspace<float>&) const;
template void PointKernel<float>::gather_sparse_rows(Subset, Index, int, Workspace<float>&) const;
template void PointKernel<double>::load_sparse_columns(Workspace<double>&) const;
template void PointKernel<double>::gather_sparse_rows(Subset, Index, int, Workspace<double>&) const;

}  // namespace sodm
