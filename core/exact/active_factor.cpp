#include "exact/active_factor.hpp"

#include <algorithm>

#include "base/linalg.hpp"

namespace sodm {

namespace {

constexpr double kRaise = 4, kHighest = 64;  // the ridge of a matrix that rounding has made indefinite
// Columns that updates may solve, as a share of the factor's rows: more cost as much as factoring anew.
constexpr Index kRoom = 8;
constexpr Index kRows = 256;                  // of a block of the triangular solves, one after another
constexpr Index kGroup = 32, kColumns = 512;  // and what of a block is one task
constexpr Index kFewRows = 64;                // the same for many right-hand sides

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Index panels_for(Index columns, int width) { return (columns + width - 1) / width; }

// L y = r in place, a block of rows at a time: less the product with what is solved, then the rows among
// themselves.
template <class T>
void solve_forward(const T* l, Index n, Index stride, T* y, Threads& threads) {
    const SimdOps<T>& ops = simd<T>();
    for (Index b = 0; b < n; b += kRows) {
        const Index rows = std::min(kRows, n - b);
        if (b > 0)
            threads.run(at((rows + kGroup - 1) / kGroup), [&](std::size_t g, int) {
                const Index from = b + static_cast<Index>(g) * kGroup;
                const Index count = std::min(kGroup, b + rows - from);
                T sum[kGroup] = {};
                ops.add_columns(l + from * stride, stride, static_cast<int>(count), static_cast<int>(b), y,
                                sum);
                for (Index r = 0; r < count; ++r) y[from + r] -= sum[r];
            });
        for (Index i = b; i < b + rows; ++i) {
            const T* row = l + i * stride;
            T sum = y[i], lanes[8] = {};  // in a fixed order
            Index k = b;
            for (; k + 8 <= i; k += 8)
                for (Index c = 0; c < 8; ++c) lanes[c] += row[k + c] * y[k + c];
            for (; k < i; ++k) sum -= row[k] * y[k];
            for (T lane : lanes) sum -= lane;
            y[i] = sum / row[i];
        }
    }
}

// L' z = y in place, blocks from the last to the first, each taken away from all rows before it.
template <class T>
void solve_backward(const T* l, Index n, Index stride, T* y, Threads& threads) {
    const SimdOps<T>& ops = simd<T>();
    T minus[kRows];
    for (Index b = (n - 1) / kRows * kRows; b >= 0; b -= kRows) {
        const Index rows = std::min(kRows, n - b);
        for (Index i = b + rows - 1; i >= b; --i) {
            const T* row = l + i * stride;
            const T z = y[i] /= row[i];
            for (Index k = b; k < i; ++k) y[k] -= z * row[k];
            minus[i - b] = -z;
        }
        threads.run(at((b + kColumns - 1) / kColumns), [&](std::size_t g, int) {
            const Index from = static_cast<Index>(g) * kColumns, lanes = std::min(kColumns, b - from);
            ops.add_rows(l + b * stride + from, stride, static_cast<int>(rows), static_cast<int>(lanes),
                         minus, y + from);
        });
    }
}

}  // namespace

template <class T>
bool ActiveFactor<T>::factor(const GramMatrix<T>& gram, const double* d) {
    rows_.clear();
    for (Index i = 0; i < gram.size(); ++i)
        if (d[i] > 0) rows_.push_back(i);
    left_.clear();
    made_with_ = size();
    solved_ = 0;
    stride_ = std::min(size() + size() / kRoom, gram.size());
    for (double times = 1; times <= kHighest && !empty(); times *= kRaise)
        if (factor_with(gram, d, times)) return true;
    return give_up();
}

template <class T>
bool ActiveFactor<T>::factor_with(const GramMatrix<T>& gram, const double* d, double times) {
    l_.resize(at(gram.size() * gram.size()));  // the memory that is not used is never touched
    gram.copy(rows_, rows_, true, l_.data(), stride_);
    for (Index r = 0; r < size(); ++r) {
        T& entry = l_[at(r * stride_ + r)];
        entry = static_cast<T>(static_cast<double>(entry) + times * d[rows_[at(r)]]);
    }
    return cholesky(l_.data(), size(), stride_, Index(0), threads_);
}

template <class T>
typename ActiveFactor<T>::Changes ActiveFactor<T>::changes(const GramMatrix<T>& gram, const double* d) const {
    std::vector<char> known(at(gram.size()), 0);
    Changes found;
    for (Index r = 0; r < size(); ++r) {
        known[at(rows_[at(r)])] = 1;
        if (!(d[rows_[at(r)]] > 0)) found.left.push_back(r);
    }
    for (Index i = 0; i < gram.size(); ++i)
        if (d[i] > 0 && !known[at(i)]) found.came.push_back(i);
    const auto columns = solved_ + static_cast<Index>(found.left.size() + found.came.size());
    found.few = columns * kRoom <= made_with_ && !empty();
    return found;
}

template <class T>
bool ActiveFactor<T>::update(const GramMatrix<T>& gram, const double* d) {
    Changes now = changes(gram, d);
    solved_ += static_cast<Index>(now.left.size() + now.came.size());
    if (!now.few) return give_up();
    return (append(gram, d, now.came) && leave_out(std::move(now.left))) || give_up();
}

// New rows: L^-1 of their kernel values with the rows before, then the factor of what that leaves over.
template <class T>
bool ActiveFactor<T>::append(const GramMatrix<T>& gram, const double* d, const std::vector<Index>& rows) {
    if (rows.empty()) return true;
    constexpr int W = kPanel<T>;
    const Index n = size(), count = static_cast<Index>(rows.size());
    T* below = l_.data() + n * stride_;
    gram.copy(rows, rows_, false, below, stride_);
    gram.copy(rows, rows, false, below + n, stride_);
    Buffer<T> values;
    values.assign(at(panels_for(count, W) * n * W), T(0));
    const auto place = [&](Index r, Index c) { return at((c / W * n + r) * W + c % W); };
    for (Index c = 0; c < count; ++c)
        for (Index r = 0; r < n; ++r) values[place(r, c)] = below[c * stride_ + r];
    values = solve_columns(count, std::move(values));
    for (Index c = 0; c < count; ++c) {
        T* row = below + c * stride_;
        for (Index r = 0; r < n; ++r) row[r] = values[place(r, c)];
        row[n + c] = static_cast<T>(static_cast<double>(row[n + c]) + d[rows[at(c)]]);
    }
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    return cholesky(l_.data(), size(), stride_, n, threads_);
}

// V of the rows that have left, and the factor of V'V.
template <class T>
bool ActiveFactor<T>::leave_out(std::vector<Index> places) {
    left_ = std::move(places);
    if (left_.empty()) return true;
    constexpr int W = kPanel<T>;
    const SimdOps<T>& ops = simd<T>();
    const Index n = size(), count = static_cast<Index>(left_.size()), panels = panels_for(count, W);
    Buffer<T> unit;
    unit.assign(at(panels * n * W), T(0));
    for (Index c = 0; c < count; ++c) unit[at((c / W * n + left_[at(c)]) * W + c % W)] = T(1);
    v_ = solve_columns(count, std::move(unit));
    of_left_.assign(at(count * count), 0.0);
    threads_.run(at(panels), [&](std::size_t p, int) {
        alignas(64) T products[W * W];
        const Index row = static_cast<Index>(p) * W;
        for (Index q = 0; q <= static_cast<Index>(p); ++q) {
            ops.pair_dense(Pairing::product, v_.data() + row * n, 1, W, W, static_cast<int>(n),
                           v_.data() + q * W * n, W, products, W, false);
            for (Index r = 0; r < std::min<Index>(W, count - row); ++r)
                for (Index c = 0; c < std::min<Index>(W, count - q * W); ++c)
                    of_left_[at((row + r) * count + q * W + c)] = static_cast<double>(products[r * W + c]);
        }
    });
    return cholesky(of_left_.data(), count, count, Index(0), threads_);
}

// L^-1 of many columns at once, in panels of kPanel; each panel goes its way alone. Solved rows stand with
// the other sign, so that a product that is added takes away.
template <class T>
Buffer<T> ActiveFactor<T>::solve_columns(Index count, Buffer<T> panels) const {
    constexpr int W = kPanel<T>;
    const SimdOps<T>& ops = simd<T>();
    const Index n = size();
    threads_.run(at(panels_for(count, W)), [&](std::size_t p, int worker) {
        T* x = panels.data() + static_cast<Index>(p) * n * W;
        for (Index b = 0; b < n; b += kFewRows) {
            threads_.check(worker);
            const Index rows = std::min(kFewRows, n - b);
            const T* block = l_.data() + b * stride_;
            if (b > 0)
                ops.pair_dense(Pairing::product, block, stride_, 1, static_cast<int>(rows),
                               static_cast<int>(b), x, W, x + b * W, W, true);
            for (Index r = 0; r < rows; ++r) {
                const T* row = block + r * stride_ + b;
                T* own = x + (b + r) * W;
                if (r > 0)
                    ops.pair_dense(Pairing::product, row, stride_, 1, 1, static_cast<int>(r), x + b * W, W,
                                   own, W, true);
                for (int c = 0; c < W; ++c) own[c] /= -row[r];
            }
        }
        for (Index k = 0; k < n * W; ++k) x[k] = -x[k];
    });
    return panels;
}

template <class T>
void ActiveFactor<T>::apply(const double* r, Index n, double* out) const {
    constexpr int W = kPanel<T>;
    const SimdOps<T>& ops = simd<T>();
    const Index m = size(), count = static_cast<Index>(left_.size());
    std::vector<char> left(at(m), 0);
    for (Index k : left_) left[at(k)] = 1;
    Buffer<T> y(at(m));
    for (Index k = 0; k < m; ++k) y[at(k)] = left[at(k)] ? T(0) : static_cast<T>(r[rows_[at(k)]]);
    solve_forward(l_.data(), m, stride_, y.data(), threads_);
    if (count > 0) {
        const Index panels = panels_for(count, W);
        std::vector<T> sums(at(panels * W), T(0));
        for (Index p = 0; p < panels; ++p)
            ops.add_rows(v_.data() + p * W * m, W, static_cast<int>(m), W, y.data(), sums.data() + p * W);
        std::vector<double> by(sums.begin(), sums.begin() + count);
        cholesky_solve(of_left_.data(), count, by.data());
        for (Index c = 0; c < panels * W; ++c) sums[at(c)] = c < count ? static_cast<T>(-by[at(c)]) : T(0);
        for (Index p = 0; p < panels; ++p)
            ops.add_columns(v_.data() + p * W * m, W, static_cast<int>(m), W, sums.data() + p * W, y.data());
    }
    solve_backward(l_.data(), m, stride_, y.data(), threads_);
    std::fill(out, out + n, 0.0);
    for (Index k = 0; k < m; ++k)
        if (!left[at(k)]) out[rows_[at(k)]] = static_cast<double>(y[at(k)]);
}

template class ActiveFactor<float>;
template class ActiveFactor<double>;

}  // namespace sodm
