// Shapley values of sums of products.
#include "kernel/shapley.hpp"

#include "arrays.hpp"
#include "base/subnormals.hpp"
#include "module.hpp"

namespace sodm::bindings {

namespace {

auto values(Matrix rows, Matrix support, Matrix removed, Matrix coefficients, double gamma, bool absolute,
            Vector nodes, Vector weights, int n_threads) {
    ProductSum sum;
    sum.features = static_cast<Index>(support.shape(0));
    sum.n_support = static_cast<Index>(support.shape(1));
    sum.n_outputs = static_cast<Index>(coefficients.shape(0));
    if (removed.shape(0) != support.shape(0) || removed.shape(1) != support.shape(1))
        throw std::invalid_argument("support and removed must have the same shape");
    if (rows.shape(1) != support.shape(0) || coefficients.shape(1) != support.shape(1))
        throw std::invalid_argument("rows and coefficients do not fit the support vectors");
    if (nodes.shape(0) != weights.shape(0)) throw std::invalid_argument("one weight per node is needed");
    sum.support = support.data();
    sum.removed = removed.data();
    sum.coefficients = coefficients.data();
    sum.gamma = gamma;
    sum.absolute = absolute;
    const Quadrature rule{static_cast<int>(nodes.shape(0)), nodes.data(), weights.data()};
    const std::size_t n = rows.shape(0), d = support.shape(0), outputs = coefficients.shape(0);
    std::vector<double> out(n * d * outputs);
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        shapley_values(sum, rule, rows.data(), static_cast<Index>(n), out.data(), threads);
    }
    return to_numpy(std::move(out), {n, d, outputs});
}

}  // namespace

void bind_shapley(nb::module_& m) {
    m.def("shapley_values", &values, nb::arg("rows"), nb::arg("support"), nb::arg("removed"),
          nb::arg("coefficients"), nb::arg("gamma"), nb::arg("absolute"), nb::arg("nodes"),
          nb::arg("weights"), nb::arg("n_threads") = 1,
          "Shapley values, rows x features x outputs, of sum_i a_i prod_j k(x_j, z_ij); support and removed "
          "are\n"
          "features x support vectors.");
}

}  // namespace sodm::bindings
