// The Gram matrix: products with any share of it stored, growing row lists, block coordinate passes.
#include "kernel/gram.hpp"

#include <numeric>
#include <random>

#include "check.hpp"
#include "kernel/point_kernel.hpp"
#include "kernel/products.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

// Packed, the values beside the diagonal are rounded ones: up to 1.5e-5 of the largest is lost of each. Wide,
// the product is that of the values to the digits of a double.
template <class T>
void products_and_growth(double gamma, bool packed, bool wide = false) {
    const Index n = 391;  // not a multiple of the tile
    const Data data(n, 9, 1.0, 1);
    const KernelFunction kernel{KernelKind::rbf, gamma, 0, 3, 0.5};
    PointSet<T> x(data.view(Form::rows), kernel);
    PointKernel<T> source(kernel, x, x);
    std::vector<Index> rows(at(n));
    std::iota(rows.begin(), rows.end(), Index(0));
    std::shuffle(rows.begin(), rows.end(), std::mt19937(2));
    std::vector<double> weights(at(2 * n)), expected(at(2 * n)), product(at(2 * n));
    std::mt19937 random(3);
    for (double& w : weights) w = static_cast<double>(random() % 1000) / 500 - 1;
    Threads one(1), three(3);
    kernel_apply(source, {rows.data(), n}, {rows.data(), n}, weights.data(), 2, expected.data(), one);

    const std::size_t tile_row = static_cast<std::size_t>(kTile) * kTile * sizeof(T);
    const double allowed = packed ? 2e-3 : 20 * tolerance<T>();
    std::vector<double> first;
    std::vector<T> values(at(n * n));
    for (std::size_t cache : {std::size_t(0), 4 * tile_row, std::size_t(1) << 30})
        for (Index start : {Index(1), Index(128), Index(200), n}) {
            for (Threads* threads : {&one, &three}) {
                GramMatrix<T> gram(source, cache, *threads);
                gram.assign({rows.begin(), rows.begin() + start}, packed, wide);
                gram.append({rows.begin() + start, rows.end()});
                CHECK(gram.size() == n);
                gram.apply(weights.data(), 2, product.data());
                for (Index i = 0; i < 2 * n; ++i)
                    CHECK_NEAR(product[at(i)], expected[at(i)], allowed, "product");
                std::vector<Index> places(at(n));
                std::iota(places.begin(), places.end(), Index(0));
                gram.copy(places, places, false, values.data(), n);
                for (Index i = 0; i < n; ++i) {
                    double sum = 0;
                    for (Index j = 0; j < n; ++j)
                        sum += static_cast<double>(values[at(i * n + j)]) * weights[at(j)];
                    CHECK_NEAR(product[at(i)], sum, wide ? 1e-12 : 20 * tolerance<T>(),
                               "product of the values");
                }
                // The same bits whatever is stored and however many threads.
                if (first.empty()) first = product;
                CHECK(product == first);
            }
        }
}

// What the rows of a block get of their own changes.
template <class T>
void add_block(const T* block, int count, const T* change, double* f) {
    for (int r = 0; r < count; ++r)
        for (int c = 0; c < count; ++c) f[r] += static_cast<double>(block[r * kTile + c] * change[c]);
}

// A pass in which every block moves its coefficients by a known amount must leave f = K a.
template <class T>
void relaxation_keeps_f(double gamma, double offset, bool packed) {
    const Index n = 300;
    const Data data(n, 5, 1.0, 4);
    const KernelFunction kernel{KernelKind::rbf, gamma, 0, 3, offset};
    PointSet<T> x(data.view(Form::rows), kernel);
    PointKernel<T> source(kernel, x, x);
    std::vector<Index> rows(at(n));
    std::iota(rows.begin(), rows.end(), Index(0));
    for (std::size_t cache : {std::size_t(0), std::size_t(200) << 10, std::size_t(1) << 30}) {
        Threads threads(2);
        GramMatrix<T> gram(source, cache, threads);
        gram.assign(rows, packed);
        std::vector<double> a(at(n), 0.0), f(at(n), 0.0), expected(at(n));
        for (int pass = 0; pass < 2; ++pass)
            gram.relax(f.data(), [&](Index begin, int count, const T* block, T* change) {
                for (int r = 0; r < count; ++r) {
                    CHECK_NEAR(block[r * kTile + r], 1.0 + offset, tolerance<T>(), "diagonal");
                    const double step = (begin + r) % 3 == pass ? 0.25 * static_cast<double>(r % 5) : 0.0;
                    a[at(begin + r)] += step;
                    change[r] = static_cast<T>(step);
                }
                add_block(block, count, change, f.data() + begin);
            });
        gram.apply(a.data(), 1, expected.data());
        for (Index i = 0; i < n; ++i) CHECK_NEAR(f[at(i)], expected[at(i)], 50 * tolerance<T>(), "f");
    }
}

