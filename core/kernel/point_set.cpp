#include "kernel/point_set.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/linalg.hpp"
#include "base/parts.hpp"
#include "kernel/point_kernel.hpp"
#include "simd/byte_ops.hpp"

namespace sodm {

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
constexpr Index kRows = 512, kColumns = 64;  // of a task

// f(row) for every `step`-th of the rows first..last-1 of a dense array, as what it is: row(k) is its value
// of feature k.
template <class F>
void each_dense_row(const RowsView& view, Index first, Index last, Index step, F f) {
    const auto over = [&](const auto* values) {
        for (Index i = first; i < last; i += step) {
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
    each_dense_row(view, 0, view.n, std::max<Index>(1, view.n / 256), [&](Index, auto value) {
        for (Index k = 0; k < view.features; ++k) nonzero += value(k) != 0;
        seen += view.features;
    });
    return static_cast<double>(nonzero) / static_cast<double>(seen);
}

// Tasks have features of their own: the sum of a feature is made in the order of the rows.
std::vector<double> column_means(const RowsView& view, Threads* threads) {
    std::vector<double> mean(static_cast<std::size_t>(view.features), 0.0);
    if (view.n == 0) return mean;
    if (view.sparse)
        for (Index i = 0; i < view.n; ++i)
            for (Index e = view.start(i); e < view.start(i + 1); ++e)
                mean[static_cast<std::size_t>(view.index(e))] += view.value(e);
    else
        in_parts(threads, view.features, kColumns, [&](Index first, Index last) {
            each_dense_row(view, 0, view.n, 1, [first, last, sum = mean.data()](Index, auto value) {
                for (Index k = first; k < last; ++k) sum[k] += value(k);
            });
        });
    for (double& m : mean) m /= static_cast<double>(view.n);
    return mean;
}

// |x - z|^2 / 2 of the scaled points is the exponent of 2 in the RBF kernel.
double scale_of(const KernelFunction& kernel) {
    return kernel.kind == KernelKind::rbf ? std::sqrt(2 * kernel.gamma / std::log(2.0)) : 1.0;
}

template <class T>
Layout choose_layout(const RowsView& view, const KernelFunction& kernel, Threads* threads,
                     bool as_bytes = true) {
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
    if (kernel.kind == KernelKind::rbf && !layout.sparse) layout.centre = column_means(view, threads);
    return layout;
}

}  // namespace

template <class T>
PointSet<T>::PointSet(const RowsView& view, const KernelFunction& kernel, Threads* threads)
    : n(view.n), features(view.features), layout(choose_layout<T>(view, kernel, threads)) {
    if (layout.step > 0) {
        bytes = ByteRows(view, layout.step, threads);
        if (!bytes.whole) {  // the sample of rows had a step, these have none
            bytes = ByteRows();
            layout = choose_layout<T>(view, kernel, threads, false);
        }
    }
    fill(view, kernel, threads);
    if (kernel.kind == KernelKind::rbf && layout.step == 0 &&
        !(largest_half_square(threads) <= kProductNormLimit)) {
        // Sparse rows know products only: make them dense if there is room.
        if (layout.sparse && n * features <= kDenseCells) {
            layout.sparse = false;
            layout.centre = column_means(view, threads);
            value.release();
            std::vector<std::int32_t>().swap(feature);
            std::vector<std::int64_t>().swap(ptr);
            fill(view, kernel, threads);
        }
        if (!layout.sparse && !(largest_half_square(threads) <= kProductNormLimit))
            layout.pairing = Pairing::squared_difference;
    }
    set_norms(kernel, threads);
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
double PointSet<T>::largest_half_square(Threads* threads) const {
    std::vector<double> half(static_cast<std::size_t>(n));
    in_parts(threads, n, kRows, [&](Index first, Index last) {
        for (Index i = first; i < last; ++i) half[static_cast<std::size_t>(i)] = square(i) / 2;
    });
    double largest = 0;
    for (double own : half)
        if (!(own <= largest)) largest = own;
    return largest;
}

template <class T>
PointSet<T>::PointSet(const RowsView& view, const KernelFunction& kernel, const Layout& given,
                      Threads* threads)
    : n(view.n), features(view.features), layout(given) {
    if (layout.step > 0) bytes = ByteRows(view, layout.step, threads);
    fill(view, kernel, threads);
    set_norms(kernel, threads);
}

template <class T>
void PointSet<T>::fill(const RowsView& view, const KernelFunction& kernel, Threads* threads) {
    const double scale = scale_of(kernel);
    if (layout.sparse) return fill_sparse(view, scale, threads);
    if (bytes.whole) return;
    dense.resize(static_cast<std::size_t>(n * features));
    std::vector<double> origin = layout.centre;
    origin.resize(static_cast<std::size_t>(features), 0.0);
    const double* centre = origin.data();
    in_parts(threads, n, kRows, [&](Index first, Index last) {
        if (!view.sparse)
            return each_dense_row(view, first, last, 1, [&](Index i, auto value_of) {
                T* row = dense.data() + i * features;
                for (Index k = 0; k < features; ++k)
                    row[k] = static_cast<T>((value_of(k) - centre[k]) * scale);
            });
        for (Index i = first; i < last; ++i) {
            T* row = dense.data() + i * features;
            for (Index k = 0; k < features; ++k) row[k] = static_cast<T>((0.0 - centre[k]) * scale);
            for (Index e = view.start(i); e < view.start(i + 1); ++e) {
                const Index k = view.index(e);
                row[k] = static_cast<T>((view.value(e) - centre[k]) * scale);
            }
        }
    });
}

// Values that are not zero are counted first, so that tasks know where those of their rows begin.
template <class T>
void PointSet<T>::fill_sparse(const RowsView& view, double scale, Threads* threads) {
    // f(feature, value) for the values of rows first..last-1 that are not zero; done(row) after each row.
    const auto each_value = [&](Index first, Index last, const auto& f, const auto& done) {
        if (!view.sparse)
            return each_dense_row(view, first, last, 1, [&](Index i, auto value_of) {
                for (Index k = 0; k < features; ++k)
                    if (const double v = value_of(k); v != 0) f(k, v);
                done(i);
            });
        for (Index i = first; i < last; ++i) {
            for (Index e = view.start(i); e < view.start(i + 1); ++e)
                if (const double v = view.value(e); v != 0) f(view.index(e), v);
            done(i);
        }
    };
    ptr.assign(static_cast<std::size_t>(n) + 1, 0);
    in_parts(threads, n, kRows, [&](Index first, Index last) {
        std::int64_t count = 0;
        each_value(
            first, last, [&](Index, double) { ++count; },
            [&](Index i) {
                ptr[static_cast<std::size_t>(i) + 1] = count;
                count = 0;
            });
    });
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) ptr[i + 1] += ptr[i];
    value.resize(static_cast<std::size_t>(ptr.back()));
    feature.resize(static_cast<std::size_t>(ptr.back()));
    in_parts(threads, n, kRows, [&](Index first, Index last) {
        auto to = static_cast<std::size_t>(ptr[static_cast<std::size_t>(first)]);
        each_value(
            first, last,
            [&](Index k, double v) {
                value[to] = static_cast<T>(v * scale);
                feature[to++] = static_cast<std::int32_t>(k);
            },
            [](Index) {});
    });
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
void PointSet<T>::set_norms(const KernelFunction& kernel, Threads* threads) {
    row_norm.assign(static_cast<std::size_t>(n), T(0));
    column_norm.assign(static_cast<std::size_t>(n), T(0));
    diagonal.assign(static_cast<std::size_t>(n), 0.0);

    if (kernel.kind == KernelKind::rbf && layout.pairing == Pairing::product) {
        KernelFunction product{KernelKind::linear, 1, 0, 1, 0};
        PointKernel<T> self(product, *this, *this);
        static_assert(kRows % kPanel<T> == 0);
        in_parts(threads, n, kRows, [&](Index first, Index last) {
            Workspace<T> work;
            Buffer<T> tile(kTile * kPanel<T>);
            for (Index i = first; i < last; i += kPanel<T>) {
                const int count = static_cast<int>(std::min<Index>(kPanel<T>, last - i));
                self.load_columns(Subset::all(n), i, count, work);
                self.tile(Subset::all(n), i, count, work, tile.data());
                for (int r = 0; r < count; ++r)
                    row_norm[static_cast<std::size_t>(i + r)] =
                        tile[static_cast<std::size_t>(r * kTile + r)] / 2;
            }
        });
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

template class PointSet<float>;
template class PointSet<double>;

}  // namespace sodm
