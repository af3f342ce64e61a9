#include "base/linalg.hpp"

#include <algorithm>
#include <cmath>

#include "simd/ops.hpp"

namespace sodm {

namespace {

constexpr Index kBlock = 64;    // columns that are factored together
constexpr Index kDepth = 512;   // columns before them that are taken away at a time, to stay in the cache
constexpr Index kStretch = 96;  // rows of a task

// The lower triangle of a block on the diagonal, in columns of kBlock entries, becomes its factor. Column by
// column, each less what those before it take away: sums of columns, which the machine does several rows at a
// time.
bool factor_block(double* t, int width) {
    const SimdOps<double>& ops = simd<double>();
    for (int c = 0; c < width; ++c) {
        double* column = t + c * kBlock;
        for (int k = 0; k < c; ++k)
            ops.add_scaled(t + k * kBlock + c, -t[k * kBlock + c], column + c, width - c);
        if (!(column[c] > 0) || !std::isfinite(column[c])) return false;
        const double pivot = std::sqrt(column[c]);
        column[c] = pivot;
        for (int r = c + 1; r < width; ++r) column[r] /= pivot;
    }
    return true;
}

// Columns of the inverse of a factored block, in the same layout, zeros above the diagonal.
void invert_block(const double* t, int width, double* inverse) {
    const SimdOps<double>& ops = simd<double>();
    std::fill(inverse, inverse + kBlock * kBlock, 0.0);
    for (int c = 0; c < width; ++c) {
        double* x = inverse + c * kBlock;
        x[c] = 1;
        for (int k = c; k < width; ++k) {
            x[k] /= t[k * kBlock + k];
            ops.add_scaled(t + k * kBlock + k + 1, -x[k], x + k + 1, width - k - 1);
        }
    }
}

}  // namespace

// Blocks of columns from left to right, each less what all before it take away: one product of great depth,
// through the micro-kernel of the tiles, is nearly all of the work. A block on the diagonal is factored in
// double.
template <class T>
bool cholesky(T* a, Index n, Index stride, Index done, Threads& threads) {
    constexpr int W = kPanel<T>, kPanels = static_cast<int>(kBlock) / W;
    const SimdOps<T>& ops = simd<T>();
    Buffer<T> panels(static_cast<std::size_t>(kPanels) * static_cast<std::size_t>(W * n));
    Buffer<T> inverse_panels(static_cast<std::size_t>(kBlock * kBlock));
    std::vector<Buffer<T>> scratch(static_cast<std::size_t>(threads.count()));
    for (auto& s : scratch) s.resize(static_cast<std::size_t>(kStretch * kBlock));
    double block[kBlock * kBlock], inverse[kBlock * kBlock];
    for (Index j = done; j < n; j += kBlock) {
        const int width = static_cast<int>(std::min(kBlock, n - j)), used = (width + W - 1) / W;
        // The rows of the block, turned to panels with the other sign: what is added is what they take away.
        threads.run(static_cast<std::size_t>(used), [&](std::size_t p, int) {
            T* panel = panels.data() + static_cast<Index>(p) * W * n;
            const Index c0 = static_cast<Index>(p) * W;
            for (Index c = 0; c < W; ++c) {
                const T* row = a + (j + c0 + c) * stride;
                if (c0 + c < width)
                    for (Index k = 0; k < j; ++k) panel[k * W + c] = -row[k];
                else
                    for (Index k = 0; k < j; ++k) panel[k * W + c] = T(0);
            }
        });
        const auto each = [&](Index from, auto&& work) {
            threads.run(static_cast<std::size_t>((n - from + kStretch - 1) / kStretch),
                        [&](std::size_t t, int worker) {
                            const Index r0 = from + static_cast<Index>(t) * kStretch;
                            work(r0, static_cast<int>(std::min(n - r0, kStretch)),
                                 scratch[static_cast<std::size_t>(worker)].data());
                        });
        };
        each(j, [&](Index r0, int rows, T* sum) {
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < used * W; ++c)
                    sum[r * kBlock + c] = c < width && j + c <= r0 + r ? a[(r0 + r) * stride + j + c] : T(0);
            for (Index k = 0; k < j; k += kDepth)
                for (int p = 0; p < used; ++p)
                    ops.pair_dense(Pairing::product, a + r0 * stride + k, stride, 1, rows,
                                   static_cast<int>(std::min(kDepth, j - k)), panels.data() + (p * n + k) * W,
                                   W, sum + p * W, kBlock, true);
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < width && j + c <= r0 + r; ++c)
                    a[(r0 + r) * stride + j + c] = sum[r * kBlock + c];
        });
        for (int r = 0; r < width; ++r)
            for (int c = 0; c <= r; ++c)
                block[c * kBlock + r] = static_cast<double>(a[(j + r) * stride + j + c]);
        if (!factor_block(block, width)) return false;
        for (int r = 0; r < width; ++r)
            for (int c = 0; c <= r; ++c) a[(j + r) * stride + j + c] = static_cast<T>(block[c * kBlock + r]);
        if (j + width == n) break;
        // The rows below become X with X L' = what they were.
        invert_block(block, width, inverse);
        for (int p = 0; p < kPanels; ++p)
            for (int k = 0; k < kBlock; ++k)
                for (int c = 0; c < W; ++c)
                    inverse_panels[static_cast<std::size_t>((p * kBlock + k) * W + c)] =
                        static_cast<T>(inverse[k * kBlock + p * W + c]);
        each(j + width, [&](Index r0, int rows, T* product) {
            for (int p = 0; p < kPanels; ++p)
                ops.pair_dense(Pairing::product, a + r0 * stride + j, stride, 1, rows, width,
                               inverse_panels.data() + p * kBlock * W, W, product + p * W, kBlock, false);
            for (int r = 0; r < rows; ++r)
                std::copy_n(product + r * kBlock, width, a + (r0 + r) * stride + j);
        });
    }
    return true;
}

