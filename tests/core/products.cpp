// Blocks and fused products: subsets, several vectors, any number of threads, errors on the way.
#include "kernel/products.hpp"

#include <random>
#include <stdexcept>

#include "check.hpp"
#include "kernel/function_kernel.hpp"
#include "kernel/matrix_kernel.hpp"
#include "kernel/point_kernel.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

std::vector<Index> some_rows(Index n, Index from, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Index> list;
    for (Index i = 0; i < n; ++i) list.push_back(static_cast<Index>(random() % static_cast<unsigned>(from)));
    return list;  // in any order, with repeats
}

template <class T>
void blocks_of_subsets() {
    for (double density : {1.0, 0.1}) {
        const Data a(60, 24, density, 1), b(90, 24, density, 2);
        for (const KernelFunction& kernel : all_kernels(24 * density)) {
            PointSet<T> x(a.view(Form::rows), kernel), z(b.view(Form::rows), kernel, x.layout);
            PointKernel<T> source(kernel, x, z);
            Threads threads(3);
            for (Index n_rows : {1, 50})
                for (Index n_columns : {1, 31, 133}) {
                    const auto rows = some_rows(n_rows, a.n, 3), columns = some_rows(n_columns, b.n, 4);
                    const Index ldo = n_columns + 5;
                    std::vector<double> out(at(n_rows * ldo), -7);
                    kernel_block(source, {rows.data(), n_rows}, {columns.data(), n_columns}, out.data(), ldo,
                                 threads);
                    for (Index r = 0; r < n_rows; ++r) {
                        for (Index c = 0; c < n_columns; ++c)
                            CHECK_NEAR(out[at(r * ldo + c)],
                                       naive_kernel(kernel, a, rows[at(r)], b, columns[at(c)]),
                                       tolerance<T>(), name(kernel.kind));
                        for (Index c = n_columns; c < ldo; ++c) CHECK(out[at(r * ldo + c)] == -7);
                    }
                }
        }
    }
}

template <class T>
void blocks_of_stored_values() {
    const Data k(140, 300, 1.0, 1);
    for (Form form : {Form::rows, Form::columns, Form::single_rows})
        for (double offset : {0.0, 0.5}) {
            const MatrixKernel<T> source(k.view(form), offset);
            const auto rows = some_rows(101, k.n, 3), columns = some_rows(133, k.features, 4);
            for (int n_threads : {1, 3}) {
                Threads threads(n_threads);
                std::vector<T> out(at(101 * 140), T(-7));
                kernel_block(source, {rows.data(), 101}, {columns.data(), 133}, out.data(), 140, threads);
                for (Index r = 0; r < 101; ++r)
                    for (Index c = 0; c < 140; ++c)
                        CHECK(
                            static_cast<double>(out[at(r * 140 + c)]) ==
                            (c < 133 ? k.rows[at(rows[at(r)] * k.features + columns[at(c)])] + offset : -7));
            }
        }
}

template <class T>
void fused_products(const std::string& set) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (double density : {1.0, 0.1}) {
        const Data a(211, 24, density, 5), b(150, 24, density, 6);
        const auto row_list = some_rows(100, a.n, 8), column_list = some_rows(37, b.n, 9);
        for (const KernelFunction& kernel : all_kernels(24 * density)) {
            PointSet<T> x(a.view(Form::rows), kernel), z(b.view(Form::rows), kernel, x.layout);
            PointKernel<T> source(kernel, x, z);
            for (bool lists : {false, true})
                for (int n_vectors : {1, 3}) {
                    const Subset rows = lists ? Subset{row_list.data(), 100} : Subset::all(a.n);
                    const Subset columns = lists ? Subset{column_list.data(), 37} : Subset::all(b.n);
                    std::vector<double> weights(at(rows.n) * static_cast<std::size_t>(n_vectors));
                    for (double& w : weights) w = uniform(random);
                    std::vector<double> out(at(columns.n) * static_cast<std::size_t>(n_vectors), -7);
                    Threads threads(2);
                    kernel_apply(source, rows, columns, weights.data(), n_vectors, out.data(), threads);
                    for (int v = 0; v < n_vectors; ++v)
                        for (Index c = 0; c < columns.n; ++c) {
                            double sum = 0, size = 1;
                            for (Index r = 0; r < rows.n; ++r) {
                                const double term = weights[at(v * rows.n + r)] *
                                                    naive_kernel(kernel, a, rows[r], b, columns[c]);
                                sum += term;
                                size += std::fabs(term);
                            }
                            CHECK_NEAR(out[at(v * columns.n + c)] / size, sum / size, tolerance<T>(),
                                       set + " " + name(kernel.kind));
                        }
                    // However many threads: the same to the last bit.
                    for (int n_threads : {1, 3, 5}) {
                        Threads others(n_threads);
                        std::vector<double> again(out.size(), 7);
                        kernel_apply(source, rows, columns, weights.data(), n_vectors, again.data(), others);
                        CHECK(again == out);
                    }
                }
        }
    }
}

