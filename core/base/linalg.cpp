#include "base/linalg.hpp"

#include <algorithm>
#include <cmath>

#include "simd/ops.hpp"

namespace sodm {

namespace {

constexpr Index kBlock = 64;

// out[r][c] -= sum_k a[r][k] b[c][k]: rows of a against rows of b, through the micro-kernel of the tiles.
// `packed` and `sum` are scratch.
void subtract_product(const double* a, Index lda, int rows, const double* b, Index ldb, int columns,
                      int depth, double* out, Index ldo, Buffer<double>& packed, Buffer<double>& sum) {
    constexpr int W = kPanel<double>;
    const SimdOps<double>& ops = simd<double>();
    packed.resize(static_cast<std::size_t>(W * depth));
    sum.resize(static_cast<std::size_t>(W * rows));
    for (int c0 = 0; c0 < columns; c0 += W) {
        const int width = std::min(W, columns - c0);
        for (int k = 0; k < depth; ++k)
            for (int c = 0; c < W; ++c)
                packed[static_cast<std::size_t>(k * W + c)] = c < width ? b[(c0 + c) * ldb + k] : 0.0;
        ops.pair_dense(Pairing::product, a, lda, 1, rows, depth, packed.data(), W, sum.data(), W, false);
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < width; ++c) out[r * ldo + c0 + c] -= sum[static_cast<std::size_t>(r * W + c)];
    }
}

}  // namespace

bool cholesky(double* a, Index n, Threads& threads) {
    struct Scratch {
        Buffer<double> packed, sum;
    };
    std::vector<Scratch> scratch(static_cast<std::size_t>(threads.count()));
    for (Index j = 0; j < n; j += kBlock) {
        const Index width = std::min(kBlock, n - j);
        // The diagonal block itself.
        for (Index c = j; c < j + width; ++c) {
            double pivot = a[c * n + c];
            for (Index k = j; k < c; ++k) pivot -= a[c * n + k] * a[c * n + k];
            if (!(pivot > 0) || !std::isfinite(pivot)) return false;
            pivot = std::sqrt(pivot);
            a[c * n + c] = pivot;
            for (Index r = c + 1; r < j + width; ++r) {
                double v = a[r * n + c];
                for (Index k = j; k < c; ++k) v -= a[r * n + k] * a[c * n + k];
                a[r * n + c] = v / pivot;
            }
        }
        // The rows below it, a block of rows per task; then what they take away from the rest.
        const Index below = n - (j + width);
        const auto tasks = static_cast<std::size_t>((below + kBlock - 1) / kBlock);
        threads.run(tasks, [&](std::size_t t, int) {
            const Index r0 = j + width + static_cast<Index>(t) * kBlock;
            const Index r1 = std::min(n, r0 + kBlock);
            for (Index r = r0; r < r1; ++r)
                for (Index c = j; c < j + width; ++c) {
                    double v = a[r * n + c];
                    for (Index k = j; k < c; ++k) v -= a[r * n + k] * a[c * n + k];
                    a[r * n + c] = v / a[c * n + c];
                }
        });
        threads.run(tasks, [&](std::size_t t, int worker) {
            Scratch& s = scratch[static_cast<std::size_t>(worker)];
            const Index r0 = j + width + static_cast<Index>(t) * kBlock;
            const int rows = static_cast<int>(std::min(n, r0 + kBlock) - r0);
            const Index c0 = j + width;
            subtract_product(a + r0 * n + j, n, rows, a + c0 * n + j, n, static_cast<int>(r0 + rows - c0),
                             static_cast<int>(width), a + r0 * n + c0, n, s.packed, s.sum);
        });
    }
    return true;
}

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
