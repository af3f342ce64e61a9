// Inner products of rows of bytes, where the processor multiplies and adds four of them per lane at once
// (VNNI): four times the rate of floats, and exact.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sodm {

struct ByteOps {
    // Rows of unsigned bytes, four to a quad, against a panel of 32 columns: panel[q * 32 + lane] holds four
    // signed bytes, the column's minus 128. With s the sum over all products,
    //   out[r * ldo + lane] = factor * (row_term[r] + column_term[lane] + weight * s),
    // the bracket in 32 bits.
    void (*pair)(const std::uint8_t* x, std::ptrdiff_t stride, int rows, int quads,
                 const std::uint32_t* panel, const std::int32_t* row_term, const std::int32_t* column_term,
                 std::int32_t weight, float factor, float* out, std::ptrdiff_t ldo);
};

// Null where the instruction set that `simd` has chosen has no such instruction.
const ByteOps* byte_ops();

}  // namespace sodm