// Threads take their tasks as they come: what a block sees of the others must not depend on it.
void relaxation_by_any_threads() {
    const Index n = 1500;
    const Data data(n, 2, 1.0, 4);
    const KernelFunction kernel{KernelKind::rbf, 30.0, 0, 3, 0};
    PointSet<float> x(data.view(Form::rows), kernel);
    PointKernel<float> source(kernel, x, x);
    std::vector<Index> rows(at(n));
    std::iota(rows.begin(), rows.end(), Index(0));
    const auto step = [](double f) { return static_cast<float>(0.1 * (1 - f)); };
    std::vector<std::vector<double>> found;
    for (int count : {1, 2, 5}) {
        Threads threads(count);
        GramMatrix<float> gram(source, std::size_t(1) << 30, threads);
        gram.assign(rows);
        std::vector<double> f(at(n), 0.0);
        for (int pass = 0; pass < 20; ++pass)
            gram.relax(f.data(), [&](Index begin, int size, const float* block, float* change) {
                for (int r = 0; r < size; ++r) change[r] = step(f[at(begin + r)]);
                add_block(block, size, change, f.data() + begin);
            });
        found.push_back(f);
        bool thrown = false;
        try {
            gram.relax(f.data(), [&](Index begin, int, const float*, float*) {
                if (begin == 5 * kTile) throw std::runtime_error("in the middle");
            });
        } catch (const std::runtime_error& error) {
            thrown = std::string(error.what()) == "in the middle";
        }
        CHECK(thrown);
    }
    CHECK(found[0] == found[1]);
    CHECK(found[0] == found[2]);
}

// A cache with room for all values in two bytes, and those of the diagonal's tiles in four.
void packed_takes_half_the_memory() {
    const Index tiles = 40, n = tiles * kTile;
    const Data data(n, 3, 1.0, 6);
    const KernelFunction kernel{KernelKind::rbf, 0.5, 0, 3, 0};
    PointSet<float> x(data.view(Form::rows), kernel);
    PointKernel<float> source(kernel, x, x);
    std::vector<Index> rows(at(n));
    std::iota(rows.begin(), rows.end(), Index(0));
    const std::size_t values = static_cast<std::size_t>(kTile) * kTile;
    const std::size_t cache = values * (sizeof(float) * at(tiles) + 2 * at(tiles * (tiles - 1) / 2));
    Threads two(2);
    for (bool packed : {false, true}) {
        GramMatrix<float> gram(source, cache, two);
        gram.assign(rows, packed);
        CHECK(gram.fully_stored() == packed);
    }
}

// Two clumps of two tiles each: between them nothing is evaluated, and the product is the same.
template <class T>
void far_rows_are_not_evaluated(KernelKind kind, double offset) {
    const Index clump = 2 * kTile, n = 2 * clump;
    Data data(n, 5, 1.0, 5);
    for (Index i = clump; i < n; ++i) data.rows[at(i * 5)] += 64;
    const KernelFunction kernel{kind, 1.0, 0, 1, offset};
    PointSet<T> x(data.view(Form::rows), kernel);
    PointKernel<T> source(kernel, x, x);
    std::vector<Index> rows(at(n));
    std::iota(rows.begin(), rows.end(), Index(0));
    std::vector<double> weights(at(n)), expected(at(n)), product(at(n)), first;
    for (Index i = 0; i < n; ++i) weights[at(i)] = static_cast<double>(i % 7) - 3;
    Threads two(2);
    kernel_apply(source, {rows.data(), n}, {rows.data(), n}, weights.data(), 1, expected.data(), two);
    for (std::size_t cache : {std::size_t(0), std::size_t(1) << 30}) {
        const auto before = source.evaluations();
        GramMatrix<T> gram(source, cache, two);
        gram.assign(rows);
        gram.apply(weights.data(), 1, product.data());
        CHECK(source.evaluations() - before == 2 * 3 * static_cast<std::uint64_t>(kTile * kTile));
        for (Index i = 0; i < n; ++i)
            CHECK_NEAR(product[at(i)], expected[at(i)], 100 * tolerance<T>(), "product");
        if (first.empty()) first = product;
        CHECK(product == first);
        std::vector<T> copied(at(n * n));
        gram.copy(rows, rows, false, copied.data(), n);
        CHECK(static_cast<double>(copied[at(clump)]) == offset);
    }
}

}  // namespace

int main() {
    relaxation_by_any_threads();
    for (KernelKind kind : {KernelKind::rbf, KernelKind::laplacian})
        for (double offset : {0.0, 1.0}) {
            far_rows_are_not_evaluated<float>(kind, offset);
            far_rows_are_not_evaluated<double>(kind, offset);
        }
    for (double gamma : {0.7, 2000.0}) {  // the second: all tiles but those of the diagonal are constant
        products_and_growth<float>(gamma, false);
        products_and_growth<float>(gamma, true);
        products_and_growth<float>(gamma, false, true);
        products_and_growth<double>(gamma, false);
    }
    for (double gamma : {1.3, 2000.0})
        for (double offset : {0.0, 1.0}) {
            relaxation_keeps_f<float>(gamma, offset, false);
            relaxation_keeps_f<float>(gamma, offset, true);
            relaxation_keeps_f<double>(gamma, offset, false);
        }
    packed_takes_half_the_memory();
    return failures();
}
