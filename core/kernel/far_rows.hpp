// Which tiles of a Gram matrix need no evaluation: their rows are so far apart that the kernel has come to a
// constant.
#pragma once

#include <vector>

#include "base/memory.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

// Boxes around groups of rows that follow each other. Two rows are at least as far apart as their boxes, so
// that a few hundred differences tell what the 16,384 values of a tile would. With rows in neighbourhood
// order and a narrow kernel that is nearly all of them (20,000 rows of covtype, gamma 32: 80 of 100 tiles, of
// 85 that are constant).
template <class T>
class FarRows {
  public:
    explicit FarRows(const KernelSource<T>& source)
        : source_(source), values_(static_cast<std::size_t>(source.box_values())) {}

    // The list of rows is this one now; the boxes of its first `known` rows, whole tiles, stay.
    void assign(const std::vector<Index>& rows, Index known);

    // Whether no value of rows of tile i with rows of tile j is more than `near` from source.far_value().
    bool apart(Index i, Index j, double near) const;

  private:
    static constexpr Index kGroup = 32;  // rows of a box: as many as neighbourhood_order leaves together

    const KernelSource<T>& source_;
    std::size_t values_;  // of a box; none where the source cannot tell
    Index groups_ = 0;
    std::vector<T> boxes_;
};

template <class T>
void FarRows<T>::assign(const std::vector<Index>& rows, Index known) {
    if (values_ == 0) return;
    const auto n = static_cast<Index>(rows.size());
    groups_ = (n + kGroup - 1) / kGroup;
    boxes_.resize(static_cast<std::size_t>(groups_) * values_);
    for (Index g = known / kGroup; g < groups_; ++g)
        source_.box(Subset{rows.data() + g * kGroup, std::min(kGroup, n - g * kGroup)},
                    boxes_.data() + static_cast<std::size_t>(g) * values_);
}

template <class T>
bool FarRows<T>::apart(Index i, Index j, double near) const {
    if (values_ == 0) return false;
    constexpr Index kOfTile = kTile / kGroup;
    const auto end = [&](Index tile) { return std::min(groups_, (tile + 1) * kOfTile); };
    for (Index a = i * kOfTile; a < end(i); ++a)
        for (Index b = j * kOfTile; b < end(j); ++b)
            if (!(source_.beyond_far(boxes_.data() + static_cast<std::size_t>(a) * values_,
                                     boxes_.data() + static_cast<std::size_t>(b) * values_) <= near))
                return false;
    return true;
}

}  // namespace sodm
