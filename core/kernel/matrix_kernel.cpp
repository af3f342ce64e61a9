#include "kernel/matrix_kernel.hpp"

namespace sodm {

template <class T>
void MatrixKernel<T>::load_columns(Subset columns, Index first, int count, Workspace<T>& work) const {
    work.columns.resize(static_cast<std::size_t>(count));
    for (int c = 0; c < count; ++c)  // where the values stand in a row
        work.columns[static_cast<std::size_t>(c)] = among_[columns[first + c]] * matrix_.feature_stride;
}

template <class T>
void MatrixKernel<T>::tile(Subset rows, Index first, int count, Workspace<T>& work, T* out) const {
    if (matrix_.single)
        copy_tile(static_cast<const float*>(matrix_.values), rows, first, count, work, out);
    else
        copy_tile(static_cast<const double*>(matrix_.values), rows, first, count, work, out);
    this->count(static_cast<std::uint64_t>(count) * work.columns.size());
}

template <class T>
template <class Stored>
void MatrixKernel<T>::copy_tile(const Stored* values, Subset rows, Index first, int count, Workspace<T>& work,
                                T* out) const {
    const int columns = static_cast<int>(work.columns.size());
    const int lanes = lanes_for<T>(columns);
    const Index* place = work.columns.data();
    for (int r = 0; r < count; ++r, out += kTile) {
        const Stored* row = values + among_[rows[first + r]] * matrix_.row_stride;
        if (offset_ == 0)
            for (int c = 0; c < columns; ++c) out[c] = static_cast<T>(row[place[c]]);
        else
            for (int c = 0; c < columns; ++c) out[c] = static_cast<T>(row[place[c]] + offset_);
        for (int c = columns; c < lanes; ++c) out[c] = T(0);
    }
}

template class MatrixKernel<float>;
template class MatrixKernel<double>;

}  // namespace sodm
