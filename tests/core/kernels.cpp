// Kernel values against the definition: every kernel, precision, form of input, layout and odd size.
#include <algorithm>

#include "check.hpp"
#include "kernel/function_kernel.hpp"
#include "kernel/matrix_kernel.hpp"
#include "kernel/point_kernel.hpp"
#include "kernel/products.hpp"
#include "points.hpp"
#include "simd/byte_ops.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

template <class T>
void check_block(const KernelFunction& kernel, const Data& a, Form form_a, const Data& b, Form form_b,
                 const std::string& set, double allowed = tolerance<T>()) {
    PointSet<T> x(a.view(form_a), kernel);
    PointSet<T> z(b.view(form_b), kernel, x.layout);
    PointKernel<T> source(kernel, x, z);
    Threads threads(2);
    std::vector<double> out(at(a.n * b.n), -7);
    kernel_block(source, Subset::all(a.n), Subset::all(b.n), out.data(), b.n, threads);
    const std::string where = set + " " + name(kernel.kind) + " " + name(form_a) + "/" + name(form_b) +
                              " d " + std::to_string(a.features) + (x.layout.sparse ? " sparse" : " dense") +
                              (sizeof(T) == 4 ? " single" : " double");
    for (Index i = 0; i < a.n; ++i)
        for (Index j = 0; j < b.n; ++j)
            CHECK_NEAR(out[at(i * b.n + j)], naive_kernel(kernel, a, i, b, j), allowed, where);
    for (Index i = 0; i < a.n; ++i)
        CHECK_NEAR(source.diagonal(i), naive_kernel(kernel, a, i, a, i), allowed, where);
    CHECK(source.evaluations() == static_cast<std::uint64_t>(a.n * b.n));
}

template <class T>
void every_kernel_and_size(const std::string& set) {
    struct Shape {
        Index n, m, features;
        double density;
    };
    // One panel, parts of panels, more than a tile; fewer and more features than the loops take at a time.
    const Shape shapes[] = {{1, 1, 1, 1.0},     {2, 33, 3, 1.0},   {49, 17, 8, 1.0},    {31, 129, 22, 1.0},
                            {50, 130, 123, .1}, {7, 40, 300, 1.0}, {49, 131, 600, .02}, {5, 131, 5000, .004}};
    unsigned seed = 0;
    for (const Shape& s : shapes) {
        const Data a(s.n, s.features, s.density, ++seed), b(s.m, s.features, s.density, ++seed);
        const double active = std::max(1.0, s.density * static_cast<double>(s.features));
        for (const KernelFunction& kernel : all_kernels(active))
            check_block<T>(kernel, a, Form::rows, b, Form::rows, set);
    }
}

template <class T>
void every_form(const std::string& set) {
    const Form forms[] = {Form::rows,  Form::columns, Form::single_rows,
                          Form::csr32, Form::csr64,   Form::single_csr32};
    for (double density : {0.9, 0.15}) {  // laid out densely, sparsely
        const Data a(35, 20, density, 3), b(41, 20, density, 4);
        for (const KernelFunction& kernel : all_kernels(20 * density))
            for (Form form_a : forms)
                for (Form form_b : forms) check_block<T>(kernel, a, form_a, b, form_b, set);
    }
}

// Rows without a single entry, and columns without one, are points at the origin.
template <class T>
void empty_rows(const std::string& set) {
    for (Index features : {20, 5000}) {
        const Data a(9, features, 0.0, 1), b(40, features, 20.0 / static_cast<double>(features), 2);
        for (const KernelFunction& kernel : all_kernels(10)) {
            check_block<T>(kernel, a, Form::csr32, b, Form::csr32, set);
            check_block<T>(kernel, b, Form::csr32, a, Form::csr32, set);
        }
    }
}

// Features far from the origin and from each other: cancellation must not spoil a shift-invariant kernel.
template <class T>
void large_values(const std::string& set) {
    const Data shifted(60, 6, 1.0, 5, 1.0, 1000.0), wide(60, 6, 1.0, 6, 400.0);
    for (KernelKind kind : {KernelKind::rbf, KernelKind::laplacian}) {
        check_block<T>({kind, 0.5, 0, 1, 0}, shifted, Form::rows, shifted, Form::rows, set);
        check_block<T>({kind, 1e-3, 0, 1, 0}, wide, Form::rows, wide, Form::rows, set,
                       sizeof(T) == 4 ? 1e-4 : 1e-12);
    }
}

