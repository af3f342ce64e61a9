// Pivoted Cholesky, of kernel values from anywhere.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <tuple>

#include "base/subnormals.hpp"
#include "kernel/pivoted_cholesky.hpp"
#include "module.hpp"
#include "sources.hpp"

namespace sodm::bindings {

namespace {

using Pivots = nb::ndarray<nb::numpy, Index>;
using Doubles = nb::ndarray<nb::numpy, double>;
using Values = nb::ndarray<nb::numpy>;  // float32 or float64

template <class T>
std::tuple<Pivots, Doubles, std::optional<Values>> to_python(PivotedCholesky<T>&& found, Index n,
                                                             bool return_factor) {
    const std::size_t rank = found.pivots.size(), rows = static_cast<std::size_t>(n);
    std::optional<Values> factor;
    if (return_factor) {
        std::vector<T> dense(rows * rank);
        for (std::size_t i = 0; i < rows; ++i)
            std::copy_n(found.factor.data() + i * static_cast<std::size_t>(found.stride), rank,
                        dense.data() + i * rank);
        factor = Values(to_numpy(std::move(dense), {rows, rank}));
    }
    return {to_numpy(std::move(found.pivots), {rank}), to_numpy(std::move(found.residual), {rows}), factor};
}

auto factorise(const SourceArgument& source_argument, Index rank, Index first, double tolerance,
               std::optional<std::uint64_t> seed, bool return_factor, int n_threads) {
    const AnySource any = source_argument.any;
    const Index n = size_of(any);
    return with_source(any, [&](const auto& source, bool) {
        auto factor = [&] {
            nb::gil_scoped_release nogil;
            PythonMonitor monitor;
            Threads threads(n_threads, &monitor);
            const FlushSubnormals flushed;
            return pivoted_cholesky(source, Subset::all(n), {rank, first, tolerance, seed}, threads);
        };
        return to_python(factor(), n, return_factor);
    });
}

}  // namespace

void bind_partition(nb::module_& m) {
    m.def(
        "pivoted_cholesky", &factorise, nb::arg("source"), nb::arg("rank"), nb::arg("first") = -1,
        nb::arg("tolerance") = 0.0, nb::arg("seed") = nb::none(), nb::arg("return_factor") = false,
        nb::arg("n_threads") = 1,
        "(pivots, residual, factor or None): partial Cholesky factor of the source's Gram matrix. Pivots are "
        "those of the largest residual, or drawn by their residuals if there is a seed; then `tolerance` is "
        "of the mean residual.");
}

}  // namespace sodm::bindings
