// Cholesky, its solve, the inverse of a triangle, and the smallest eigenvalue, against plain loops.
#include "base/linalg.hpp"

#include <random>

#include "base/lanczos.hpp"
#include "check.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

std::vector<double> random_matrix(Index n, double ridge, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> b(at(n * n)), a(at(n * n), 0.0);
    for (double& v : b) v = uniform(random);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            for (Index k = 0; k < n; ++k) a[at(i * n + j)] += b[at(i * n + k)] * b[at(j * n + k)];
            if (i == j) a[at(i * n + j)] += ridge;
        }
    return a;
}

void factorisation(Index n) {
    Threads threads(3);
    const std::vector<double> a = random_matrix(n, 1.0, static_cast<unsigned>(n));
    std::vector<double> l = a, inverse(at(n * n)), b(at(n)), x;
    CHECK(cholesky(l.data(), n, threads));
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j)
            CHECK_NEAR(dot(l.data() + i * n, l.data() + j * n, j + 1), a[at(i * n + j)],
                       1e-11 * static_cast<double>(n), "L L'");
    for (Index i = 0; i < n; ++i) b[at(i)] = static_cast<double>(i % 7) - 3;
    x = b;
    cholesky_solve(l.data(), n, x.data());
    for (Index i = 0; i < n; ++i) CHECK_NEAR(dot(a.data() + i * n, x.data(), n), b[at(i)], 1e-8, "A x");
    invert_lower(l.data(), n, inverse.data(), threads);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            double sum = 0;
            for (Index k = 0; k <= i; ++k) sum += l[at(i * n + k)] * inverse[at(k * n + j)];
            CHECK_NEAR(sum, i == j ? 1.0 : 0.0, 1e-9, "L L^-1");
        }
    std::vector<double> indefinite = a;
    indefinite[at(n * n - 1)] = -1e6;
    CHECK(!cholesky(indefinite.data(), n, threads));
}

// Rows with room between them, in single precision, the last columns later than the first.
void continued(Index n, Index first, Index stride) {
    const std::vector<double> a = random_matrix(n, 1.0, 3);
    std::vector<float> l(at(n * stride), -7.0f);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j) l[at(i * stride + j)] = static_cast<float>(a[at(i * n + j)]);
    std::vector<float> whole = l, bits = l;
    Threads one(1), three(3);
    CHECK(cholesky(whole.data(), n, stride, Index(0), one));
    CHECK(cholesky(bits.data(), n, stride, Index(0), three));
    CHECK(bits == whole);
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j <= i; ++j) {
            double sum = 0;
            for (Index k = 0; k <= j; ++k)
                sum += static_cast<double>(whole[at(i * stride + k)]) *
                       static_cast<double>(whole[at(j * stride + k)]);
            CHECK_NEAR(sum, a[at(i * n + j)], 2e-5 * static_cast<double>(n), "L L' in single precision");
        }
        for (Index j = i + 1; j < stride; ++j) CHECK(whole[at(i * stride + j)] == -7.0f);  // not ours
    }
    for (Index i = 0; i < n; ++i)  // columns of L that are there already
        for (Index j = 0; j <= std::min(i, first - 1); ++j) l[at(i * stride + j)] = whole[at(i * stride + j)];
    CHECK(cholesky(l.data(), n, stride, first, three));
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j)
            CHECK_NEAR(l[at(i * stride + j)], whole[at(i * stride + j)], 1e-4 * static_cast<double>(n),
                       "continued");
}

void smallest() {
    const Index n = 30;
    std::vector<double> a = random_matrix(n, -5.0, 9);
    const double found =
        smallest_eigenvalue(n, 1, 30, [&](const std::vector<double>& x, std::vector<double>& y) {
            y.resize(x.size());
            for (Index i = 0; i < n; ++i) y[at(i)] = dot(a.data() + i * n, x.data(), n);
        });
    // Just below it the shifted matrix is positive definite, just above it is not.
    Threads threads(1);
    for (double step : {-0.02, 0.02}) {
        std::vector<double> shifted = a;
        for (Index i = 0; i < n; ++i) shifted[at(i * n + i)] -= found + step;
        CHECK(cholesky(shifted.data(), n, threads) == (step < 0));
    }
}

}  // namespace

int main() {
    for (Index n : {1, 5, 64, 65, 150}) factorisation(n);
    for (Index n : {70, 150, 300}) continued(n, n - 37, n + 11);
    smallest();
    return failures();
}
