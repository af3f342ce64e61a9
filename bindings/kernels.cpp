// Kernel functions, points, and the products on them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <numeric>
#include <tuple>

#include "base/subnormals.hpp"
#include "kernel/features.hpp"
#include "kernel/gram.hpp"
#include "kernel/nearest.hpp"
#include "kernel/products.hpp"
#include "kernel/rounding.hpp"
#include "linear/landmark_pass.hpp"
#include "module.hpp"
#include "points.hpp"

namespace sodm::bindings {

namespace {

KernelKind kind_of(const std::string& name) {
    if (name == "linear") return KernelKind::linear;
    if (name == "rbf") return KernelKind::rbf;
    if (name == "poly") return KernelKind::polynomial;
    if (name == "sigmoid") return KernelKind::sigmoid;
    if (name == "laplacian") return KernelKind::laplacian;
    throw std::invalid_argument("unknown kernel '" + name + "'");
}

template <class T>
T value_of(const KernelSource<T>&);  // for its type

template <class F>
auto with_pair(const Points& a, const Points& b, F f) {
    if (a.twice() != b.twice()) throw std::invalid_argument("both point sets must have the same precision");
    if (a.twice()) {
        PointKernel<double> source(a.kernel, *std::get<1>(a.set), *std::get<1>(b.set));
        return f(source);
    }
    PointKernel<float> source(a.kernel, *std::get<0>(a.set), *std::get<0>(b.set));
    return f(source);
}

auto block(const Points& a, const Points& b, int n_threads) {
    Buffer<double> out(static_cast<std::size_t>(std::max<Index>(1, a.n() * b.n())));
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        with_pair(a, b, [&](auto& source) {
            kernel_block(source, Subset::all(a.n()), Subset::all(b.n()), out.data(), b.n(), threads);
        });
    }
    return to_numpy(std::move(out), {static_cast<std::size_t>(a.n()), static_cast<std::size_t>(b.n())});
}

// All values among the rows of a, in the precision that they are computed in; each pair once.
auto gram(const Points& a, int n_threads) {
    if (a.twice()) throw std::invalid_argument("points of single precision are needed");
    const auto n = static_cast<std::size_t>(a.n());
    Buffer<float> out(std::max<std::size_t>(1, n * n));
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        const PointKernel<float> source(a.kernel, *std::get<0>(a.set), *std::get<0>(a.set));
        const Subset all = Subset::all(a.n());
        kernel_block(source, all, all, out.data(), a.n(), threads);
    }
    return to_numpy(std::move(out), {n, n});
}

// weights: n_vectors x a.n; result: n_vectors x b.n
auto apply(const Points& a, const Points& b, Matrix weights, int n_threads) {
    if (static_cast<Index>(weights.shape(1)) != a.n())
        throw std::invalid_argument("one weight per row is needed");
    const int n_vectors = static_cast<int>(weights.shape(0));
    std::vector<double> out(static_cast<std::size_t>(n_vectors * b.n()));
    if (n_vectors > 0) {  // the loops below want one
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        with_pair(a, b, [&](auto& source) {
            kernel_apply(source, Subset::all(a.n()), Subset::all(b.n()), weights.data(), n_vectors,
                         out.data(), threads);
        });
    }
    return to_numpy(std::move(out), {static_cast<std::size_t>(n_vectors), static_cast<std::size_t>(b.n())});
}

// weights: n_vectors x a.n, bounds: where the parts of a begin and end; result: n_parts x n_vectors x b.n
auto apply_parts(const Points& a, const Points& b, Matrix weights, IndexVector bounds, int n_threads) {
    const Index n_parts = static_cast<Index>(bounds.shape(0)) - 1;
    bool fits = n_parts >= 0 && static_cast<Index>(weights.shape(1)) == a.n() && bounds(0) == 0 &&
                bounds(static_cast<std::size_t>(n_parts)) == a.n();
    for (Index k = 0; fits && k < n_parts; ++k)
        fits = bounds(static_cast<std::size_t>(k)) <= bounds(static_cast<std::size_t>(k + 1));
    if (!fits) throw std::invalid_argument("one weight per row is needed, and parts that cover all rows");
    const auto n_vectors = static_cast<Index>(weights.shape(0));
    std::vector<double> out(static_cast<std::size_t>(n_parts * n_vectors * b.n()));
    if (n_vectors > 0) {  // the loops below want one
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        with_pair(a, b, [&](auto& source) {
            for (Index k = 0; k < n_parts; ++k) {
                const Index first = bounds.data()[k], last = bounds.data()[k + 1];
                std::vector<Index> rows(static_cast<std::size_t>(last - first));
                std::iota(rows.begin(), rows.end(), first);
                std::vector<double> own;
                for (Index v = 0; v < n_vectors; ++v)
                    own.insert(own.end(), weights.data() + v * a.n() + first,
                               weights.data() + v * a.n() + last);
                kernel_apply(source, Subset{rows.data(), last - first}, Subset::all(b.n()), own.data(),
                             static_cast<int>(n_vectors), out.data() + k * n_vectors * b.n(), threads);
            }
        });
    }
    return to_numpy(std::move(out), {static_cast<std::size_t>(n_parts * n_vectors * b.n())});
}

