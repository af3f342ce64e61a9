// What landmarks leave of a kernel: by the rows and gamma, whatever constant stands beside the kernel.
#include "kernel/spectrum.hpp"

#include "base/random.hpp"
#include "check.hpp"
#include "kernel/point_kernel.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

template <class T>
double rest(Index n, Index features, double gamma, double constant, int count) {
    std::vector<double> x(at(n * features));
    Random random(1);
    for (double& value : x) value = random.uniform();
    RowsView view;
    view.n = n;
    view.features = features;
    view.values = x.data();
    view.row_stride = features;
    const KernelFunction kernel{KernelKind::rbf, gamma, 0, 3, constant};
    PointSet<T> points(view, kernel);
    PointKernel<T> source(kernel, points, points);
    Threads threads(count);
    return rest_of_landmarks(source, threads);
}

template <class T>
void narrow_and_wide() {
    for (double constant : {0.0, 1.0})
        for (int count : {1, 2}) {
            CHECK(rest<T>(3000, 10, 5.0, constant, count) > 0.5);
            CHECK(rest<T>(3000, 10, 0.1, constant, count) < 0.01);
            CHECK(rest<T>(3000, 2, 5.0, constant, count) < 0.01);
            CHECK(rest<T>(3000, 10, 1e-9, constant, count) < 1e-6);
            CHECK(rest<T>(300, 10, 500.0, constant, count) > 0.1);  // fewer rows than a sample
            CHECK(rest<T>(200, 10, 500.0, constant, count) == 0);   // all of them landmarks
        }
}

}  // namespace

int main() {
    narrow_and_wide<float>();
    narrow_and_wide<double>();
    return failures();
}
