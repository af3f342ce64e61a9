// The factor of the active rows: made, brought up to date as rows come and go, applied; against a solve in
// double of the system itself.
#include "exact/active_factor.hpp"

#include <numeric>
#include <random>

#include "base/linalg.hpp"
#include "check.hpp"
#include "kernel/point_kernel.hpp"
#include "kernel/products.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

using Vector = std::vector<double>;

// (K_AA + D_A)^-1 r_A for A = {i : d_i > 0}, zeros elsewhere.
Vector solved(const Vector& k, Index n, const Vector& d, const Vector& r) {
    std::vector<Index> active;
    for (Index i = 0; i < n; ++i)
        if (d[at(i)] > 0) active.push_back(i);
    const auto m = static_cast<Index>(active.size());
    Vector a(at(m * m)), b(at(m)), out(at(n), 0.0);
    for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < m; ++j) a[at(i * m + j)] = k[at(active[at(i)] * n + active[at(j)])];
        a[at(i * m + i)] += d[at(active[at(i)])];
        b[at(i)] = r[at(active[at(i)])];
    }
    Threads threads(1);
    CHECK(cholesky(a.data(), m, threads));
    cholesky_solve(a.data(), m, b.data());
    for (Index i = 0; i < m; ++i) out[at(active[at(i)])] = b[at(i)];
    return out;
}

template <class T>
void follows_the_active_set(std::size_t cache, double gamma) {
    const Index n = 700;  // several tiles, blocks and panels, none of them full
    const Data data(n, 6, 1.0, 5);
    const KernelFunction kernel{KernelKind::rbf, gamma, 0, 3, 0.5};
    PointSet<T> x(data.view(Form::rows), kernel);
    PointKernel<T> source(kernel, x, x);
    std::vector<Index> rows(at(n));
    std::iota(rows.begin(), rows.end(), Index(0));
    Threads one(1), three(3);
    GramMatrix<T> gram(source, cache, one), same(source, std::size_t(1) << 30, three);
    gram.assign(rows);
    same.assign(rows);
    Vector k(at(n * n)), r(at(n)), d(at(n)), out(at(n)), again(at(n));
    kernel_block(source, Subset::all(n), Subset::all(n), k.data(), n, one);
    std::mt19937 random(6);
    for (Index i = 0; i < n; ++i) {
        r[at(i)] = static_cast<double>(random() % 1000) / 500 - 1;
        d[at(i)] = i % 3 == 0 ? 0.0 : 0.25;
    }
    ActiveFactor<T> factor(one), other(three);
    CHECK(!factor.update(gram, d.data()));  // there is none yet
    CHECK(factor.factor(gram, d.data()) && other.factor(same, d.data()));
    int updated = 0;
    for (int step = 0; step < 6; ++step) {
        for (int change = 0; change < 9 && step > 0; ++change) {
            double& one_d = d[at(static_cast<Index>(random()) % n)];
            one_d = one_d > 0 ? 0.0 : 0.25;
        }
        if (step > 0) {
            const bool kept = factor.update(gram, d.data());
            CHECK(other.update(same, d.data()) == kept);
            updated += kept;
            if (!kept) CHECK(factor.factor(gram, d.data()) && other.factor(same, d.data()));
        }
        factor.apply(r.data(), n, out.data());
        other.apply(r.data(), n, again.data());
        CHECK(out == again);  // whatever is stored and however many threads
        const Vector expected = solved(k, n, d, r);
        for (Index i = 0; i < n; ++i)
            CHECK_NEAR(out[at(i)], expected[at(i)], 2000 * tolerance<T>(), "P^-1 r");
    }
    CHECK(updated >= 3);
    for (Index i = 0; i < n; ++i) d[at(i)] = i % 2 == 0 ? 0.25 : 0.0;
    CHECK(!factor.update(gram, d.data()));  // too many have come and gone
    CHECK(factor.empty());
}

}  // namespace

int main() {
    for (std::size_t cache : {std::size_t(0), std::size_t(300) << 10, std::size_t(1) << 30})
        for (double gamma : {0.5, 60.0}) {
            follows_the_active_set<float>(cache, gamma);
            follows_the_active_set<double>(cache, gamma);
        }
    return failures();
}