// Against all values; repeated columns are equal, and the first of them counts.
template <class T>
void smallest_of_all() {
    for (double density : {1.0, 0.1})
        for (Index n_columns : {1, 2, 131, 300}) {
            const Data a(900, 24, density, 1), b(90, 24, density, 2);
            const KernelFunction kernel{KernelKind::linear, 1, 0, 1, 0};
            PointSet<T> x(a.view(Form::rows), kernel), z(b.view(Form::rows), kernel, x.layout);
            PointKernel<T> source(kernel, x, z);
            const auto columns = some_rows(n_columns, b.n, 4);
            std::vector<double> shift, all(at(a.n * n_columns));
            for (Index c : columns) shift.push_back(0.01 * static_cast<double>(c));
            const Subset rows = Subset::all(a.n), chosen{columns.data(), n_columns};
            Threads one(1);
            kernel_block(source, rows, chosen, all.data(), n_columns, one);
            for (int n_threads : {1, 3}) {
                Threads threads(n_threads);
                std::vector<Index> which(at(2 * a.n));
                std::vector<double> value(at(2 * a.n));
                two_smallest(source, rows, chosen, shift.data(), which.data(), value.data(), threads);
                for (Index r = 0; r < a.n; ++r) {
                    const auto of = [&](Index c) { return all[at(r * n_columns + c)] + shift[at(c)]; };
                    Index first = 0, second = -1;
                    for (Index c = 1; c < n_columns; ++c)
                        if (of(c) < of(first)) first = c;
                    for (Index c = 0; c < n_columns; ++c)
                        if (c != first && (second < 0 || of(c) < of(second))) second = c;
                    CHECK(which[at(2 * r)] == first);
                    CHECK(value[at(2 * r)] == of(first));
                    CHECK(which[at(2 * r + 1)] == (second < 0 ? 0 : second));
                    CHECK(value[at(2 * r + 1)] == (second < 0 ? HUGE_VAL : of(second)));
                }
            }
        }
}

void nothing_to_do() {
    const Data a(5, 3, 1.0, 1);
    const KernelFunction kernel;
    PointSet<float> x(a.view(Form::rows), kernel);
    PointKernel<float> source(kernel, x, x);
    Threads threads(2);
    std::vector<double> weights(5, 1.0), out(5, -7);
    kernel_apply(source, Subset::all(0), Subset::all(5), weights.data(), 1, out.data(), threads);
    for (double v : out) CHECK(v == 0);
    kernel_apply(source, Subset::all(5), Subset::all(0), weights.data(), 1, out.data(), threads);
    kernel_block(source, Subset::all(0), Subset::all(5), out.data(), 5, threads);
    kernel_block(source, Subset::all(5), Subset::all(0), out.data(), 5, threads);
    for (double v : out) CHECK(v == 0);
}

void errors_come_through() {
    FunctionKernel<float> source(500, 500, std::vector<double>(500, 1.0), 0.0,
                                 [](const Index*, int, const Index* columns, int, float*) {
                                     if (columns[0] >= 256) throw std::domain_error("no value here");
                                 });
    Threads threads(2);
    std::vector<float> out(500 * 500);
    CHECK(throws<std::domain_error>(
        [&] { kernel_block(source, Subset::all(500), Subset::all(500), out.data(), 500, threads); }));
}

void a_stop_ends_a_long_product() {
    Monitor monitor;
    Threads threads(2, &monitor);
    FunctionKernel<float> source(10, 128 * 1000, std::vector<double>(10, 1.0), 0.0,
                                 [&](const Index* rows, int n, const Index* columns, int, float* out) {
                                     if (rows[0] == 0 && columns[0] == 128 * 4) monitor.request_stop();
                                     for (int e = 0; e < n * kTile; ++e) out[e] = 0;
                                 });
    std::vector<double> weights(10, 1.0), out(128 * 1000);
    CHECK(throws<Interrupted>([&] {
        kernel_apply(source, Subset::all(10), Subset::all(128 * 1000), weights.data(), 1, out.data(),
                     threads);
    }));
    CHECK(source.evaluations() < 10u * 128u * 1000u);
}

}  // namespace

int main() {
    blocks_of_subsets<float>();
    blocks_of_subsets<double>();
    blocks_of_stored_values<float>();
    blocks_of_stored_values<double>();
    for (const auto& set : instruction_sets()) {
        simd_select(set.c_str());
        fused_products<float>(set);
        fused_products<double>(set);
        smallest_of_all<float>();
        smallest_of_all<double>();
    }
    nothing_to_do();
    errors_come_through();
    a_stop_ends_a_long_product();
    return failures();
}
