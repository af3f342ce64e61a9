// The values of a pair of classes: all in their places, each evaluated once for all pairs.
#include "exact/pair_values.hpp"

#include "check.hpp"
#include "kernel/point_kernel.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

template <class T>
void values_of_pairs(double density) {
    const Index features = 24;
    const Data data(300, features, density, 1);
    std::vector<std::vector<Index>> of_class(4);
    for (Index i = 0; i < data.n; ++i)
        of_class[at(i % 7 < 4 ? 0 : i % 3 == 0 ? 1 : 3)].push_back(i);  // class 2 has none
    const KernelFunction kernel = all_kernels(features * density)[1];
    PointSet<T> x(data.view(Form::rows), kernel);
    const PointKernel<T> source(kernel, x, x);
    Threads threads(2), alone(1);
    const PairValues<T> shared(source, of_class, threads);
    Buffer<T> out;
    std::uint64_t most = source.evaluations();
    for (Index c = 0; c < 4; ++c)
        for (Index d = c + 1; d < 4; ++d) {
            shared.fill(c, d, out, alone);
            std::vector<Index> rows = of_class[at(c)];
            rows.insert(rows.end(), of_class[at(d)].begin(), of_class[at(d)].end());
            const auto n = static_cast<Index>(rows.size());
            CHECK(static_cast<Index>(out.size()) == n * n);
            for (Index r = 0; r < n; ++r)
                for (Index k = 0; k < n; ++k)
                    CHECK_NEAR(static_cast<double>(out[at(r * n + k)]),
                               naive_kernel(kernel, data, rows[at(r)], data, rows[at(k)]), tolerance<T>(),
                               name(kernel.kind));
            most += of_class[at(c)].size() * of_class[at(d)].size();
        }
    CHECK(source.evaluations() == most);
}

}  // namespace

int main() {
    for (double density : {1.0, 0.1}) {
        values_of_pairs<float>(density);
        values_of_pairs<double>(density);
    }
    return failures();
}
