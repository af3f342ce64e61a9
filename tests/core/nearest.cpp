// The nearest two centres of rows and the means of cells, against their definition, by one thread and by
// many.
#include "kernel/nearest.hpp"

#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "kernel/point_kernel.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

void nearest_are_the_smallest(Index n, Index centres) {
    const Data rows(n, 7, 1.0, 1), others(centres, 7, 1.0, 2);
    const KernelFunction linear{KernelKind::linear, 1, 0, 1, 0};
    const PointSet<double> x(rows.view(Form::rows), linear), z(others.view(Form::rows), linear, x.layout);
    const PointKernel<double> source(linear, x, z);
    std::vector<double> add(at(centres));
    for (Index c = 0; c < centres; ++c) add[at(c)] = static_cast<double>(c % 5);  // values are equal at times
    Threads one(1), three(3);
    const NearestTwo found = nearest_two(source, n, centres, add.data(), one),
                     same = nearest_two(source, n, centres, add.data(), three);
    CHECK(found.centre == same.centre && found.value == same.value);
    for (Index i = 0; i < n; ++i) {
        std::vector<double> value(at(centres));
        for (Index c = 0; c < centres; ++c)  // of multiples of 1/64: exact
            value[at(c)] = naive_kernel(linear, rows, i, others, c) + add[at(c)];
        std::vector<Index> order(at(centres));
        std::iota(order.begin(), order.end(), Index(0));
        std::stable_sort(order.begin(), order.end(),
                         [&](Index a, Index b) { return value[at(a)] < value[at(b)]; });
        CHECK(found.centre[at(2 * i)] == order[0]);
        CHECK(found.value[at(2 * i)] == value[at(order[0])]);
        CHECK(found.centre[at(2 * i + 1)] == order[at(std::min<Index>(1, centres - 1))]);
        CHECK(centres > 1 ? found.value[at(2 * i + 1)] == value[at(order[1])]
                          : found.value[at(2 * i + 1)] == HUGE_VAL);
    }
}

void means_are_means(Form form) {
    const Index n = 900, cells = 21;
    const Data data(n, 5, 1.0, 3);
    std::vector<Index> of(at(n));
    for (Index i = 0; i < n; ++i) of[at(i)] = i * i % cells % 7 * 3 + i % 3;
    Threads one(1), three(3);
    const std::vector<double> means = means_of_cells(data.view(form), of.data(), cells, one);
    CHECK(means == means_of_cells(data.view(form), of.data(), cells, three));
    for (Index c = 0; c < cells; ++c) {
        double sum = 0, count = 0;
        for (Index i = 0; i < n; ++i)
            if (of[at(i)] == c) sum += data.rows[at(i * 5 + 2)], ++count;
        if (count > 0) CHECK_NEAR(means[at(c * 5 + 2)], sum / count, 1e-13, name(form));
    }
}

}  // namespace

int main() {
    for (const Index centres : {1, 2, 7, 8, 9, 130, 300}) nearest_are_the_smallest(500, centres);
    for (const Form form : {Form::rows, Form::columns, Form::single_rows}) means_are_means(form);
    return failures();
}
