// The smallest eigenvalue of a symmetric matrix known through its products.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/memory.hpp"

namespace sodm {

// An estimate from above, after at most `steps` Lanczos steps; multiply(x, y) sets y = K x.
double smallest_eigenvalue(
    Index n, std::uint64_t seed, int steps,
    const std::function<void(const std::vector<double>& x, std::vector<double>& y)>& multiply);

}  // namespace sodm
