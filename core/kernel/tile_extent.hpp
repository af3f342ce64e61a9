// The part of a tile of kernel values beyond which all are that of rows far apart.
//
// Of a narrow kernel groups of near rows end somewhere inside a tile: on 20,000 rows of covtype (gamma 32)
// four tenths of what is in tiles that are kept lie outside. That need not come from memory for a product.
#pragma once

#include <algorithm>

namespace sodm {

struct TileExtent {
    static constexpr int kColumns = 32;  // columns begin at multiples of it; of counts that is a cache line

    int first_row = 0, end_row = 0, first_column = 0, end_column = 0;

    int rows() const { return end_row - first_row; }
    int columns() const { return end_column - first_column; }
    bool has_row(int r) const { return r >= first_row && r < end_row; }
};

// Finds it for the first rows x columns values of a tile, from its edges inwards, and writes `far` beside it:
// the tile is then what products take it to be. all_far(values, n) tells of n values whether all are as good
// as `far`; `lanes` are the columns that may be read.
template <class V, class AllFar>
TileExtent trim(V* tile, int stride, int rows, int columns, int lanes, V far, const AllFar& all_far) {
    constexpr int kWidth = TileExtent::kColumns;
    const auto is_far = [&](int r, int c) {
        return all_far(tile + r * stride + c, std::min(kWidth, columns - c));
    };
    const auto far_row = [&](int r) {
        for (int c = 0; c < columns; c += kWidth)
            if (!is_far(r, c)) return false;
        return true;
    };
    TileExtent in{0, rows, 0, lanes};
    while (in.first_row < rows && far_row(in.first_row)) ++in.first_row;
    if (in.first_row == rows) in = {};
    while (in.end_row > in.first_row && far_row(in.end_row - 1)) --in.end_row;
    const auto far_column = [&](int c) {
        for (int r = in.first_row; r < in.end_row; ++r)
            if (!is_far(r, c)) return false;
        return true;
    };
    int last = (columns - 1) / kWidth * kWidth;
    while (in.rows() > 0 && far_column(in.first_column)) in.first_column += kWidth;
    for (; in.rows() > 0 && far_column(last); last -= kWidth) in.end_column = last;
    for (int r = 0; r < rows; ++r) {
        V* row = tile + r * stride;
        std::fill(row, row + (in.has_row(r) ? in.first_column : lanes), far);
        if (in.has_row(r)) std::fill(row + in.end_column, row + lanes, far);
    }
    return in;
}

}  // namespace sodm
