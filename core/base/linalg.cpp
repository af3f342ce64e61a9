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

// Copies between rows of a matrix and their columns, `t` with kBlock entries for each column.
void to_columns(const double* a, Index lda, int rows, int columns, double* t) {
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) t[c * kBlock + r] = a[r * lda + c];
}

void to_rows(const double* t, int rows, int columns, double* a, Index lda) {
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) a[r * lda + c] = t[c * kBlock + r];
}

// The lower triangle of a block on the diagonal becomes its factor. Column by column, each less what those
// before it take away: sums of columns, which the machine does several rows at a time.
bool factor_block(double* a, Index lda, int width, double* t) {
    const SimdOps<double>& ops = simd<double>();
    to_columns(a, lda, width, width, t);
    for (int c = 0; c < width; ++c) {
        double* column = t + c * kBlock;
        for (int k = 0; k < c; ++k)
            ops.add_scaled(t + k * kBlock + c, -t[k * kBlock + c], column + c, width - c);
        if (!(column[c] > 0) || !std::isfinite(column[c])) return false;
        const double pivot = std::sqrt(column[c]);
        column[c] = pivot;
        for (int r = c + 1; r < width; ++r) column[r] /= pivot;
    }
    for (int r = 0; r < width; ++r)
        for (int c = 0; c <= r; ++c) a[r * lda + c] = t[c * kBlock + r];
    return true;
}

// Rows below a factored block L become X with X L' = what they were.
void solve_block(const double* l, int width, double* rows_of, Index lda, int rows, double* t) {
    const SimdOps<double>& ops = simd<double>();
    to_columns(rows_of, lda, rows, width, t);
    for (int c = 0; c < width; ++c) {
        double* column = t + c * kBlock;
        for (int k = 0; k < c; ++k) ops.add_scaled(t + k * kBlock, -l[c * lda + k], column, rows);
        const double inverse = 1 / l[c * lda + c];
        for (int r = 0; r < rows; ++r) column[r] *= inverse;
    }
    to_rows(t, rows, width, rows_of, lda);
}

}  // namespace

bool cholesky(double* a, Index n, Threads& threads) {
    struct Scratch {
        Buffer<double> packed, sum, columns;
    };
    std::vector<Scratch> scratch(static_cast<std::size_t>(threads.count()));
    for (Scratch& s : scratch) s.columns.resize(static_cast<std::size_t>(kBlock * kBlock));
    for (Index j = 0; j < n; j += kBlock) {
        const int width = static_cast<int>(std::min(kBlock, n - j));
        double* diagonal = a + j * n + j;
        if (!factor_block(diagonal, n, width, scratch[0].columns.data())) return false;
        // The rows below it, a block of rows per task; then what they take away from the rest.
        const Index c0 = j + width;
        const auto tasks = static_cast<std::size_t>((n - c0 + kBlock - 1) / kBlock);
        const auto each = [&](auto&& work) {
            threads.run(tasks, [&](std::size_t t, int worker) {
                const Index r0 = c0 + static_cast<Index>(t) * kBlock;
                work(r0, static_cast<int>(std::min(n, r0 + kBlock) - r0),
                     scratch[static_cast<std::size_t>(worker)]);
            });
        };
        each([&](Index r0, int rows, Scratch& s) {
            solve_block(diagonal, width, a + r0 * n + j, n, rows, s.columns.data());
        });
        each([&](Index r0, int rows, Scratch& s) {
            subtract_product(a + r0 * n + j, n, rows, a + c0 * n + j, n, static_cast<int>(r0 + rows - c0),
                             width, a + r0 * n + c0, n, s.packed, s.sum);
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
