#include "kernel/function_kernel.hpp"

namespace sodm {

template <class T>
void FunctionKernel<T>::load_columns(Subset columns, Index first, int count, Workspace<T>& work) const {
    work.columns.resize(static_cast<std::size_t>(count));
    for (int c = 0; c < count; ++c) work.columns[static_cast<std::size_t>(c)] = columns[first + c];
}

template <class T>
void FunctionKernel<T>::tile(Subset rows, Index first, int count, Workspace<T>& work, T* out) const {
    std::vector<Index> list(static_cast<std::size_t>(count));
    for (int r = 0; r < count; ++r) list[static_cast<std::size_t>(r)] = rows[first + r];
    const int columns = static_cast<int>(work.columns.size());
    const int lanes = lanes_for<T>(columns);
    function_(list.data(), count, work.columns.data(), columns, out);
    for (int r = 0; r < count; ++r) {
        for (int c = 0; c < columns; ++c) out[r * kTile + c] += static_cast<T>(offset_);
        for (int c = columns; c < lanes; ++c) out[r * kTile + c] = T(0);
    }
    this->count(static_cast<std::uint64_t>(count) * work.columns.size());
}

template class FunctionKernel<float>;
template class FunctionKernel<double>;

}  // namespace sodm
