// Rows whose values are whole multiples 0, 1, ..., 255 of one step: pictures, counts, marks, 0/1. Inner
// products and distances of such rows are sums over bytes: exact, and faster than those of floats where
// `byte_ops` are.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory.hpp"

namespace sodm {

struct RowsView;
class Threads;

constexpr Index kByteFeatures = 32;           // with fewer, the kernel function takes longer than the product
constexpr Index kMostByteFeatures = 1 << 15;  // 255^2 times as many fit 32 bits

// The step of these values, or 0 if they have none. Looks at a fixed sample of rows.
double find_step(const RowsView& view);

struct ByteRows {
    Index stride = 0;            // bytes of a row: whole quads, zero beyond the last feature
    Buffer<std::uint8_t> value;  // n x stride
    std::vector<std::int32_t> sum, square;
    // Whether a row has bytes is a matter of that row alone. Those without are zeros here.
    std::vector<std::uint8_t> fits;
    bool whole = false;  // all rows fit

    ByteRows() = default;
    ByteRows(const RowsView& view, double step, Threads* threads = nullptr);
};

}  // namespace sodm
