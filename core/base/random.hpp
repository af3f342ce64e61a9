// Random numbers that are the same on every machine and compiler (the standard library's distributions are
// not).
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/memory.hpp"

namespace sodm {

// splitmix64
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    // 0..n-1; the bias of the remainder is below n / 2^64.
    Index below(Index n) { return static_cast<Index>(next() % static_cast<std::uint64_t>(n)); }
    void shuffle(std::vector<Index>& list) {
        for (auto i = static_cast<Index>(list.size()); i > 1; --i)
            std::swap(list[static_cast<std::size_t>(i - 1)], list[static_cast<std::size_t>(below(i))]);
    }
    std::vector<Index> permutation(Index n) {
        std::vector<Index> list(static_cast<std::size_t>(n));
        std::iota(list.begin(), list.end(), Index(0));
        shuffle(list);
        return list;
    }

  private:
    std::uint64_t state_;
};

}  // namespace sodm
