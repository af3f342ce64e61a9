#include "kernel/spectrum.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernel/pivoted_cholesky.hpp"
#include "kernel/products.hpp"

namespace sodm {

namespace {

struct Sample {
    std::vector<Index> rows;
    double diagonal = 0;  // of them all, without the constant

    Subset subset() const { return {rows.data(), static_cast<Index>(rows.size())}; }
};

// So many of the rows, or all of them, at equal distances.
template <class T>
Sample sample_of(const KernelSource<T>& source, Index most) {
    const Index n = source.rows(), size = std::min(n, most);
    Sample out;
    for (Index k = 0; k < size; ++k) {
        const Index row = k * n / size;
        out.rows.push_back(row);
        out.diagonal += source.diagonal(row) - source.far_value();
    }
    return out;
}

}  // namespace

template <class T>
double rest_of_landmarks(const KernelSource<T>& source, Threads& threads) {
    constexpr Index kSample = 1024, kLandmarks = 256;
    const Sample some = sample_of(source, kSample);
    PivotOptions options;
    options.rank = kLandmarks;
    options.seed = 0;
    const auto found = pivoted_cholesky(source, some.subset(), options, threads);
    const double rest = std::accumulate(found.residual.begin(), found.residual.end(), 0.0);
    return some.diagonal > 0 ? rest / some.diagonal : 0.0;
}

template <class T>
double seen_by_a_row(const KernelSource<T>& source, Threads& threads) {
    constexpr Index kSample = 64;
    const Index n = source.rows();
    const Sample some = sample_of(source, kSample);
    std::vector<double> ones(some.rows.size(), 1.0), sums(static_cast<std::size_t>(n));
    kernel_apply(source, some.subset(), Subset::all(n), ones.data(), 1, sums.data(), threads);
    const double far = source.far_value() * static_cast<double>(some.rows.size());
    double seen = 0;
    for (double sum : sums) seen += sum - far;
    return some.diagonal > 0 ? seen / some.diagonal : 0.0;
}

template double rest_of_landmarks(const KernelSource<float>&, Threads&);
template double rest_of_landmarks(const KernelSource<double>&, Threads&);
template double seen_by_a_row(const KernelSource<float>&, Threads&);
template double seen_by_a_row(const KernelSource<double>&, Threads&);

}  // namespace sodm
