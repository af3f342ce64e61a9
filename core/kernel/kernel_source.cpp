#include "kernel/kernel_source.hpp"

#include <algorithm>

namespace sodm {

template <class T>
void KernelSource<T>::distances(Index from, Subset rows, Workspace<T>& work, double* out) const {
    load_columns(Subset{&from, 1}, 0, 1, work);
    const int chunk = row_chunk();
    Buffer<T> values(static_cast<std::size_t>(chunk) * kTile);
    for (Index r = 0; r < rows.n; r += chunk) {
        const int count = static_cast<int>(std::min<Index>(chunk, rows.n - r));
        tile(rows, r, count, work, values.data());
        for (int i = 0; i < count; ++i)
            out[r + i] = diagonal(from) + diagonal(rows[r + i]) -
                         2 * static_cast<double>(values[static_cast<std::size_t>(i) * kTile]);
    }
}

template class KernelSource<float>;
template class KernelSource<double>;

}  // namespace sodm
