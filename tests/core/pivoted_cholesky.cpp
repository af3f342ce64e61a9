// Pivoted Cholesky: the greedy rule, the factor, repeated rows, subsets, any instruction set and number of
// threads.
#include "kernel/pivoted_cholesky.hpp"

#include "check.hpp"
#include "kernel/point_kernel.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

// The definition, one pivot at a time: each pivot given must have the largest residual when it is taken.
template <class T>
void check_rule(const KernelFunction& kernel, const Data& data, const std::vector<Index>& rows,
                const PivotedCholesky<T>& found, Index first, const std::string& where) {
    const std::size_t n = rows.size(), rank = found.pivots.size();
    const double noise = sizeof(T) == 4 ? 1e-4 : 1e-10;
    std::vector<double> residual(n), factor(n * rank);
    for (std::size_t i = 0; i < n; ++i) residual[i] = naive_kernel(kernel, data, rows[i], data, rows[i]);
    for (std::size_t k = 0; k < rank; ++k) {
        const std::size_t p = at(found.pivots[k]);
        if (k > 0 || first < 0)
            for (std::size_t i = 0; i < n; ++i) CHECK(residual[p] >= residual[i] - noise);
        const double root = std::sqrt(residual[p]);
        for (std::size_t i = 0; i < n; ++i) {
            double value = naive_kernel(kernel, data, rows[i], data, rows[p]);
            for (std::size_t j = 0; j < k; ++j) value -= factor[i * rank + j] * factor[p * rank + j];
            factor[i * rank + k] = value / root;
        }
        for (std::size_t i = 0; i < n; ++i) residual[i] -= factor[i * rank + k] * factor[i * rank + k];
    }
    for (std::size_t i = 0; i < n; ++i) CHECK_NEAR(found.residual[i], residual[i], noise, where);
    for (std::size_t i = 0; i < n; ++i) {
        double square = 0;
        for (std::size_t k = 0; k < rank; ++k) {
            const double f = static_cast<double>(found.factor[i * at(found.stride) + k]);
            square += f * f;
        }
        CHECK_NEAR(square + residual[i], naive_kernel(kernel, data, rows[i], data, rows[i]), noise, where);
    }
}

template <class T>
void greedy_rule() {
    const KernelFunction kernels[] = {{KernelKind::rbf, 2.0, 0, 1, 0.5},
                                      {KernelKind::laplacian, 0.5, 0, 1, 0}};
    for (double density : {1.0, 0.2})
        for (const KernelFunction& kernel : kernels) {
            const Data data(620, 18, density, 1);
            const PointSet<T> points(data.view(Form::rows), kernel);
            const PointKernel<T> source(kernel, points, points);
            std::vector<Index> rows;  // every row but a few, backwards
            for (Index i = data.n - 4; i >= 0; --i) rows.push_back(i);
            for (Index first : {-1, 7}) {
                Threads threads(2);
                const auto found = pivoted_cholesky(source, {rows.data(), static_cast<Index>(rows.size())},
                                                    {90, first, 0.0}, threads);
                CHECK(found.pivots.size() == 90);
                if (first >= 0) CHECK(found.pivots[0] == first);
                check_rule(kernel, data, rows, found, first, name(kernel.kind));
            }
        }
}

template <class T>
void repeated_rows_end_it() {
    const Data data(500, 2, 1.0, 2, 0.05);  // a grid of 4 x 4 points
    const KernelFunction kernel{KernelKind::laplacian, 40.0, 0, 1, 0};
    const PointSet<T> points(data.view(Form::rows), kernel);
    const PointKernel<T> source(kernel, points, points);
    Threads threads(1);
    for (const PivotOptions& options : {PivotOptions{300, 0, 0.0}, PivotOptions{300, -1, 0.0, 5}}) {
        const auto found = pivoted_cholesky(source, Subset::all(data.n), options, threads);
        CHECK(found.pivots.size() == 16);
        for (double r : found.residual) CHECK(r < 1e-4);
    }
}

template <class T>
void threads_change_nothing() {
    const Data data(700, 5, 1.0, 3);
    const KernelFunction kernel{KernelKind::rbf, 3.0, 0, 1, 0};
    const PointSet<T> points(data.view(Form::rows), kernel);
    const PointKernel<T> source(kernel, points, points);
    Threads one(1), four(4);
    for (const PivotOptions& options : {PivotOptions{80, 0, 0.0}, PivotOptions{80, -1, 0.0, 7}}) {
        const auto a = pivoted_cholesky(source, Subset::all(data.n), options, one);
        const auto b = pivoted_cholesky(source, Subset::all(data.n), options, four);
        CHECK(a.pivots.size() == 80);
        CHECK(a.pivots == b.pivots);
        CHECK(a.residual == b.residual);
        for (std::size_t i = 0; i < a.factor.size(); ++i) CHECK(a.factor[i] == b.factor[i]);
    }
}

template <class T>
void nothing_to_do() {
    const Data data(3, 2, 0.0, 4);
    const KernelFunction kernel{KernelKind::linear, 1, 0, 1, 0};
    const PointSet<T> points(data.view(Form::rows), kernel);
    const PointKernel<T> source(kernel, points, points);
    Threads threads(1);
    CHECK(
        pivoted_cholesky(source, Subset::all(3), {2, 0, 0.0}, threads).pivots.empty());  // all rows are zero
    CHECK(pivoted_cholesky(source, Subset::all(3), {0, 0, 0.0}, threads).pivots.empty());
    CHECK(pivoted_cholesky(source, Subset::all(0), {2, 0, 0.0}, threads).pivots.empty());
}

template <class T>
void all() {
    greedy_rule<T>();
    repeated_rows_end_it<T>();
    threads_change_nothing<T>();
    nothing_to_do<T>();
}

}  // namespace

int main() {
    for (const std::string& set : instruction_sets()) {
        simd_select(set.c_str());
        all<float>();
        all<double>();
    }
    return failures();
}