template <class T>
void multiply_gram(const KernelSource<T>& source, const std::vector<Index>& rows, const double* weights,
                   int n_vectors, std::size_t cache_bytes, double* out, Threads& threads) {
    GramMatrix<T> gram(source, cache_bytes, threads);
    gram.assign(rows);
    gram.apply(weights, n_vectors, out);
}

// The product with the Gram matrix of a, each pair evaluated once; weights and result: n_vectors x a.n. As
// much of the matrix as fits into `cache_bytes` is stored first, as solvers do.
auto symmetric_apply(const Points& a, Matrix weights, int n_threads, std::size_t cache_bytes) {
    if (static_cast<Index>(weights.shape(1)) != a.n())
        throw std::invalid_argument("one weight per row is needed");
    const int n_vectors = static_cast<int>(weights.shape(0));
    std::vector<double> out(static_cast<std::size_t>(n_vectors * a.n()));
    if (n_vectors > 0) {  // the loops below want one
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        std::vector<Index> rows(static_cast<std::size_t>(a.n()));
        std::iota(rows.begin(), rows.end(), Index(0));
        with_pair(a, a, [&](auto& source) {
            multiply_gram(source, rows, weights.data(), n_vectors, cache_bytes, out.data(), threads);
        });
    }
    return to_numpy(std::move(out), {static_cast<std::size_t>(n_vectors), static_cast<std::size_t>(a.n())});
}

auto inverse_of_lower(Matrix l, int n_threads) {
    const std::size_t n = l.shape(0);
    if (l.shape(1) != n) throw std::invalid_argument("expected a square matrix");
    std::vector<double> out;
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        out = sodm::inverse_of_lower(l.data(), static_cast<Index>(n), threads);
    }
    return to_numpy(std::move(out), {n, n});
}

// Features, or without an inverse kernel values, into out, x.n x landmarks.n, in the precision of the points
void features(const Points& landmarks, const Points& x, std::optional<Matrix> inverse,
              nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu> out, int n_threads) {
    const auto m = static_cast<std::size_t>(landmarks.n()), n = static_cast<std::size_t>(x.n());
    if (inverse && (inverse->shape(0) != m || inverse->shape(1) != m))
        throw std::invalid_argument("expected a matrix as large as there are landmarks");
    with_pair(landmarks, x, [&](auto& source) {
        using T = std::decay_t<decltype(value_of(source))>;
        if (out.shape(0) != n || out.shape(1) != m || out.dtype() != nb::dtype<T>())
            throw std::invalid_argument("out must have a row for each point, in their precision");
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        T* to = static_cast<T*>(out.data());
        inverse ? landmark_features(source, inverse->data(), to, threads)
                : landmark_values(source, to, threads);
    });
}

// (loss, slopes) of `LandmarkSums`
auto landmark_sums(const Points& landmarks, const Points& x, Matrix coefficients, Matrix signs,
                   Vector weights, const OdmLoss& loss, int n_threads) {
    const std::size_t problems = coefficients.shape(0), m = static_cast<std::size_t>(landmarks.n()),
                      n = static_cast<std::size_t>(x.n());
    if (!landmarks.twice() || !x.twice())
        throw std::invalid_argument("points in double precision are needed");
    if (coefficients.shape(1) != m || signs.shape(0) != problems || signs.shape(1) != n ||
        weights.shape(0) != n)
        throw std::invalid_argument("coefficients, signs and weights do not fit landmarks and rows");
    LandmarkSums sums;
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        const PointKernel<double> source(landmarks.kernel, *std::get<1>(landmarks.set), *std::get<1>(x.set));
        sums = landmark_pass(source, static_cast<int>(problems), coefficients.data(), signs.data(),
                             weights.data(), loss, threads);
    }
    return std::make_tuple(to_numpy(std::move(sums.loss), {problems}),
                           to_numpy(std::move(sums.slopes), {problems, m}));
}

// (centres, values), each n x 2
auto two_nearest(const Points& x, const Points& centres, Vector add, int n_threads) {
    if (!x.twice() || !centres.twice()) throw std::invalid_argument("points in double precision are needed");
    if (static_cast<Index>(add.shape(0)) != centres.n() || centres.n() == 0)
        throw std::invalid_argument("one value per centre is needed, and a centre");
    NearestTwo found;
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        const PointKernel<double> source(x.kernel, *std::get<1>(x.set), *std::get<1>(centres.set));
        found = nearest_two(source, x.n(), centres.n(), add.data(), threads);
    }
    const auto n = static_cast<std::size_t>(x.n());
    return std::make_tuple(to_numpy(std::move(found.centre), {n, 2}),
                           to_numpy(std::move(found.value), {n, 2}));
}

