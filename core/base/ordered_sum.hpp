// Sums over many numbers, by all threads, that do not depend on how many these are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/parallel.hpp"

namespace sodm {

// The sum of part(first, last) over parts of 0..n-1, each of a fixed size, in their order. `Sum` begins as
// Sum() and is added to by +=. Without threads the same sum, by the caller alone.
template <class Sum, class Part>
Sum ordered_sum(Threads* threads, std::size_t n, const Part& part) {
    constexpr std::size_t kPart = 2048;
    const std::size_t parts = (n + kPart - 1) / kPart;
    const auto one = [&](std::size_t k) { return part(k * kPart, std::min(n, (k + 1) * kPart)); };
    Sum total = Sum();
    if (!threads) {
        for (std::size_t k = 0; k < parts; ++k) total += one(k);
        return total;
    }
    std::vector<Sum> sums(parts);
    threads->run(parts, [&](std::size_t k, int) { sums[k] = one(k); });
    for (const Sum& sum : sums) total += sum;
    return total;
}

}  // namespace sodm