// k(x, x) = 1 to the last bit for a shift-invariant kernel; k(x, z) = k(z, x) too where rows are laid out
// densely. Sparse rows are summed in the order of their own entries, so there the two differ by rounding.
template <class T>
void gram_matrices_are_symmetric(const std::string& set) {
    for (double density : {1.0, 0.1})
        for (Index features : {5, 40, 5000}) {
            const Data a(150, features, density * std::min(1.0, 100.0 / static_cast<double>(features)), 8);
            for (const KernelFunction& kernel :
                 all_kernels(static_cast<double>(std::min<Index>(features, 100)))) {
                PointSet<T> x(a.view(Form::rows), kernel);
                PointKernel<T> source(kernel, x, x);
                Threads threads(1);
                std::vector<double> gram(at(a.n * a.n));
                kernel_block(source, Subset::all(a.n), Subset::all(a.n), gram.data(), a.n, threads);
                const double rounding = x.layout.sparse ? (sizeof(T) == 4 ? 1e-6 : 1e-14) : 0.0;
                const std::string where = set + " " + name(kernel.kind) + " d " + std::to_string(features);
                for (Index i = 0; i < a.n; ++i) {
                    for (Index j = 0; j < i; ++j)
                        CHECK_NEAR(gram[at(i * a.n + j)], gram[at(j * a.n + i)], rounding, where);
                    if (kernel.shift_invariant())
                        CHECK_NEAR(gram[at(i * a.n + i)], 1.0 + kernel.offset, 0.0, where);
                }
            }
        }
}

// Rows that are bytes and rows that are not: a value has the same bits whatever rows are beside its own.
void bytes_beside_other_rows(const std::string& set) {
    for (Index features : {37, 300}) {
        const Data train(70, features, 1.0, 20);
        Data queries(45, features, 0.6, 21);
        for (Index i : {3, 17, 44}) queries.rows[at(i * features + i % 5)] += 0.0017;
        for (Index i : {5, 17}) queries.rows[at(i * features)] = -0.25;
        for (const KernelFunction& kernel : all_kernels(static_cast<double>(features))) {
            PointSet<float> x(train.view(Form::rows), kernel);
            CHECK(x.bytes.whole == (byte_ops() && kernel.kind != KernelKind::laplacian));
            PointSet<float> z(queries.view(Form::rows), kernel, x.layout);
            Threads threads(1);
            std::vector<float> rows(at(x.n * z.n)), columns(at(x.n * z.n)), alone(at(x.n));
            kernel_block(PointKernel<float>(kernel, x, z), Subset::all(x.n), Subset::all(z.n), rows.data(),
                         z.n, threads);
            kernel_block(PointKernel<float>(kernel, z, x), Subset::all(z.n), Subset::all(x.n), columns.data(),
                         x.n, threads);
            const std::string where = set + " " + name(kernel.kind) + " d " + std::to_string(features);
            for (Index j = 0; j < z.n; ++j) {
                RowsView one = queries.view(Form::rows);
                one.values = queries.rows.data() + j * features;
                one.n = 1;
                PointSet<float> query(one, kernel, x.layout);
                if (x.bytes.whole) CHECK(query.bytes.whole == (j != 3 && j != 17 && j != 44 && j != 5));
                kernel_block(PointKernel<float>(kernel, x, query), Subset::all(x.n), Subset::all(1),
                             alone.data(), 1, threads);
                for (Index i = 0; i < x.n; ++i) {
                    CHECK_NEAR(rows[at(i * z.n + j)], alone[at(i)], 0.0, where);
                    CHECK_NEAR(columns[at(j * x.n + i)], alone[at(i)], 0.0, where);
                    CHECK_NEAR(alone[at(i)], naive_kernel(kernel, train, i, queries, j), tolerance<float>(),
                               where);
                }
            }
        }
    }
}

