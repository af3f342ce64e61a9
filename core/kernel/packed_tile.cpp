#include "kernel/packed_tile.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernel/products.hpp"

namespace sodm {

template <class T>
double packing_error(const KernelSource<T>& source, Threads& threads) {
    constexpr Index kSample = 128;
    const Index n = source.rows(), count = std::min(n, kSample);
    if (!source.falls_with_distance() || n == 0) return HUGE_VAL;
    std::vector<Index> some(static_cast<std::size_t>(count));
    double highest = 0;
    for (Index i = 0; i < n; ++i) highest = std::max(highest, source.diagonal(i));
    for (Index k = 0; k < count; ++k) some[static_cast<std::size_t>(k)] = k * n / count;
    std::vector<T> values(static_cast<std::size_t>(count * count));
    const Subset list{some.data(), count};
    kernel_block(source, list, list, values.data(), count, threads);
    const Packing<T> packing(source.far_value(), highest);
    double sum = 0;
    for (const T value : values) {
        const double square = std::max(0.0, static_cast<double>((value - packing.base) / packing.step));
        const auto count = static_cast<std::uint16_t>(std::sqrt(square) + 0.5);
        const double off =
            static_cast<double>(value) -
            static_cast<double>(packing.value(count < Packing<T>::kLeast ? std::uint16_t(0) : count));
        sum += off * off;
    }
    return std::sqrt(sum / static_cast<double>(values.size()));
}

template double packing_error(const KernelSource<float>&, Threads&);
template double packing_error(const KernelSource<double>&, Threads&);

}  // namespace sodm
