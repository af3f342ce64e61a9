// The Nystrom preconditioner: the inverse of F'F + D, also beside a ridge that single precision cannot see.
#include "exact/nystrom.hpp"

#include <cmath>
#include <numeric>

#include "check.hpp"
#include "kernel/point_kernel.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

// |P^-1 (F'F + D) x - x| / |x|, for the F that is kept.
double error_of_inverse(double ridge, bool wide, Threads& threads) {
    const Index n = 700, rank = 150;
    const Data data(n, 4, 1.0, 1);
    const KernelFunction kernel{KernelKind::rbf, 0.5, 0, 3, 0.0};
    PointSet<float> x(data.view(Form::rows), kernel);
    PointKernel<float> source(kernel, x, x);
    std::vector<Index> rows(at(n));
    std::iota(rows.begin(), rows.end(), Index(0));
    NystromFactor<float> factor(source, threads);
    factor.choose(rows, rank, n, 0, wide);
    factor.set_rows({rows.begin(), rows.begin() + 400}, 0);
    factor.set_rows(rows, 400);
    CHECK(factor.rank() > 30);

    const TileResiduals<float> none;
    NystromPreconditioner<float> preconditioner(factor, none, threads);
    std::vector<double> inverse_d(at(n), 1 / ridge), some = inverse_d;
    for (Index i = 0; i < n; i += 9) some[at(i)] = 0;
    preconditioner.set(some.data());
    preconditioner.set(inverse_d.data());  // rows have come since

    std::vector<double> v(at(n)), features(at(factor.rank()), 0.0), r(at(n)), back(at(n));
    for (Index i = 0; i < n; ++i) v[at(i)] = std::sin(static_cast<double>(i * i));
    const auto f = [&](Index k, Index i) {
        return static_cast<double>(factor.tile(i / kTile)[k * kTile + i % kTile]);
    };
    for (Index k = 0; k < factor.rank(); ++k)
        for (Index i = 0; i < n; ++i) features[at(k)] += f(k, i) * v[at(i)];
    for (Index i = 0; i < n; ++i) {
        r[at(i)] = ridge * v[at(i)];
        for (Index k = 0; k < factor.rank(); ++k) r[at(i)] += f(k, i) * features[at(k)];
    }
    preconditioner.apply(r.data(), back.data());
    double off = 0, all = 0;
    for (Index i = 0; i < n; ++i) {
        off += std::pow(back[at(i)] - v[at(i)], 2);
        all += v[at(i)] * v[at(i)];
    }
    return std::sqrt(off / all);
}

}  // namespace

int main() {
    Threads one(1), three(3);
    CHECK(error_of_inverse(0.5, false, one) < 1e-3);
    CHECK(error_of_inverse(0.5, false, one) == error_of_inverse(0.5, false, three));
    CHECK(error_of_inverse(1e-4, false, one) > 1e-3);  // why sums are wide there
    CHECK(error_of_inverse(1e-4, true, one) < 1e-7);
    CHECK(error_of_inverse(1e-4, true, one) == error_of_inverse(1e-4, true, three));
    return failures();
}
