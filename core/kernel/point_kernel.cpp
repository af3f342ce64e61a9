#include "kernel/point_kernel.hpp"

#include <algorithm>
#include <cmath>

namespace sodm {

template <class T>
void PointKernel<T>::load_columns(Subset columns, Index first, int count, Workspace<T>& work) const {
    work.columns.resize(static_cast<std::size_t>(count));
    for (int c = 0; c < count; ++c) work.columns[static_cast<std::size_t>(c)] = columns[first + c];
    work.column_norm.assign(kTile, T(0));
    for (int c = 0; c < count; ++c)
        work.column_norm[static_cast<std::size_t>(c)] =
            z_.column_norm[static_cast<std::size_t>(work.columns[static_cast<std::size_t>(c)])];
    if (of_bytes()) load_byte_columns(work);
    if (z_.layout.sparse)
        load_sparse_columns(work);
    else if (!of_bytes() || !work.columns_fit || !x_.bytes.whole)
        load_dense_columns(work);
}

template <class T>
void PointKernel<T>::load_dense_columns(Workspace<T>& work) const {
    constexpr int W = kPanel<T>;
    const int count = static_cast<int>(work.columns.size());
    const int lanes = lanes_for<T>(count);
    const Index d = z_.features;
    work.panels.resize(static_cast<std::size_t>(d * lanes));
    for (int c = 0; c < lanes; ++c) {
        // Lanes without a column repeat the last one: finite values that nobody reads.
        const T* row = z_.dense.data() + work.columns[static_cast<std::size_t>(std::min(c, count - 1))] * d;
        T* panel = work.panels.data() + static_cast<std::ptrdiff_t>(c / W) * W * d + c % W;
        for (Index k = 0; k < d; ++k) panel[k * W] = row[k];
    }
}

template <class T>
void PointKernel<T>::tile(Subset rows, Index first, int count, Workspace<T>& work, T* out) const {
    this->count(static_cast<std::uint64_t>(count) * work.columns.size());
    if (!of_bytes()) return values(rows, first, count, work, out);
    if (work.columns_fit && rows_fit(rows, first, count)) return byte_values(rows, first, count, work, out);
    // A value is made of bytes if both its points have them, whatever points are beside it.
    values(rows, first, count, work, out);
    work.byte_tile.resize(static_cast<std::size_t>(count * kTile));
    byte_values(rows, first, count, work, work.byte_tile.data());
    for (int r = 0; r < count; ++r) {
        if (!x_.bytes.fits[static_cast<std::size_t>(rows[first + r])]) continue;
        for (std::size_t c = 0; c < work.columns.size(); ++c)
            if (work.column_fits[c])
                out[static_cast<std::size_t>(r * kTile) + c] =
                    work.byte_tile[static_cast<std::size_t>(r * kTile) + c];
    }
}

template <class T>
void PointKernel<T>::values(Subset rows, Index first, int count, Workspace<T>& work, T* out) const {
    constexpr int W = kPanel<T>;
    const SimdOps<T>& ops = simd<T>();
    const int lanes = lanes_for<T>(static_cast<int>(work.columns.size()));
    const Index d = x_.features;

    const T* x = gather_rows(rows, first, count, work);
    if (direct()) {
        for (int p = 0; p < lanes; p += W)
            ops.rbf_values(x, d, count, static_cast<int>(d),
                           work.panels.data() + static_cast<std::ptrdiff_t>(p) * d, work.row_norm.data(),
                           work.column_norm.data() + p, static_cast<T>(kernel_.offset), out + p, kTile);
        return;
    }
    if (x_.layout.sparse) {
        const Index slots = static_cast<Index>(work.panels.size()) / lanes;
        gather_sparse_rows(rows, first, count, work);
        for (int p = 0; p < lanes; p += W)
            ops.pair_sparse(x_.layout.pairing, work.row_value.data(), work.row_feature.data(),
                            work.row_ptr.data(), count,
                            work.panels.data() + static_cast<std::ptrdiff_t>(p) * slots, out + p, kTile);
    } else {
        for (int p = 0; p < lanes; p += W) {
            const T* panel = work.panels.data() + static_cast<std::ptrdiff_t>(p) * d;
            Index k = 0;
            do {
                const int depth = static_cast<int>(std::min<Index>(kDepth, d - k));
                ops.pair_dense(x_.layout.pairing, x + k, d, 1, count, depth, panel + k * W, W, out + p, kTile,
                               k > 0);
                k += kDepth;
            } while (k < d);
        }
    }
    ops.transform(kernel_, x_.layout.pairing == Pairing::product, out, kTile, count, lanes,
                  work.row_norm.data(), work.column_norm.data());
}

template <class T>
bool PointKernel<T>::add_weighted(Subset rows, Index first, int count, Workspace<T>& work, const T* a,
                                  T* y) const {
    if (!direct() || of_bytes()) return false;
    constexpr int W = kPanel<T>;
    const int lanes = lanes_for<T>(static_cast<int>(work.columns.size()));
    const Index d = x_.features;
    const T* x = gather_rows(rows, first, count, work);
    for (int p = 0; p < lanes; p += W)
        simd<T>().rbf_sum(x, d, count, static_cast<int>(d),
                          work.panels.data() + static_cast<std::ptrdiff_t>(p) * d, work.row_norm.data(),
                          work.column_norm.data() + p, static_cast<T>(kernel_.offset), a, y + p);
    this->count(static_cast<std::uint64_t>(count) * work.columns.size());
    return true;
}

template <class T>
void PointKernel<T>::distances(Index from, Subset rows, Workspace<T>& work, double* out) const {
    const auto at = [](Index i) { return static_cast<std::size_t>(i); };
    const Index d = x_.features;
    if (x_.layout.sparse) {  // |x|^2 - 2 <x, z> + |z|^2 over the entries of x, z spread out
        const Index begin = x_.ptr[at(from)], end = x_.ptr[at(from + 1)];
        if (static_cast<Index>(work.rows.size()) < d) work.rows.assign(at(d), T(0));
        double own = 0;
        for (Index e = begin; e < end; ++e) {
            const T v = x_.value[at(e)];
            work.rows[at(x_.feature[at(e)])] = v;
            own += static_cast<double>(v) * static_cast<double>(v);
        }
        for (Index r = 0; r < rows.n; ++r) {
            double sum = own;
            for (Index e = x_.ptr[at(rows[r])]; e < x_.ptr[at(rows[r] + 1)]; ++e) {
                const T v = x_.value[at(e)];
                sum += static_cast<double>(v * (v - 2 * work.rows[at(x_.feature[at(e)])]));
            }
            out[r] = std::max(0.0, sum);
        }
        for (Index e = begin; e < end; ++e) work.rows[at(x_.feature[at(e)])] = T(0);
        return;
    }
    if (x_.dense.empty()) {  // rows of bytes
        KernelSource<T>::distances(from, rows, work, out);
        return;
    }
    const T* z = x_.dense.data() + from * d;
    const auto squared_distance = simd<T>().squared_distance;
    for (Index r = 0; r < rows.n; ++r) out[r] = squared_distance(x_.dense.data() + rows[r] * d, z, d);
}

template <class T>
void PointKernel<T>::box(Subset rows, T* out) const {
    const Index d = x_.features;
    T *low = out, *high = out + d;
    std::copy_n(x_.dense.data() + rows[0] * d, d, low);
    std::copy_n(low, d, high);
    for (Index r = 1; r < rows.n; ++r) {
        const T* x = x_.dense.data() + rows[r] * d;
        for (Index k = 0; k < d; ++k) {
            low[k] = std::min(low[k], x[k]);
            high[k] = std::max(high[k], x[k]);
        }
    }
}

// k falls with the distance, and no two rows are nearer to each other than their boxes are.
template <class T>
double PointKernel<T>::beyond_far(const T* box, const T* other) const {
    const Index d = x_.features;
    const bool squares = kernel_.kind == KernelKind::rbf;
    T sum = 0;
    for (Index k = 0; k < d; ++k) {
        const T room = std::max({T(0), box[k] - other[d + k], other[k] - box[d + k]});
        sum += squares ? room * room : room;
    }
    const auto apart = static_cast<double>(sum);
    return squares ? std::exp2(-apart / 2) : std::exp(-kernel_.gamma * apart);
}

// The norms of these rows, and for dense points their features one row after another.
template <class T>
const T* PointKernel<T>::gather_rows(Subset rows, Index first, int count, Workspace<T>& work) const {
    work.row_norm.resize(static_cast<std::size_t>(count));
    for (int r = 0; r < count; ++r)
        work.row_norm[static_cast<std::size_t>(r)] = x_.row_norm[static_cast<std::size_t>(rows[first + r])];
    if (x_.layout.sparse) return nullptr;
    const Index d = x_.features;
    if (!rows.list) return x_.dense.data() + first * d;
    work.rows.resize(static_cast<std::size_t>(count * d));
    for (int r = 0; r < count; ++r)
        std::copy_n(x_.dense.data() + rows[first + r] * d, d, work.rows.data() + r * d);
    return work.rows.data();
}

template class PointKernel<float>;
template class PointKernel<double>;

}  // namespace sodm