auto cell_means(AnyArray x, IndexVector of, Index cells, int n_threads) {
    const RowsView view = dense_view(x);
    bool fits = static_cast<Index>(of.shape(0)) == view.n;
    for (std::size_t i = 0; fits && i < of.shape(0); ++i) fits = of(i) >= 0 && of(i) < cells;
    if (!fits) throw std::invalid_argument("one cell per row is needed");
    std::vector<double> means;
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        means = means_of_cells(view, of.data(), cells, threads);
    }
    return to_numpy(std::move(means),
                    {static_cast<std::size_t>(cells), static_cast<std::size_t>(view.features)});
}

}  // namespace

void bind_kernels(nb::module_& m) {
    nb::class_<KernelFunction>(m, "KernelFunction")
        .def(
            "__init__",
            [](KernelFunction* self, const std::string& kind, double gamma, double coef0, int degree,
               double offset) { new (self) KernelFunction{kind_of(kind), gamma, coef0, degree, offset}; },
            nb::arg("kind"), nb::arg("gamma") = 1.0, nb::arg("coef0") = 0.0, nb::arg("degree") = 3,
            nb::arg("offset") = 0.0);

    nb::class_<Points>(m, "Points")
        .def_static(
            "dense",
            [](AnyArray x, const KernelFunction& kernel, bool twice, const Points* like, int n_threads) {
                return Points::make(dense_view(x), kernel, twice, like, n_threads);
            },
            nb::arg("x"), nb::arg("kernel"), nb::arg("double") = false, nb::arg("like").none() = nb::none(),
            nb::arg("n_threads") = 1)
        .def_static(
            "csr",
            [](AnyArray data, AnyArray indices, AnyArray indptr, Index features, const KernelFunction& kernel,
               bool twice, const Points* like, int n_threads) {
                return Points::make(csr_view(data, indices, indptr, features), kernel, twice, like,
                                    n_threads);
            },
            nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("features"), nb::arg("kernel"),
            nb::arg("double") = false, nb::arg("like").none() = nb::none(), nb::arg("n_threads") = 1)
        .def(
            "rounding",
            [](const Points& points) {
                Rounding r = points.rounding();
                const std::size_t n = r.p.size();
                return std::make_tuple(to_numpy(std::move(r.p), {n}), to_numpy(std::move(r.q), {n}), r.pair,
                                       r.point, r.one);
            },
            "p, q, pair, point, one of `Rounding`: how far computed kernel values can be from true ones.")
        .def(
            "rounding_of_diagonal",
            [](const Points& points) {
                const Rounding& r = points.rounding();
                double largest = 0;
                for (std::size_t i = 0; i < r.p.size(); ++i)
                    largest = std::max(largest, r.pair * r.p[i] * r.p[i] + 2 * r.point * r.q[i] + r.one);
                return largest;
            },
            "How far the values k(x, x) can be off, in units of roundoff.")
        .def_prop_ro("n", &Points::n)
        .def_prop_ro("double", &Points::twice)
        .def_prop_ro("sparse", &Points::sparse, "Whether they are laid out as sparse rows.");

    m.def("inverse_of_lower", &inverse_of_lower, nb::arg("matrix"), nb::arg("n_threads") = 1);
    m.def("features", &features, nb::arg("landmarks"), nb::arg("x"), nb::arg("inverse").none(),
          nb::arg("out"), nb::arg("n_threads") = 1,
          "Into out: F(x) = inverse k(landmarks, x), a row for each point: inner products of these are "
          "kernel values.");
    m.def("landmark_sums", &landmark_sums, nb::arg("landmarks"), nb::arg("x"), nb::arg("coefficients"),
          nb::arg("signs"), nb::arg("weights"), nb::arg("loss"), nb::arg("n_threads") = 1,
          "(sums of squared losses, K(landmarks, x) times half their derivative by f) of each problem.");
    m.def("two_nearest", &two_nearest, nb::arg("x"), nb::arg("centres"), nb::arg("add"),
          nb::arg("n_threads") = 1,
          "(numbers, values) of the two centres of each row with the smallest k(x, centre) + add[centre].");
    m.def("cell_means", &cell_means, nb::arg("x"), nb::arg("cell"), nb::arg("n_cells"),
          nb::arg("n_threads") = 1, "The mean of the rows of each cell, of which none is empty.");
    m.def("block", &block, nb::arg("a"), nb::arg("b"), nb::arg("n_threads") = 1);
    m.def("gram", &gram, nb::arg("a"), nb::arg("n_threads") = 1, "Values among the rows of a, in single.");
    m.def("symmetric_apply", &symmetric_apply, nb::arg("a"), nb::arg("weights"), nb::arg("n_threads") = 1,
          nb::arg("cache_bytes") = 0);
    m.def("apply", &apply, nb::arg("a"), nb::arg("b"), nb::arg("weights"), nb::arg("n_threads") = 1);
    m.def("apply_parts", &apply_parts, nb::arg("a"), nb::arg("b"), nb::arg("weights"), nb::arg("bounds"),
          nb::arg("n_threads") = 1);
}

}  // namespace sodm::bindings
