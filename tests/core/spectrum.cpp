// What landmarks leave of a kernel, and how many rows a row sees: by the rows and gamma, whatever constant
// stands beside the kernel.
#include "kernel/spectrum.hpp"

#include <cmath>

#include "base/random.hpp"
#include "check.hpp"
#include "kernel/point_kernel.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

// `measure` of an rbf kernel of rows in the unit cube.
template <class T, class Measure>
double of_kernel(Index n, Index features, double gamma, double constant, int count, Measure measure) {
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
    return measure(source, threads);
}

template <class T>
double rest(Index n, Index features, double gamma, double constant, int count) {
    return of_kernel<T>(n, features, gamma, constant, count, rest_of_landmarks<T>);
}

template <class T>
double seen(Index n, Index features, double gamma, double constant, int count) {
    return of_kernel<T>(n, features, gamma, constant, count, seen_by_a_row<T>);
}

template <class T>
void near_and_far() {
    for (double constant : {0.0, 1.0}) {
        // In the plane a row sees n pi / gamma others, fewer at the edge of the square.
        const double many = seen<T>(4000, 2, 200.0, constant, 1);
        CHECK(many > 50 && many < 4000 * 3.15 / 200.0);
        CHECK(seen<T>(4000, 2, 200.0, constant, 2) == many);
        CHECK(std::fabs(seen<T>(4000, 10, 1e6, constant, 1) - 1) < 0.01);    // itself alone
        CHECK(std::fabs(seen<T>(4000, 2, 1e-9, constant, 1) - 4000) < 1.0);  // all
    }
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
    near_and_far<float>();
    near_and_far<double>();
    return failures();
}
