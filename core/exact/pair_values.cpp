#include "exact/pair_values.hpp"

#include <algorithm>

#include "kernel/products.hpp"

namespace sodm {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// to[c * ld + r] = from[r * ld + c], in squares that stay in the nearest cache.
template <class T>
void mirror(const T* from, T* to, Index ld, Index rows, Index columns) {
    constexpr Index kSquare = 32;
    for (Index r0 = 0; r0 < rows; r0 += kSquare)
        for (Index c0 = 0; c0 < columns; c0 += kSquare)
            for (Index c = c0; c < std::min(columns, c0 + kSquare); ++c)
                for (Index r = r0; r < std::min(rows, r0 + kSquare); ++r) to[c * ld + r] = from[r * ld + c];
}

}  // namespace

template <class T>
PairValues<T>::PairValues(const KernelSource<T>& source, const std::vector<std::vector<Index>>& of_class,
                          Threads& threads)
    : source_(source), of_class_(of_class), within_(of_class.size()) {
    for (std::size_t c = 0; c < of_class.size(); ++c) {
        const Subset own{of_class[c].data(), static_cast<Index>(of_class[c].size())};
        within_[c].resize(at(own.n * own.n));
        kernel_block(source, own, own, within_[c].data(), own.n, threads);
    }
}

template <class T>
void PairValues<T>::fill(Index c, Index d, Buffer<T>& out, Threads& threads) const {
    const Subset first{of_class_[at(c)].data(), static_cast<Index>(of_class_[at(c)].size())};
    const Subset second{of_class_[at(d)].data(), static_cast<Index>(of_class_[at(d)].size())};
    const Index n = first.n + second.n;
    out.resize(at(n * n));
    T *between = out.data() + first.n, *below = out.data() + first.n * n;
    for (Index r = 0; r < first.n; ++r)
        std::copy_n(within_[at(c)].data() + r * first.n, first.n, out.data() + r * n);
    for (Index r = 0; r < second.n; ++r)
        std::copy_n(within_[at(d)].data() + r * second.n, second.n, below + r * n + first.n);
    kernel_block(source_, first, second, between, n, threads);
    mirror(between, below, n, first.n, second.n);
}

template class PairValues<float>;
template class PairValues<double>;

}  // namespace sodm
