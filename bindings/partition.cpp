// Pivoted Cholesky, on points or on a kernel known only as a Python function.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "module.hpp"
#include "pivoted_cholesky.hpp"
#include "points.hpp"

namespace sodm::bindings {

namespace {

using Pivots = nb::ndarray<nb::numpy, Index>;
using Doubles = nb::ndarray<nb::numpy, double>;

template <class T>
std::tuple<Pivots, Doubles, nb::object> to_python(PivotedCholesky<T>&& found, Index n, bool return_factor) {
    const std::size_t rank = found.pivots.size(), rows = static_cast<std::size_t>(n);
    nb::object factor = nb::none();
    if (return_factor) {
        std::vector<T> dense(rows * rank);
        for (std::size_t i = 0; i < rows; ++i)
            std::copy_n(found.factor.data() + i * static_cast<std::size_t>(found.stride), rank,
                        dense.data() + i * rank);
        factor = nb::cast(to_numpy(std::move(dense), {rows, rank}));
    }
    return {to_numpy(std::move(found.pivots), {rank}), to_numpy(std::move(found.residual), {rows}), factor};
}

template <class T>
auto factorise(const KernelSource<T>& source, Index n, const PivotOptions& options, bool return_factor,
               int n_threads) {
    PivotedCholesky<T> found;
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        found = pivoted_cholesky(source, Subset::all(n), options, threads);
    }
    return to_python(std::move(found), n, return_factor);
}

auto pivoted_cholesky_of_points(const Points& points, Index rank, Index first, double tolerance,
                                bool return_factor, int n_threads) {
    const PivotOptions options{rank, first, tolerance};
    return std::visit(
        [&](const auto& set) {
            using T = std::decay_t<decltype(set->row_norm[0])>;
            PointKernel<T> source(points.kernel, *set, *set);
            return factorise<T>(source, set->n, options, return_factor, n_threads);
        },
        points.set);
}

// block(rows, columns) gives the kernel values of these row numbers. It runs under the GIL, so one thread
// will do.
auto pivoted_cholesky_of_function(Vector diagonal, const nb::callable& block, Index rank, Index first,
                                  double tolerance, bool return_factor) {
    const Index n = static_cast<Index>(diagonal.shape(0));
    auto fill = [&block](const Index* rows, int n_rows, const Index* columns, int n_columns, double* out) {
        nb::gil_scoped_acquire gil;
        auto numbers = [](const Index* list, int count) {
            return nb::cast(
                to_numpy(std::vector<Index>(list, list + count), {static_cast<std::size_t>(count)}));
        };
        const auto values = nb::cast<Matrix>(block(numbers(rows, n_rows), numbers(columns, n_columns)));
        if (static_cast<int>(values.shape(0)) != n_rows || static_cast<int>(values.shape(1)) != n_columns)
            throw std::invalid_argument(
                "the kernel gave a block of the wrong shape: one row per row of its first "
                "argument and one column per row of its second are needed");
        for (int r = 0; r < n_rows; ++r)
            std::copy_n(values.data() + r * n_columns, n_columns, out + r * kTile);
    };
    FunctionKernel<double> source(n, n, std::vector<double>(diagonal.data(), diagonal.data() + n), 0.0, fill);
    return factorise<double>(source, n, {rank, first, tolerance}, return_factor, 1);
}

}  // namespace

void bind_partition(nb::module_& m) {
    m.def("pivoted_cholesky", &pivoted_cholesky_of_points, nb::arg("points"), nb::arg("rank"),
          nb::arg("first") = -1, nb::arg("tolerance") = 0.0, nb::arg("return_factor") = false,
          nb::arg("n_threads") = 1,
          "(pivots, residual, factor or None): greedy partial Cholesky factor of the points' Gram matrix.");
    m.def("pivoted_cholesky", &pivoted_cholesky_of_function, nb::arg("diagonal"), nb::arg("block"),
          nb::arg("rank"), nb::arg("first") = -1, nb::arg("tolerance") = 0.0,
          nb::arg("return_factor") = false,
          "The same for a kernel given as block(rows, columns) -> float64 values of these row numbers.");
}

}  // namespace sodm::bindings
