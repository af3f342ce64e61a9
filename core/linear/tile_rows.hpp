// Rows taken a tile at a time: in place, or copied together when features are strided.
#pragma once

#include "linear/linear_rows.hpp"

namespace sodm {

constexpr int kTileRows = 32;  // rows looked at together where rows are wide

template <class T>
class TileRows {
  public:
    explicit TileRows(const LinearRows& rows)
        : rows_(rows), strided_(!rows.view.sparse && rows.view.feature_stride != 1) {
        if (strided_) copy_.resize(static_cast<std::size_t>(kTileRows * rows.view.features));
    }
    // A reader of the rows first..first+n-1; row numbers given to it are relative to offset().
    RowReader<T> load(Index first, int n) {
        if (!strided_) {
            offset_ = 0;
            return RowReader<T>(rows_);
        }
        const RowsView& view = rows_.view;
        const T* values = static_cast<const T*>(view.values);
        for (Index k = 0; k < view.features; ++k)
            for (int r = 0; r < n; ++r)
                copy_[r * view.features + k] =
                    values[(first + r) * view.row_stride + k * view.feature_stride];
        LinearRows tile = rows_;
        tile.view.values = copy_.data();
        tile.view.row_stride = view.features;
        tile.view.feature_stride = 1;
        offset_ = first;
        return RowReader<T>(tile);
    }
    Index offset() const { return offset_; }

  private:
    const LinearRows& rows_;
    const bool strided_;
    Buffer<T> copy_;
    Index offset_ = 0;
};

}  // namespace sodm
