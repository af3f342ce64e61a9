#include "kernel/spectrum.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernel/pivoted_cholesky.hpp"

namespace sodm {

template <class T>
double rest_of_landmarks(const KernelSource<T>& source, Threads& threads) {
    constexpr Index kSample = 1024, kLandmarks = 256;
    const Index n = source.rows(), size = std::min(n, kSample);
    std::vector<Index> some(static_cast<std::size_t>(size));
    double diagonal = 0;
    for (Index k = 0; k < size; ++k) {
        const Index row = k * n / size;
        some[static_cast<std::size_t>(k)] = row;
        diagonal += source.diagonal(row) - source.far_value();
    }
    PivotOptions options;
    options.rank = kLandmarks;
    options.seed = 0;
    const auto found = pivoted_cholesky(source, Subset{some.data(), size}, options, threads);
    const double rest = std::accumulate(found.residual.begin(), found.residual.end(), 0.0);
    return diagonal > 0 ? rest / diagonal : 0.0;
}

template double rest_of_landmarks(const KernelSource<float>&, Threads&);
template double rest_of_landmarks(const KernelSource<double>&, Threads&);

}  // namespace sodm