// Steps that are no power of two, values that were rounded to single precision, and values without a step.
void steps() {
    for (double step : {1.0, 1.0 / 255, 1.0 / 16, 0.3}) {
        Data data(300, 40, 1.0, 22, 3.9);
        for (std::size_t e = 0; e < data.rows.size(); ++e)
            data.rows_single[e] = static_cast<float>(data.rows[e] = std::round(data.rows[e] * 64) * step);
        for (Form form : {Form::rows, Form::single_rows}) {
            const double found = find_step(data.view(form));
            CHECK_NEAR(found / step, 1.0, 1e-7, "step");
            const ByteRows bytes(data.view(form), found);
            CHECK(bytes.whole && bytes.stride == 40);
            for (Index i = 0; i < data.n; ++i)
                for (Index k = 0; k < 40; ++k)
                    CHECK_NEAR(bytes.value[at(i * 40 + k)] * step, data.rows[at(i * 40 + k)], 1e-4, "level");
        }
        data.rows[at(7)] += 0.25 * step;
        CHECK(find_step(data.view(Form::rows)) == 0 || !ByteRows(data.view(Form::rows), step).whole);
    }
    Data coarse(320, 40, 1.0, 27);  // a look at a few rows finds too large a step
    for (Index i = 0; i < 320; i += 40)
        for (Index k = 0; k < 40; ++k) coarse.rows[at(i * 40 + k)] = static_cast<double>(k % 8) / 8;
    CHECK_NEAR(find_step(coarse.view(Form::rows)), 1.0 / 64, 1e-12, "coarse");
    CHECK(find_step(Data(50, 40, 1.0, 23, 100.0).view(Form::rows)) == 0);      // more than 255 multiples
    CHECK(find_step(Data(50, 40, 1.0, 24, 1.0, -0.5).view(Form::rows)) == 0);  // negative values
    CHECK(find_step(Data(50, 40, 0.0, 25).view(Form::rows)) == 0);             // nothing but zeros
    CHECK_NEAR(find_step(Data(50, 40, 0.3, 26).view(Form::csr32)), 1.0 / 64, 1e-12, "sparse");
}

template <class T>
void stored_matrices() {
    const Data k(30, 47, 1.0, 9);
    for (Form form : {Form::rows, Form::columns, Form::single_rows}) {
        MatrixKernel<T> source(k.view(form), 0.25);
        Threads threads(2);
        std::vector<double> out(at(k.n * k.features));
        kernel_block(source, Subset::all(k.n), Subset::all(k.features), out.data(), k.features, threads);
        for (std::size_t e = 0; e < out.size(); ++e) CHECK(out[e] == k.rows[e] + 0.25);
        CHECK(source.diagonal(3) == k.rows[at(3 * k.features + 3)] + 0.25);
        const std::vector<Index> some{5, 2, 29, 11};  // what these rows have among themselves
        MatrixKernel<T> part(k.view(form), 0.25, Subset{some.data(), 4});
        CHECK(part.rows() == 4 && part.columns() == 4);
        kernel_block(part, Subset::all(4), Subset::all(4), out.data(), 4, threads);
        for (Index i = 0; i < 4; ++i)
            for (Index j = 0; j < 4; ++j)
                CHECK(out[at(i * 4 + j)] == k.rows[at(some[at(i)] * k.features + some[at(j)])] + 0.25);
        CHECK(part.diagonal(2) == k.rows[at(29 * k.features + 29)] + 0.25);
    }
}

template <class T>
void callers_functions() {
    auto value = [](Index i, Index j) { return static_cast<double>(i * 3 - j); };
    std::vector<double> diagonal(1500);
    for (Index i = 0; i < 1500; ++i) diagonal[at(i)] = value(i, i);
    FunctionKernel<T> source(1500, 140, diagonal, 2.0,
                             [&](const Index* rows, int n_rows, const Index* columns, int n_columns, T* out) {
                                 for (int r = 0; r < n_rows; ++r)
                                     for (int c = 0; c < n_columns; ++c)
                                         out[r * kTile + c] = static_cast<T>(value(rows[r], columns[c]));
                             });
    Threads threads(1);
    std::vector<double> out(1500 * 140);
    kernel_block(source, Subset::all(1500), Subset::all(140), out.data(), 140, threads);
    for (Index i = 0; i < 1500; ++i)
        for (Index j = 0; j < 140; ++j) CHECK(out[at(i * 140 + j)] == value(i, j) + 2);
    CHECK(source.diagonal(5) == value(5, 5) + 2);
    CHECK(source.evaluations() == 1500u * 140u);
}

}  // namespace

int main() {
    for (const auto& set : instruction_sets()) {
        simd_select(set.c_str());
        every_kernel_and_size<float>(set);
        every_kernel_and_size<double>(set);
        every_form<float>(set);
        every_form<double>(set);
        empty_rows<float>(set);
        empty_rows<double>(set);
        large_values<float>(set);
        large_values<double>(set);
        gram_matrices_are_symmetric<float>(set);
        gram_matrices_are_symmetric<double>(set);
        bytes_beside_other_rows(set);
    }
    steps();
    stored_matrices<float>();
    stored_matrices<double>();
    callers_functions<float>();
    callers_functions<double>();
    return failures();
}
