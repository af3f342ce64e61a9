#include "base/lanczos.hpp"

#include <algorithm>
#include <cmath>

#include "base/linalg.hpp"
#include "base/random.hpp"

namespace sodm {

using Values = std::vector<double>;

double smallest_eigenvalue(Index n, std::uint64_t seed, int steps,
                           const std::function<void(const Values&, Values&)>& multiply) {
    Random random(seed);
    Values v(static_cast<std::size_t>(n)), previous(v.size(), 0.0), w;
    for (double& value : v) value = random.uniform() - 0.5;
    double norm = std::sqrt(dot(v.data(), v.data(), n));
    for (double& value : v) value /= norm;
    Values diagonal, off;
    for (int k = 0; k < std::min<Index>(n, steps); ++k) {
        multiply(v, w);
        const double alpha = dot(v.data(), w.data(), n);
        diagonal.push_back(alpha);
        for (std::size_t i = 0; i < v.size(); ++i)
            w[i] -= alpha * v[i] + (off.empty() ? 0.0 : off.back() * previous[i]);
        norm = std::sqrt(dot(w.data(), w.data(), n));
        if (!(norm > 1e-12)) break;
        off.push_back(norm);
        previous = v;
        for (std::size_t i = 0; i < v.size(); ++i) v[i] = w[i] / norm;
    }
    // Bisection on the tridiagonal matrix (Sturm count of eigenvalues below x).
    double low = 0, high = 0;
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
        const double radius = (k > 0 ? off[k - 1] : 0.0) + (k < off.size() ? off[k] : 0.0);
        low = std::min(low, diagonal[k] - radius);
        high = std::max(high, diagonal[k] + radius);
    }
    for (int step = 0; step < 100; ++step) {
        const double x = (low + high) / 2;
        double q = diagonal[0] - x;
        bool below = q < 0;
        for (std::size_t k = 1; k < diagonal.size() && !below; ++k) {
            q = diagonal[k] - x - off[k - 1] * off[k - 1] / (q != 0 ? q : 1e-300);
            below = q < 0;
        }
        (below ? high : low) = x;
    }
    return (low + high) / 2;
}

}  // namespace sodm
