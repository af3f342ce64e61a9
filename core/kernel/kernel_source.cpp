#include "kernel/kernel_source.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/linalg.hpp"
#include "simd/byte_ops.hpp"

namespace sodm {

// ------------------------------------------------------------------------------------------------ PointSet

namespace {

// Above this (scaled, halved, squared) norm the cancellation in <x, z> - |x|^2/2 - |z|^2/2 costs more than
// 1e-5 of a single-precision kernel value: sum squared differences instead.
constexpr double kProductNormLimit = 100.0;

// Sparse rows against dense panels cost about 1.4 times as much per stored value as dense rows do.
constexpr double kSparseDensity = 0.5;
constexpr Index kSparseFeatures = 16;
constexpr Index kDenseCells = Index(100) << 20;
// Rows of bytes cost a quarter of dense ones.
constexpr double kByteDensity = 0.15;

// f(row) for every `step`-th row of a dense array, as what it is: row(k) is its value of feature k.
template <class F>
void each_dense_row(const RowsView& view, Index step, F f) {
    const auto over = [&](const auto* values) {
        for (Index i = 0; i < view.n; i += step) {
            const auto* row = values + i * view.row_stride;
            if (view.feature_stride == 1)
                f(i, [row](Index k) { return static_cast<double>(row[k]); });
            else
                f(i, [row, apart = view.feature_stride](Index k) {
                    return static_cast<double>(row[k * apart]);
                });
        }
    };
    if (view.single)
        over(static_cast<const float*>(view.values));
    else
        over(static_cast<const double*>(view.values));
}

double density(const RowsView& view) {
    if (view.n == 0 || view.features == 0) return 1.0;
    const double cells = static_cast<double>(view.n) * static_cast<double>(view.features);
    if (view.sparse) return static_cast<double>(view.start(view.n) - view.start(0)) / cells;
    // A fixed sample of rows tells enough.
    Index nonzero = 0, seen = 0;
    each_dense_row(view, std::max<Index>(1, view.n / 256), [&](Index, auto value) {
        for (Index k = 0; k < view.features; ++k) nonzero += value(k) != 0;
        seen += view.features;
    });
    return static_cast<double>(nonzero) / static_cast<double>(seen);
}

std::vector<double> column_means(const RowsView& view) {
    std::vector<double> mean(static_cast<std::size_t>(view.features), 0.0);
    if (view.n == 0) return mean;
    if (view.sparse)
        for (Index i = 0; i < view.n; ++i)
            for (Index e = view.start(i); e < view.start(i + 1); ++e)
                mean[static_cast<std::size_t>(view.index(e))] += view.value(e);
    else
        each_dense_row(view, 1, [&, sum = mean.data()](Index, auto value) {
            for (Index k = 0; k < view.features; ++k) sum[k] += value(k);
        });
    for (double& m : mean) m /= static_cast<double>(view.n);
    return mean;
}

// |x - z|^2 / 2 of the scaled points is the exponent of 2 in the RBF kernel.
double scale_of(const KernelFunction& kernel) {
    return kernel.kind == KernelKind::rbf ? std::sqrt(2 * kernel.gamma / std::log(2.0)) : 1.0;
}

template <class T>
Layout choose_layout(const RowsView& view, const KernelFunction& kernel, bool as_bytes = true) {
    Layout layout;
    const double share = density(view);
    if (as_bytes && std::is_same_v<T, float> && byte_ops() && kernel.kind != KernelKind::laplacian &&
        share >= kByteDensity && view.features >= kByteFeatures && view.features <= kMostByteFeatures)
        layout.step = find_step(view);
    layout.sparse = view.features >= kSparseFeatures && share < kSparseDensity && layout.step == 0;
    if (view.sparse && view.features > 65536) layout.sparse = true;
    if (kernel.kind == KernelKind::laplacian) layout.pairing = Pairing::absolute_difference;
    // Points that are no bytes are exceptions among these: no norms for them.
    if (kernel.kind == KernelKind::rbf && layout.step > 0) layout.pairing = Pairing::squared_difference;
    if (kernel.kind == KernelKind::rbf && !layout.sparse) layout.centre = column_means(view);
    return layout;
}

}  // namespace

template <class T>
PointSet<T>::PointSet(const RowsView& view, const KernelFunction& kernel)
    : n(view.n), features(view.features), layout(choose_layout<T>(view, kernel)) {
    if (layout.step > 0) {
        bytes = ByteRows(view, layout.step);
        if (!bytes.whole) {  // the sample of rows had a step, these have none
            bytes = ByteRows();
            layout = choose_layout<T>(view, kernel, false);
        }
    }
    fill(view, kernel);
    if (kernel.kind == KernelKind::rbf && layout.step == 0 && !(largest_half_square() <= kProductNormLimit)) {
        // Sparse rows know products only: make them dense if there is room.
        if (layout.sparse && n * features <= kDenseCells) {
            layout.sparse = false;
            layout.centre = column_means(view);
            value.release();
            std::vector<std::int32_t>().swap(feature);
            std::vector<std::int64_t>().swap(ptr);
            fill(view, kernel);
        }
        if (!layout.sparse && !(largest_half_square() <= kProductNormLimit))
            layout.pairing = Pairing::squared_difference;
    }
    set_norms(kernel);
}

template <class T>
double PointSet<T>::square(Index i) const {
    const auto r = static_cast<std::size_t>(i);
    if (bytes.whole) return layout.step * layout.step * bytes.square[r];
    const T* from = layout.sparse ? value.data() + ptr[r] : dense.data() + i * features;
    const Index count = layout.sparse ? ptr[r + 1] - ptr[r] : features;
    return sum_of_squares(from, count);
}

// The largest |x|^2 / 2 of the points as they are laid out; NaN if there is one.
template <class T>
double PointSet<T>::largest_half_square() const {
    double largest = 0;
    for (Index i = 0; i < n; ++i) {
        const double sum = square(i);
        if (!(sum / 2 <= largest)) largest = sum / 2;
    }
    return largest;
}

template <class T>
PointSet<T>::PointSet(const RowsView& view, const KernelFunction& kernel, const Layout& given)
    : n(view.n), features(view.features), layout(given) {
    if (layout.step > 0) bytes = ByteRows(view, layout.step);
    fill(view, kernel);
    set_norms(kernel);
}

template <class T>
void PointSet<T>::fill(const RowsView& view, const KernelFunction& kernel) {
    const double scale = scale_of(kernel);
    if (layout.sparse) {
        ptr.assign(static_cast<std::size_t>(n) + 1, 0);
        std::vector<T> values;
        for (Index i = 0; i < n; ++i) {
            const Index end = view.sparse ? view.start(i + 1) : view.features;
            for (Index e = view.sparse ? view.start(i) : 0; e < end; ++e) {
                const double v =
                    view.sparse ? view.value(e) : view.value(i * view.row_stride + e * view.feature_stride);
                if (v == 0) continue;
                values.push_back(static_cast<T>(v * scale));
                feature.push_back(static_cast<std::int32_t>(view.sparse ? view.index(e) : e));
            }
            ptr[static_cast<std::size_t>(i) + 1] = static_cast<std::int64_t>(values.size());
        }
        value.resize(values.size());
        std::copy(values.begin(), values.end(), value.data());
        return;
    }
    if (bytes.whole) return;
    dense.resize(static_cast<std::size_t>(n * features));
    std::vector<double> origin = layout.centre;
    origin.resize(static_cast<std::size_t>(features), 0.0);
    const double* centre = origin.data();
    if (!view.sparse)
        return each_dense_row(view, 1, [&](Index i, auto value_of) {
            T* row = dense.data() + i * features;
            for (Index k = 0; k < features; ++k) row[k] = static_cast<T>((value_of(k) - centre[k]) * scale);
        });
    for (Index i = 0; i < n; ++i) {
        T* row = dense.data() + i * features;
        for (Index k = 0; k < features; ++k) row[k] = static_cast<T>((0.0 - centre[k]) * scale);
        for (Index e = view.start(i); e < view.start(i + 1); ++e) {
            const Index k = view.index(e);
            row[k] = static_cast<T>((view.value(e) - centre[k]) * scale);
        }
    }
}

template <class T>
void PointSet<T>::make_dense(const KernelFunction& kernel) const {
    std::call_once(made_dense_, [&] {
        if (!bytes.whole) return;
        const double scale = scale_of(kernel);
        dense.resize(static_cast<std::size_t>(n * features));
        for (Index i = 0; i < n; ++i)
            for (Index k = 0; k < features; ++k) {
                const double c = layout.centre.empty() ? 0.0 : layout.centre[static_cast<std::size_t>(k)];
                const double v = layout.step * bytes.value[static_cast<std::size_t>(i * bytes.stride + k)];
                dense[static_cast<std::size_t>(i * features + k)] = static_cast<T>((v - c) * scale);
            }
    });
}

// Norms are taken with the very loops that evaluate tiles, so that k(x, x) = 1 comes out exactly.
template <class T>
void PointSet<T>::set_norms(const KernelFunction& kernel) {
    row_norm.assign(static_cast<std::size_t>(n), T(0));
    column_norm.assign(static_cast<std::size_t>(n), T(0));
    diagonal.assign(static_cast<std::size_t>(n), 0.0);

    if (kernel.kind == KernelKind::rbf && layout.pairing == Pairing::product) {
        KernelFunction product{KernelKind::linear, 1, 0, 1, 0};
        PointKernel<T> self(product, *this, *this);
        Workspace<T> work;
        Buffer<T> tile(kTile * kPanel<T>);
        for (Index i = 0; i < n; i += kPanel<T>) {
            const int count = static_cast<int>(std::min<Index>(kPanel<T>, n - i));
            self.load_columns(Subset::all(n), i, count, work);
            self.tile(Subset::all(n), i, count, work, tile.data());
            for (int r = 0; r < count; ++r)
                row_norm[static_cast<std::size_t>(i + r)] = tile[static_cast<std::size_t>(r * kTile + r)] / 2;
        }
        std::copy(row_norm.data(), row_norm.data() + n, column_norm.data());
    }
    if (kernel.kind == KernelKind::laplacian && layout.sparse)
        for (Index i = 0; i < n; ++i) {
            double sum = 0;
            for (auto e = ptr[static_cast<std::size_t>(i)]; e < ptr[static_cast<std::size_t>(i) + 1]; ++e)
                sum += std::fabs(static_cast<double>(value[static_cast<std::size_t>(e)]));
            column_norm[static_cast<std::size_t>(i)] = static_cast<T>(sum);
        }

    for (Index i = 0; i < n; ++i) {
        double value_at = 1.0;
        if (!kernel.shift_invariant()) {
            const double square = this->square(i);
            value_at = square;
            if (kernel.kind == KernelKind::polynomial)
                value_at = std::pow(kernel.gamma * square + kernel.coef0, kernel.degree);
            if (kernel.kind == KernelKind::sigmoid)
                value_at = std::tanh(kernel.gamma * square + kernel.coef0);
        }
        diagonal[static_cast<std::size_t>(i)] = value_at + kernel.offset;
    }
}

// --------------------------------------------------------------------------------------------- PointKernel

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

// Panels over all features, or, when there are very many, over the features that occur in these columns: slot
// 0 is a line of zeros for all others.
template <class T>
void PointKernel<T>::load_sparse_columns(Workspace<T>& work) const {
    constexpr int W = kPanel<T>;
    const int count = static_cast<int>(work.columns.size());
    const int lanes = lanes_for<T>(count);
    Index slots = z_.features;
    if (renumbers()) {
        if (work.slot_of_feature.size() != static_cast<std::size_t>(z_.features))
            work.slot_of_feature.assign(static_cast<std::size_t>(z_.features), 0);
        for (std::int32_t f : work.touched) work.slot_of_feature[static_cast<std::size_t>(f)] = 0;
        work.touched.clear();
        for (Index column : work.columns)
            for (auto e = z_.ptr[static_cast<std::size_t>(column)];
                 e < z_.ptr[static_cast<std::size_t>(column) + 1]; ++e) {
                const std::int32_t f = z_.feature[static_cast<std::size_t>(e)];
                auto& slot = work.slot_of_feature[static_cast<std::size_t>(f)];
                if (slot) continue;
                work.touched.push_back(f);
                slot = static_cast<std::int32_t>(work.touched.size());
            }
        slots = static_cast<Index>(work.touched.size()) + 1;
    }
    work.panels.assign(static_cast<std::size_t>(slots * lanes), T(0));
    for (int c = 0; c < count; ++c) {
        const auto column = static_cast<std::size_t>(work.columns[static_cast<std::size_t>(c)]);
        T* panel = work.panels.data() + static_cast<std::ptrdiff_t>(c / W) * W * slots + c % W;
        for (auto e = z_.ptr[column]; e < z_.ptr[column + 1]; ++e) {
            Index slot = z_.feature[static_cast<std::size_t>(e)];
            if (renumbers()) slot = work.slot_of_feature[static_cast<std::size_t>(slot)];
            panel[slot * W] = z_.value[static_cast<std::size_t>(e)];
        }
    }
}

// Rows of a tile, their features renumbered as the panel's are. Products with features that the panel does
// not have are left out, but every product stays in the one of two sums (see pair_sparse) that it would be in
// if they were not: so a kernel value does not depend on which other columns are in the panel.
template <class T>
void PointKernel<T>::gather_sparse_rows(Subset rows, Index first, int count, Workspace<T>& work) const {
    std::size_t entries = 0;
    for (int r = 0; r < count; ++r) {
        const auto i = static_cast<std::size_t>(rows[first + r]);
        entries += static_cast<std::size_t>(x_.ptr[i + 1] - x_.ptr[i]) + 1;
    }
    work.row_value.resize(entries);
    work.row_feature.resize(entries);
    work.row_ptr.assign(1, 0);
    // Only products vanish with the column's value; differences need every feature of the row.
    const bool leave_out = renumbers() && x_.layout.pairing == Pairing::product;
    std::size_t at = 0;
    for (int r = 0; r < count; ++r) {
        const auto i = static_cast<std::size_t>(rows[first + r]);
        const auto begin = static_cast<std::size_t>(x_.ptr[i]), end = static_cast<std::size_t>(x_.ptr[i + 1]);
        std::size_t next[2] = {at, at + 1};  // places of the first sum and of the second alternate
        for (std::size_t e = begin; e < end; ++e) {
            std::int32_t f = x_.feature[e];
            if (renumbers()) f = work.slot_of_feature[static_cast<std::size_t>(f)];
            if (leave_out && f == 0) continue;
            std::size_t& place = next[(e - begin) & 1];
            work.row_feature[place] = f;
            work.row_value[place] = x_.value[e];
            place += 2;
        }
        const std::size_t stop = leave_out ? std::max(next[0], next[1] - 1) : at + (end - begin);
        for (std::size_t& place : next)
            for (; place < stop; place += 2) {
                work.row_feature[place] = 0;
                work.row_value[place] = T(0);
            }
        at = stop;
        work.row_ptr.push_back(static_cast<std::int64_t>(at));
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
    constexpr Index kLanes = 16;
    const T* z = x_.dense.data() + from * d;
    for (Index r = 0; r < rows.n; ++r) {
        const T* x = x_.dense.data() + rows[r] * d;
        T lane[kLanes] = {};
        Index k = 0;
        for (; k + kLanes <= d; k += kLanes)
            for (Index l = 0; l < kLanes; ++l) lane[l] += (x[k + l] - z[k + l]) * (x[k + l] - z[k + l]);
        for (; k < d; ++k) lane[k % kLanes] += (x[k] - z[k]) * (x[k] - z[k]);
        double sum = 0;
        for (T v : lane) sum += static_cast<double>(v);
        out[r] = sum;
    }
}

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

// ------------------------------------------------------------------------------- PointKernel: rows of bytes
// With q_x and q_z the bytes of x and z, and s = <q_x, q_z - 128>, as the instruction wants one side signed:
//   <q_x, q_z> = s + 128 sum q_x   and   |q_x - q_z|^2 = |q_x|^2 + |q_z|^2 - 256 sum q_x - 2 s.

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
        // The exponent of 2 in the RBF kernel is half the squared distance of scaled points: see `scale_of`.
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

// -------------------------------------------------------------------------------------------- MatrixKernel

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
        for (int c = 0; c < columns; ++c) out[c] = static_cast<T>(row[place[c]] + offset_);
        for (int c = columns; c < lanes; ++c) out[c] = T(0);
    }
}

// ------------------------------------------------------------------------------------------ FunctionKernel

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

template class KernelSource<float>;
template class KernelSource<double>;
template class PointSet<float>;
template class PointSet<double>;
template class PointKernel<float>;
template class PointKernel<double>;
template class MatrixKernel<float>;
template class MatrixKernel<double>;
template class FunctionKernel<float>;
template class FunctionKernel<double>;

}  // namespace sodm
