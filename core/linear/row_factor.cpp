#include "linear/row_factor.hpp"

#include <cmath>
#include <limits>

#include "base/linalg.hpp"
#include "linear/gram_sum.hpp"

namespace sodm {

namespace {

constexpr double kMatrixGain = 4;    // multiply-adds of matrix products are so much cheaper than others
constexpr Index kChunkRows = 512;    // rows written out together
constexpr Index kChunkDepth = 1024;  // features of a product of rows that are summed in the rows' precision

// Row i, written out with its constant feature, times `factor`.
template <class T, class H>
void write_row(const RowReader<T>& reader, Index i, Index width, double bias, H factor, H* out, Index ld) {
    std::fill_n(out, ld, H(0));
    reader.entries(i, [&](Index k, double x) { out[k] += static_cast<H>(x) * factor; });
    if (bias != 0.0) out[width - 1] = static_cast<H>(bias) * factor;
}

// out(i, j, sum) for the products of all pairs j <= i of `rows` (n x ld), in blocks of columns.
template <class H, class Out>
void pair_products(const H* rows, Index n, Index ld, const Crew& crew, Out out) {
    constexpr Index W = kPanel<H>;
    const SimdOps<H>& ops = simd<H>();
    crew.run(static_cast<std::size_t>((n + W - 1) / W), [&](std::size_t t, Watch watch) {
        const Index c0 = static_cast<Index>(t) * W, lanes = std::min(W, n - c0), below = n - c0;
        Buffer<H> panel(static_cast<std::size_t>(W * kChunkDepth)), sums(static_cast<std::size_t>(W * below));
        for (Index k0 = 0; k0 < ld; k0 += kChunkDepth) {
            const Index depth = std::min(kChunkDepth, ld - k0);
            for (Index k = 0; k < depth; ++k)
                for (Index c = 0; c < W; ++c)
                    panel[static_cast<std::size_t>(k * W + c)] =
                        c < lanes ? rows[(c0 + c) * ld + k0 + k] : H(0);
            ops.pair_dense(Pairing::product, rows + c0 * ld + k0, ld, 1, static_cast<int>(below),
                           static_cast<int>(depth), panel.data(), W, sums.data(), W, k0 > 0);
            watch.did(below * depth * W);
        }
        for (Index r = 0; r < below; ++r)
            for (Index c = 0; c < std::min(lanes, r + 1); ++c)
                out(c0 + r, c0 + c, sums[static_cast<std::size_t>(r * W + c)]);
    });
}

}  // namespace

double factor_cost(Index n_rows, Index width) {
    const double small = static_cast<double>(std::min(n_rows, width)),
                 large = static_cast<double>(std::max(n_rows, width));
    return (small * small * large / 2 + small * small * small / 6) / kMatrixGain;
}

template <class T>
std::vector<float> row_gram(const RowList<T>& rows, Index n, Index width, double bias, const Crew& crew) {
    const Index ld = round_up(width, kPanel<float>);
    Buffer<float> written(static_cast<std::size_t>(n * ld));
    crew.run(static_cast<std::size_t>((n + kChunkRows - 1) / kChunkRows), [&](std::size_t t, Watch) {
        const Index first = static_cast<Index>(t) * kChunkRows;
        for (Index i = first; i < std::min(n, first + kChunkRows); ++i)
            write_row(rows.reader(), i, width, bias, 1.0f, written.data() + i * ld, ld);
    });
    std::vector<float> gram(static_cast<std::size_t>(n * n));
    pair_products(written.data(), n, ld, crew,
                  [&](Index i, Index j, float sum) { gram[static_cast<std::size_t>(i * n + j)] = sum; });
    return gram;
}

template <class T>
RowFactor<T>::RowFactor(const RowList<T>& rows, Index width, double bias, std::vector<Index> list,
                        std::vector<double> h, const float* gram, Index n, bool in_double, const Crew& crew)
    : rows_(rows), width_(width), bias_(bias), list_(std::move(list)), root_(std::move(h)) {
    const Index m = static_cast<Index>(list_.size());
    by_rows_ = m < width_;
    size_ = by_rows_ ? m : width_;
    Buffer<double> matrix;
    matrix.assign(static_cast<std::size_t>(size_ * size_), 0.0);
    double* a = matrix.data();
    if (by_rows_)
        for (double& root : root_) root = std::sqrt(root);
    const auto trace = [&] {
        double total = 0;
        for (Index i = 0; i < size_; ++i) total += a[i * size_ + i];
        return total;
    };
    sum(a, gram, n, in_double, crew);
    if (!in_double && !std::isfinite(trace())) {  // beyond single precision
        matrix.assign(matrix.size(), 0.0);
        sum(a, nullptr, n, true, crew);
    }
    // Rounding may have cost a badly scaled matrix its definiteness; its size times the precision gives it
    // back.
    const double least = trace() * (in_double ? std::numeric_limits<double>::epsilon()
                                              : static_cast<double>(std::numeric_limits<float>::epsilon()));
    std::vector<double> diagonal(static_cast<std::size_t>(size_));
    for (Index i = 0; i < size_; ++i) diagonal[static_cast<std::size_t>(i)] = a[i * size_ + i];
    Buffer<double> factor(static_cast<std::size_t>(size_ * size_));
    for (double ridge = 1.0;; ridge = 10 * std::max(ridge, least)) {
        std::copy(a, a + size_ * size_, factor.data());
        for (Index i = 0; i < size_; ++i)
            factor[static_cast<std::size_t>(i * size_ + i)] = diagonal[static_cast<std::size_t>(i)] + ridge;
        if (cholesky(factor.data(), size_, crew.team())) break;
        if (!std::isfinite(ridge)) break;  // values too large: what follows is not finite and says so
    }
    if (in_double)
        double_ = {factor.data(), size_};
    else
        single_ = {factor.data(), size_};
}

// The lower triangle of B' B or B B'.
template <class T>
void RowFactor<T>::sum(double* matrix, const float* gram, Index n, bool in_double, const Crew& crew) const {
    if (!by_rows_) return in_double ? sum_features<double>(matrix, crew) : sum_features<float>(matrix, crew);
    if (in_double || !gram) return in_double ? sum_rows<double>(matrix, crew) : sum_rows<float>(matrix, crew);
    const Index m = size_;
    for (Index i = 0; i < m; ++i) {
        const float* line = gram + list_[static_cast<std::size_t>(i)] * n;
        for (Index j = 0; j <= i; ++j)  // lists ascend, so j is in the lower triangle too
            matrix[i * m + j] = root_[static_cast<std::size_t>(i)] * root_[static_cast<std::size_t>(j)] *
                                static_cast<double>(line[list_[static_cast<std::size_t>(j)]]);
    }
}

// The lower triangle of sum_r h_r x_r x_r', rows written out a chunk at a time and multiplied a block of
// columns per task.
template <class T>
template <class H>
void RowFactor<T>::sum_features(double* matrix, const Crew& crew) const {
    const Index m = static_cast<Index>(list_.size()), ld = round_up(width_, kPanel<H>);
    Buffer<H> x(static_cast<std::size_t>(std::min(m, kChunkRows) * ld)),
        hx(static_cast<std::size_t>(std::min(m, kChunkRows) * ld));
    Buffer<H> sums;
    sums.assign(static_cast<std::size_t>(ld * ld), H(0));
    const SimdOps<H>& ops = simd<H>();
    Index pending = 0;
    for (Index first = 0; first < m; first += kChunkRows) {
        const Index n = std::min(kChunkRows, m - first);
        crew.run(static_cast<std::size_t>((n + kPanelRows - 1) / kPanelRows), [&](std::size_t t, Watch) {
            const Index r0 = static_cast<Index>(t) * kPanelRows;
            for (Index r = r0; r < std::min<Index>(n, r0 + kPanelRows); ++r) {
                const std::size_t at = static_cast<std::size_t>(first + r);
                write_row(rows_.reader(), list_[at], width_, bias_, H(1), x.data() + r * ld, ld);
                const H h = static_cast<H>(root_[at]);
                for (Index k = 0; k < ld; ++k)
                    hx[static_cast<std::size_t>(r * ld + k)] = h * x[static_cast<std::size_t>(r * ld + k)];
            }
        });
        crew.run(static_cast<std::size_t>(ld / kPanel<H>), [&](std::size_t t, Watch watch) {
            const Index c = static_cast<Index>(t) * kPanel<H>, above = std::min(c + kPanel<H>, width_);
            for (Index r = 0; r < n; r += kPanelRows) {
                const Index depth = std::min<Index>(kPanelRows, n - r);
                ops.pair_dense(Pairing::product, hx.data() + r * ld, 1, ld, static_cast<int>(above),
                               static_cast<int>(depth), x.data() + r * ld + c, ld, sums.data() + c, ld, true);
                watch.did(above * depth * kPanel<H>);
            }
        });
        pending += n;
        if (pending < kFloatRows && first + n < m) continue;
        pending = 0;
        crew.run(static_cast<std::size_t>((width_ + 63) / 64), [&](std::size_t t, Watch) {
            const Index k0 = static_cast<Index>(t) * 64;
            for (Index j = 0; j < std::min(width_, k0 + 64); ++j)
                for (Index k = std::max(j, k0); k < std::min(width_, k0 + 64); ++k)
                    matrix[k * width_ + j] += static_cast<double>(sums[static_cast<std::size_t>(j * ld + k)]);
        });
        std::fill_n(sums.data(), sums.size(), H(0));
    }
}

// The lower triangle of the products of rows, each times its root.
template <class T>
template <class H>
void RowFactor<T>::sum_rows(double* matrix, const Crew& crew) const {
    const Index m = static_cast<Index>(list_.size()), ld = round_up(width_, kPanel<H>);
    Buffer<H> x(static_cast<std::size_t>(m * ld));
    crew.run(static_cast<std::size_t>((m + kPanelRows - 1) / kPanelRows), [&](std::size_t t, Watch) {
        const Index r0 = static_cast<Index>(t) * kPanelRows;
        for (Index r = r0; r < std::min<Index>(m, r0 + kPanelRows); ++r)
            write_row(rows_.reader(), list_[static_cast<std::size_t>(r)], width_, bias_,
                      static_cast<H>(root_[static_cast<std::size_t>(r)]), x.data() + r * ld, ld);
    });
    pair_products(x.data(), m, ld, crew,
                  [&](Index i, Index j, H sum) { matrix[i * m + j] = static_cast<double>(sum); });
}

template <class T>
void RowFactor<T>::solve(const double* right, double* out, const Crew& crew) const {
    const auto solve_triangles = [this](const auto& l, double* b) {
        l.solve_lower(b);
        l.solve_upper(b);
    };
    if (!by_rows_) {
        std::copy(right, right + width_, out);
        in_double() ? solve_triangles(double_, out) : solve_triangles(single_, out);
        return;
    }
    std::vector<double> u(static_cast<std::size_t>(size_));
    rows_.decide(list_, right, u.data(), crew);
    for (std::size_t r = 0; r < u.size(); ++r) u[r] *= root_[r];
    in_double() ? solve_triangles(double_, u.data()) : solve_triangles(single_, u.data());
    for (std::size_t r = 0; r < u.size(); ++r) u[r] *= -root_[r];
    std::copy(right, right + width_, out);
    rows_.add(list_, u.data(), out, crew);
}

template class RowFactor<float>;
template class RowFactor<double>;
template std::vector<float> row_gram(const RowList<float>&, Index, Index, double, const Crew&);
template std::vector<float> row_gram(const RowList<double>&, Index, Index, double, const Crew&);

}  // namespace sodm
