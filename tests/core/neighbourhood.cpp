// The order of neighbours: every row once, clusters in one piece; and which kernels are local.
#include "kernel/neighbourhood.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "check.hpp"
#include "kernel/point_kernel.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

template <class T>
void clusters_stay_together() {
    const Index n = 2400, clusters = 6;
    std::vector<double> x(at(n * 2));
    Random random(1);
    for (Index i = 0; i < n; ++i) {  // cluster i % 6, interleaved
        x[at(2 * i)] = 10.0 * static_cast<double>(i % clusters) + random.uniform();
        x[at(2 * i + 1)] = random.uniform();
    }
    RowsView view;
    view.n = n;
    view.features = 2;
    view.values = x.data();
    view.row_stride = 2;
    const KernelFunction narrow{KernelKind::rbf, 30.0, 0, 3, 0}, wide{KernelKind::rbf, 1e-4, 0, 3, 0};
    PointSet<T> points(view, narrow), same(view, wide);
    PointKernel<T> local(narrow, points, points), global(wide, same, same);
    Threads one(1), two(2);
    CHECK(is_local(local, one));
    CHECK(!is_local(global, one));
    const std::vector<Index> order = neighbourhood_order(local, one);
    CHECK(order == neighbourhood_order(local, two));
    Index changes = 0;
    for (Index k = 1; k < n; ++k) changes += order[at(k)] % clusters != order[at(k - 1)] % clusters;
    CHECK(changes == clusters - 1);
    std::vector<Index> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (Index i = 0; i < n; ++i) CHECK(sorted[at(i)] == i);
}

}  // namespace

int main() {
    clusters_stay_together<float>();
    clusters_stay_together<double>();
    return failures();
}