template bool cholesky(float*, Index, Index, Index, Threads&);
template bool cholesky(double*, Index, Index, Index, Threads&);

void cholesky_solve(const double* l, Index n, double* b) {
    for (Index i = 0; i < n; ++i) b[i] = (b[i] - dot(l + i * n, b, i)) / l[i * n + i];
    for (Index i = n - 1; i >= 0; --i) {
        b[i] /= l[i * n + i];
        const double v = b[i];
        const double* row = l + i * n;
        for (Index k = 0; k < i; ++k) b[k] -= v * row[k];
    }
}

void invert_lower(const double* l, Index n, double* out, Threads& threads) {
    // Row i of the inverse: (e_i - sum_{k < i} l_ik row_k) / l_ii; a stripe of columns per task.
    std::fill(out, out + n * n, 0.0);
    const auto tasks = static_cast<std::size_t>((n + kBlock - 1) / kBlock);
    threads.run(tasks, [&](std::size_t t, int) {
        const Index c0 = static_cast<Index>(t) * kBlock, c1 = std::min(n, c0 + kBlock);
        for (Index i = c0; i < n; ++i) {
            double* row = out + i * n;
            for (Index k = c0; k < i; ++k) {
                const double v = l[i * n + k];
                const double* from = out + k * n;
                for (Index c = c0; c < c1; ++c) row[c] -= v * from[c];
            }
            if (i < c1) row[i] += 1.0;
            for (Index c = c0; c < c1; ++c) row[c] /= l[i * n + i];
        }
    });
}

double dot(const double* a, const double* b, Index n) {
    double s[4] = {0, 0, 0, 0};  // four chains in a fixed order
    Index i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; ++k) s[k] += a[i + k] * b[i + k];
    for (; i < n; ++i) s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

}  // namespace sodm
