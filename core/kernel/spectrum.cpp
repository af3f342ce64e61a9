#include "kernel/spectrum.hpp"

#include <numeric>
#include <vector>

#include "kernel/pivoted_cholesky.hpp"

namespace sodm {

template <class T>
bool has_flat_spectrum(const KernelSource<T>& source, Threads& threads) {
    constexpr Index kSample = 1024, kLandmarks = 256;
    constexpr double kRest = 0.35;  // of the diagonal
    const Index n = source.rows();
    if (n < kSample) return false;
    std::vector<Index> some(static_cast<std::size_t>(kSample));
    double diagonal = 0;
    for (Index k = 0; k < kSample; ++k) {
        const Index row = k * n / kSample;
        some[static_cast<std::size_t>(k)] = row;
        diagonal += source.diagonal(row) - source.far_value();
    }
    PivotOptions options;
    options.rank = kLandmarks;
    options.seed = 0;
    const auto found = pivoted_cholesky(source, Subset{some.data(), kSample}, options, threads);
    const double rest = std::accumulate(found.residual.begin(), found.residual.end(), 0.0);
    return rest > kRest * diagonal;
}

template bool has_flat_spectrum(const KernelSource<float>&, Threads&);
template bool has_flat_spectrum(const KernelSource<double>&, Threads&);

}  // namespace sodm
