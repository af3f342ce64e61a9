// Rows of bytes.
//
// With q_x and q_z the bytes of x and z, and s = <q_x, q_z - 128>, as the instruction wants one side signed:
//   <q_x, q_z> = s + 128 sum q_x   and   |q_x - q_z|^2 = |q_x|^2 + |q_z|^2 - 256 sum q_x - 2 s.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernel/point_kernel.hpp"
#include "simd/byte_ops.hpp"

namespace sodm {

template <class T>
void PointKernel<T>::load_byte_columns(Workspace<T>& work) const {
    constexpr int W = 32;
    const int count = static_cast<int>(work.columns.size());
    const int lanes = lanes_for<float>(count);
    const Index quads = z_.bytes.stride / 4;
    const bool distances = kernel_.kind == KernelKind::rbf;
    work.byte_panels.resize(static_cast<std::size_t>(quads * lanes));
    work.column_term.assign(static_cast<std::size_t>(lanes), 0);
    work.column_fits.assign(static_cast<std::size_t>(lanes), 0);
    work.columns_fit = true;
    for (int c = 0; c < lanes; ++c) {
        const auto column =
            static_cast<std::size_t>(work.columns[static_cast<std::size_t>(std::min(c, count - 1))]);
        const std::uint8_t* row = z_.bytes.value.data() + static_cast<Index>(column) * z_.bytes.stride;
        std::uint32_t* panel =
            work.byte_panels.data() + static_cast<std::ptrdiff_t>(c / W) * W * quads + c % W;
        for (Index q = 0; q < quads; ++q) {
            std::uint32_t four;
            std::memcpy(&four, row + 4 * q, sizeof four);
            panel[q * W] = four ^ 0x80808080u;
        }
        if (distances) work.column_term[static_cast<std::size_t>(c)] = z_.bytes.square[column];
        work.column_fits[static_cast<std::size_t>(c)] = z_.bytes.fits[column];
        work.columns_fit = work.columns_fit && z_.bytes.fits[column];
    }
}

template <class T>
bool PointKernel<T>::rows_fit(Subset rows, Index first, int count) const {
    if (x_.bytes.whole) return true;
    for (int r = 0; r < count; ++r)
        if (!x_.bytes.fits[static_cast<std::size_t>(rows[first + r])]) return false;
    return true;
}

template <class T>
void PointKernel<T>::byte_values(Subset rows, Index first, int count, Workspace<T>& work, T* out) const {
    if constexpr (std::is_same_v<T, float>) {
        constexpr int W = kPanel<float>;
        const Index stride = x_.bytes.stride;
        const int lanes = lanes_for<float>(static_cast<int>(work.columns.size()));
        const bool distances = kernel_.kind == KernelKind::rbf;
        // The exponent of 2 in the RBF kernel is half the squared distance of scaled points (point_set.cpp).
        const double square = x_.layout.step * x_.layout.step;
        const float factor =
            static_cast<float>(distances ? square * 2 * kernel_.gamma / std::log(2.0) : square);
        const std::uint8_t* x = x_.bytes.value.data() + first * stride;
        if (rows.list) {
            work.byte_rows.resize(static_cast<std::size_t>(count * stride));
            for (int r = 0; r < count; ++r)
                std::memcpy(work.byte_rows.data() + r * stride,
                            x_.bytes.value.data() + rows[first + r] * stride,
                            static_cast<std::size_t>(stride));
            x = work.byte_rows.data();
        }
        work.row_term.resize(static_cast<std::size_t>(count));
        work.row_norm.assign(static_cast<std::size_t>(count), T(0));
        for (int r = 0; r < count; ++r) {
            const auto i = static_cast<std::size_t>(rows[first + r]);
            const std::int32_t sum = x_.bytes.sum[i];
            work.row_term[static_cast<std::size_t>(r)] =
                distances ? x_.bytes.square[i] - 256 * sum : 128 * sum;
        }
        for (int p = 0; p < lanes; p += W)
            byte_ops()->pair(x, stride, count, static_cast<int>(stride / 4),
                             work.byte_panels.data() + static_cast<std::ptrdiff_t>(p) * (stride / 4),
                             work.row_term.data(), work.column_term.data() + p, distances ? -2 : 1, factor,
                             out + p, kTile);
        simd<float>().transform(kernel_, !distances, out, kTile, count, lanes, work.row_norm.data(),
                                work.column_norm.data());
    } else {
        (void)rows, (void)first, (void)count, (void)work, (void)out;
    }
}

template void PointKernel<float>::load_byte_columns(Workspace<float>&) const;
template bool PointKernel<float>::rows_fit(Subset, Index, int) const;
template void PointKernel<float>::byte_values(Subset, Index, int, Workspace<float>&, float*) const;
template void PointKernel<double>::load_byte_columns(Workspace<double>&) const;
template bool PointKernel<double>::rows_fit(Subset, Index, int) const;
template void PointKernel<double>::byte_values(Subset, Index, int, Workspace<double>&, double*) const;

}  // namespace sodm
