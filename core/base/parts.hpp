// Work on numbers 0..n-1 of which none needs another's: in parts of a fixed size, by all threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/memory.hpp"
#include "base/parallel.hpp"

namespace sodm {

// Calls part(first, last) for parts of so many numbers. Without threads, or for one part, by the caller
// alone.
template <class Part>
void in_parts(Threads* threads, Index n, Index size, const Part& part) {
    const Index parts = (n + size - 1) / size;
    if (threads && parts > 1)
        threads->run(static_cast<std::size_t>(parts), [&](std::size_t k, int) {
            const Index first = static_cast<Index>(k) * size;
            part(first, std::min(n, first + size));
        });
    else if (n > 0)
        part(Index(0), n);
}

}  // namespace sodm
