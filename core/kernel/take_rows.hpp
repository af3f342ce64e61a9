// Some rows of a dense array, copied.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/parts.hpp"

namespace sodm {

// out[k * width ..] = the row of number index[k], of `width` bytes each. New memory is cleared by the system
// when it is first written to, which takes as long as the copy: both are done by all threads.
inline void take_rows(const char* rows, std::size_t width, const Index* index, Index n, char* out,
                      Threads& threads) {
    constexpr std::size_t kBytes = std::size_t(1) << 19;  // of a task
    const auto size = static_cast<Index>(std::max<std::size_t>(1, kBytes / std::max<std::size_t>(1, width)));
    in_parts(&threads, n, size, [&](Index first, Index last) {
        for (Index k = first; k < last; ++k)
            std::copy_n(rows + static_cast<std::size_t>(index[k]) * width, width,
                        out + static_cast<std::size_t>(k) * width);
    });
}

}  // namespace sodm
