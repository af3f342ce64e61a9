// The linear machine: rows with labels and weights, the fused pass over them, and the sequential inner loops.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "base/linalg.hpp"
#include "base/loss.hpp"
#include "linear/active_newton.hpp"
#include "linear/ball_cover.hpp"
#include "linear/dual_sweep.hpp"
#include "linear/linear_pass.hpp"
#include "linear/packed_triangle.hpp"
#include "linear/row_values.hpp"
#include "linear/svrg_steps.hpp"
#include "module.hpp"

namespace sodm::bindings {

namespace {

using Labels = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<nb::numpy, double>;
using MatrixOut = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Rows as Python holds them: views into its arrays, kept alive here, and the threads that work on them.
struct Rows {
    std::vector<AnyArray> arrays;
    std::optional<Labels> labels;
    std::optional<Vector> weights;
    LinearRows rows;
    PythonMonitor monitor;
    Threads threads;
    std::unique_ptr<LinearPass> pass;
    Curvature kind = Curvature::none;
    int n_problems = 0;  // of the pass

    Rows(RowsView view, std::vector<AnyArray> kept, std::optional<Labels> label, std::optional<Vector> weight,
         double bias, int n_threads)
        : arrays(std::move(kept)),
          labels(std::move(label)),
          weights(std::move(weight)),
          threads(n_threads, &monitor) {
        rows.view = view;
        rows.bias = bias;
        const auto fits = [&](std::size_t n) { return static_cast<Index>(n) == view.n; };
        if ((labels && !fits(labels->shape(0))) || (weights && !fits(weights->shape(0))))
            throw std::invalid_argument("one label and one weight per row are needed");
        if (labels) rows.label = labels->data();
        if (weights) rows.weight = weights->data();
    }

    std::size_t width() const { return static_cast<std::size_t>(rows.width()); }
    void need_labels() const {
        if (!rows.label) throw std::invalid_argument("these rows have no labels");
    }
    void need_lines() const {
        if (!rows.view.sparse && rows.view.feature_stride != 1)
            throw std::invalid_argument("rows must be in C order for methods that take rows one at a time");
    }
    void need_pass(const std::vector<int>& problems) const {
        if (!pass) throw std::invalid_argument("start_pass comes first");
        for (const int p : problems)
            if (p < 0 || p >= n_problems) throw std::invalid_argument("there is no problem of this number");
    }
    void check_shape(std::size_t problems, std::size_t n_problems, std::size_t columns) const {
        if (problems != n_problems || columns != width())
            throw std::invalid_argument("expected one row of `width` numbers per problem");
    }
};

// The pass that goes with a kind of curvature; a new one has seen no margins yet.
void start_pass(Rows& self, int n_problems, const std::string& curvature) {
    self.need_labels();
    Curvature kind = Curvature::none;
    if (curvature == "gram")
        kind = Curvature::gram;
    else if (curvature == "gram_in_double")
        kind = Curvature::gram_in_double;
    else if (curvature == "diagonal")
        kind = Curvature::diagonal;
    else if (curvature != "none")
        throw std::invalid_argument("unknown curvature '" + curvature + "'");
    self.kind = kind;
    self.n_problems = n_problems;
    self.pass = std::make_unique<LinearPass>(self.rows, n_problems, kind);
}

auto evaluate(Rows& self, const std::vector<int>& problems, Labels positive, Matrix w, const OdmLoss& loss) {
    self.need_pass(problems);
    self.check_shape(w.shape(0), problems.size(), w.shape(1));
    self.check_shape(positive.shape(0), problems.size(), self.width());
    PassSums sums;
    {
        nb::gil_scoped_release nogil;
        sums = self.pass->evaluate(loss, problems, positive.data(), w.data(), self.threads);
    }
    const std::size_t k = problems.size(), d = self.width();
    std::optional<Numbers> curvature;
    if (self.kind == Curvature::diagonal)
        curvature = to_numpy(std::move(sums.curvature), {k, d});
    else if (self.kind != Curvature::none)
        curvature = to_numpy(std::move(sums.curvature), {k, d, d});
    return std::make_tuple(to_numpy(std::move(sums.loss), {k}), to_numpy(std::move(sums.gradient), {k, d}),
                           curvature);
}

auto times(Rows& self, const std::vector<int>& problems, Matrix v, const OdmLoss& loss) {
    self.need_pass(problems);
    self.check_shape(v.shape(0), problems.size(), v.shape(1));
    std::vector<double> out;
    {
        nb::gil_scoped_release nogil;
        out = self.pass->times(loss, problems, v.data(), self.threads);
    }
    return to_numpy(std::move(out), {problems.size(), self.width()});
}

auto decisions(Rows& self, Matrix w) {
    self.check_shape(w.shape(0), w.shape(0), w.shape(1));
    std::vector<double> out(w.shape(0) * static_cast<std::size_t>(self.rows.view.n));
    {
        nb::gil_scoped_release nogil;
        linear_decisions(self.rows, static_cast<int>(w.shape(0)), w.data(), out.data(), self.threads);
    }
    return to_numpy(std::move(out), {w.shape(0), static_cast<std::size_t>(self.rows.view.n)});
}

void check_order(const Rows& self, const IndexVector& order) {
    for (std::size_t t = 0; t < order.shape(0); ++t)
        if (order.data()[t] < 0 || order.data()[t] >= self.rows.view.n)
            throw std::invalid_argument("a row number is out of range");
}

void steps(Rows& self, Labels positive, const OdmLoss& loss, double step, IndexVector order, Matrix anchor,
           Matrix mean, MatrixOut w) {
    self.need_labels();
    self.need_lines();
    check_order(self, order);
    for (const auto* m : {&anchor, &mean}) self.check_shape(m->shape(0), positive.shape(0), m->shape(1));
    self.check_shape(w.shape(0), positive.shape(0), w.shape(1));
    nb::gil_scoped_release nogil;
    svrg_steps(self.rows, loss, step, static_cast<int>(positive.shape(0)), positive.data(), order.data(),
               static_cast<Index>(order.shape(0)), anchor.data(), mean.data(), w.data(), &self.monitor);
}

template <class Loss>
auto sweep(Rows& self, Labels positive, const Loss& loss, Vector squared_norms, IndexVector order,
           MatrixOut duals, MatrixOut w) {
    self.need_labels();
    self.need_lines();
    check_order(self, order);
    const std::size_t k = positive.shape(0), n = static_cast<std::size_t>(self.rows.view.n);
    self.check_shape(w.shape(0), k, w.shape(1));
    if (duals.shape(0) != k || duals.shape(1) != n || squared_norms.shape(0) != n)
        throw std::invalid_argument("expected one dual variable per problem and row, and one norm per row");
    std::vector<double> violation;
    {
        nb::gil_scoped_release nogil;
        violation = dual_sweep(self.rows, loss, static_cast<int>(k), positive.data(), squared_norms.data(),
                               order.data(), static_cast<Index>(order.shape(0)), duals.data(), w.data(),
                               &self.monitor);
    }
    return to_numpy(std::move(violation), {k});
}

auto from_duals(Rows& self, Labels positive, Matrix duals) {
    self.need_labels();
    self.need_lines();
    const std::size_t k = positive.shape(0);
    if (duals.shape(0) != k || duals.shape(1) != static_cast<std::size_t>(self.rows.view.n))
        throw std::invalid_argument("expected one dual variable per problem and row");
    std::vector<double> w;
    {
        nb::gil_scoped_release nogil;
        w = weights_of_duals(self.rows, static_cast<int>(k), positive.data(), duals.data(), &self.monitor);
    }
    return to_numpy(std::move(w), {k, self.width()});
}

auto cover(Rows& self, Vector squared_norms, Vector key, IndexVector order, double radius) {
    self.need_labels();
    self.need_lines();
    check_order(self, order);
    const std::size_t n = static_cast<std::size_t>(self.rows.view.n);
    if (squared_norms.shape(0) != n || key.shape(0) != n || order.shape(0) != n || !(radius > 0))
        throw std::invalid_argument("expected a norm, a key and a place for each row, and a positive radius");
    std::vector<Index> centres;
    {
        nb::gil_scoped_release nogil;
        centres =
            ball_cover(self.rows, squared_norms.data(), key.data(), order.data(), radius, &self.monitor);
    }
    return to_numpy(std::move(centres), {n});
}

// Newton on the rows in play; keeps the rows and the offsets alive.
struct Search {
    Rows& rows;
    std::optional<Matrix> offset;
    ActiveNewton newton;

    Search(Rows& rows_, const std::vector<std::int32_t>& positive, const OdmLoss& loss, Matrix w,
           std::optional<Matrix> offset_, const std::optional<Matrix>& basis)
        : rows(rows_),
          offset(std::move(offset_)),
          newton(rows_.rows, loss, positive, offset ? offset->data() : nullptr, w.data(),
                 basis ? basis->data() : nullptr) {}

    void check(const std::vector<int>& problems) const {
        if (problems.empty()) throw std::invalid_argument("there are no problems to work on");
        for (const int p : problems)
            if (p < 0 || p >= newton.n_problems())
                throw std::invalid_argument("there is no problem of this number");
    }
    template <class F>
    auto numbers(F f) const {
        std::vector<double> out;
        for (int p = 0; p < newton.n_problems(); ++p) out.push_back(f(p));
        const std::size_t k = out.size();
        return to_numpy(std::move(out), {k});
    }
};

std::unique_ptr<Search> start_search(Rows& rows, const std::vector<std::int32_t>& positive,
                                     const OdmLoss& loss, Matrix w, std::optional<Matrix> offset,
                                     const Search* like, std::optional<Matrix> basis) {
    rows.need_labels();
    rows.need_lines();
    rows.check_shape(w.shape(0), positive.size(), w.shape(1));
    if (offset &&
        (offset->shape(0) != positive.size() || static_cast<Index>(offset->shape(1)) != rows.rows.view.n))
        throw std::invalid_argument("expected one offset per problem and row");
    if (basis && (basis->shape(0) != rows.width() || basis->shape(1) != rows.width()))
        throw std::invalid_argument("expected a basis as large as rows are wide");
    auto search = std::make_unique<Search>(rows, positive, loss, w, offset, basis);
    if (like) search->newton.begin_with_factors_of(like->newton);
    return search;
}

// L^-1 of each row of `right`, or L'^-1.
auto solve_lower(Matrix lower, Matrix right, bool transposed) {
    const std::size_t k = right.shape(0), n = right.shape(1);
    if (lower.shape(0) != n || lower.shape(1) != n)
        throw std::invalid_argument("expected n x n and k x n numbers");
    std::vector<double> out(right.data(), right.data() + k * n);
    {
        nb::gil_scoped_release nogil;
        const PackedTriangle<double> triangle(lower.data(), static_cast<Index>(n));
        for (std::size_t j = 0; j < k; ++j)
            transposed ? triangle.solve_upper(out.data() + j * n) : triangle.solve_lower(out.data() + j * n);
    }
    return to_numpy(std::move(out), {k, n});
}

// The solution of matrix x = right, or none if the matrix is not positive definite.
std::optional<Numbers> solve_definite(Matrix matrix, Vector right, int n_threads) {
    const std::size_t n = matrix.shape(0);
    if (matrix.shape(1) != n || right.shape(0) != n)
        throw std::invalid_argument("expected n x n and n numbers");
    std::vector<double> a(matrix.data(), matrix.data() + n * n), b(right.data(), right.data() + n);
    bool definite;
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n > 256 ? n_threads : 1, &monitor);
        definite = cholesky(a.data(), static_cast<Index>(n), threads);
        if (definite) cholesky_solve(a.data(), static_cast<Index>(n), b.data());
    }
    if (!definite) return std::nullopt;
    return to_numpy(std::move(b), {n});
}

}  // namespace

void bind_linear(nb::module_& m) {
    // The losses with their scale; what they are is in base/loss.hpp.
    nb::class_<OdmLoss>(m, "OdmLoss")
        .def(
            "__init__",
            [](OdmLoss* self, double scale, double upsilon, double theta) {
                new (self) OdmLoss(OdmLoss::of_scale(scale, upsilon, theta));
            },
            nb::arg("scale"), nb::arg("upsilon"), nb::arg("theta"));
    nb::class_<HingeLoss>(m, "HingeLoss")
        .def(
            "__init__",
            [](HingeLoss* self, double scale) { new (self) HingeLoss(HingeLoss::of_scale(scale)); },
            nb::arg("scale"));

    m.def("solve_lower", &solve_lower, nb::arg("lower"), nb::arg("right"), nb::arg("transposed") = false);
    m.def("solve_definite", &solve_definite, nb::arg("matrix"), nb::arg("right"), nb::arg("n_threads") = 1);

    nb::class_<Search>(m, "LinearSearch")
        .def("sweeps_pay", [](const Search& self) { return self.newton.sweeps_pay(); })
        .def(
            "sweep",
            [](Search& self, int n_sweeps) {
                nb::gil_scoped_release nogil;
                return self.newton.sweep(n_sweeps, self.rows.threads);
            },
            nb::arg("n_sweeps"))
        .def("gradient_at_zero",
             [](Search& self) {
                 std::vector<double> norms;
                 {
                     nb::gil_scoped_release nogil;
                     norms = self.newton.gradient_at_zero(self.rows.threads);
                 }
                 const std::size_t k = norms.size();
                 return to_numpy(std::move(norms), {k});
             })
        .def("factor",
             [](Search& self) {
                 nb::gil_scoped_release nogil;
                 self.newton.factor(self.rows.threads);
             })
        .def(
            "look",
            [](Search& self, const std::vector<int>& problems) {
                self.check(problems);
                nb::gil_scoped_release nogil;
                self.newton.look(problems, self.rows.threads);
            },
            nb::arg("problems"))
        .def(
            "step",
            [](Search& self, const std::vector<int>& problems, Vector goal) {
                self.check(problems);
                if (goal.shape(0) != problems.size())
                    throw std::invalid_argument("expected one goal per problem");
                nb::gil_scoped_release nogil;
                return self.newton.step(problems, goal.data(), self.rows.threads);
            },
            nb::arg("problems"), nb::arg("goal"))
        .def_prop_ro(
            "w",
            [](const Search& self) {
                const Index d = self.newton.width();
                std::vector<double> w;
                for (int p = 0; p < self.newton.n_problems(); ++p)
                    w.insert(w.end(), self.newton.w(p), self.newton.w(p) + d);
                return to_numpy(std::move(w), {static_cast<std::size_t>(self.newton.n_problems()),
                                               static_cast<std::size_t>(d)});
            },
            nb::rv_policy::move)
        .def_prop_ro(
            "objective",
            [](const Search& self) { return self.numbers([&](int p) { return self.newton.objective(p); }); },
            nb::rv_policy::move)
        .def_prop_ro(
            "gradient_norm",
            [](const Search& self) {
                return self.numbers([&](int p) { return self.newton.gradient_norm(p); });
            },
            nb::rv_policy::move)
        .def_prop_ro(
            "length",
            [](const Search& self) { return self.numbers([&](int p) { return self.newton.length(p); }); },
            nb::rv_policy::move);

    nb::class_<Rows>(m, "LinearRows")
        .def_static(
            "dense",
            [](AnyArray x, std::optional<Labels> labels, std::optional<Vector> weights, double bias,
               int n_threads) {
                return std::make_unique<Rows>(dense_view(x), std::vector<AnyArray>{x}, labels, weights, bias,
                                              n_threads);
            },
            nb::arg("x"), nb::arg("labels").none() = nb::none(), nb::arg("weights").none() = nb::none(),
            nb::arg("bias") = 0.0, nb::arg("n_threads") = 1)
        .def_static(
            "csr",
            [](AnyArray data, AnyArray indices, AnyArray indptr, Index features, std::optional<Labels> labels,
               std::optional<Vector> weights, double bias, int n_threads) {
                return std::make_unique<Rows>(csr_view(data, indices, indptr, features),
                                              std::vector<AnyArray>{data, indices, indptr}, labels, weights,
                                              bias, n_threads);
            },
            nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("features"),
            nb::arg("labels").none() = nb::none(), nb::arg("weights").none() = nb::none(),
            nb::arg("bias") = 0.0, nb::arg("n_threads") = 1)
        .def_prop_ro("n", [](const Rows& self) { return self.rows.view.n; })
        .def_prop_ro("width", [](const Rows& self) { return self.rows.width(); })
        .def("finite",
             [](Rows& self) {
                 nb::gil_scoped_release nogil;
                 return linear_finite(self.rows.view, self.threads);
             })
        .def("squared_norms",
             [](Rows& self) {
                 std::vector<double> norms;
                 {
                     nb::gil_scoped_release nogil;
                     norms = linear_squared_norms(self.rows, self.threads);
                 }
                 const std::size_t n = norms.size();
                 return to_numpy(std::move(norms), {n});
             })
        .def("start_pass", &start_pass, nb::arg("n_problems"), nb::arg("curvature"))
        .def("evaluate", &evaluate, nb::arg("problems"), nb::arg("positive"), nb::arg("w"), nb::arg("loss"))
        .def("times", &times, nb::arg("problems"), nb::arg("v"), nb::arg("loss"))
        .def("decisions", &decisions, nb::arg("w"))
        .def("svrg_steps", &steps, nb::arg("positive"), nb::arg("loss"), nb::arg("step"), nb::arg("order"),
             nb::arg("anchor"), nb::arg("mean"), nb::arg("w"))
        .def("dual_sweep", &sweep<OdmLoss>, nb::arg("positive"), nb::arg("loss"), nb::arg("squared_norms"),
             nb::arg("order"), nb::arg("duals"), nb::arg("w"))
        .def("dual_sweep", &sweep<HingeLoss>, nb::arg("positive"), nb::arg("loss"), nb::arg("squared_norms"),
             nb::arg("order"), nb::arg("duals"), nb::arg("w"))
        .def("weights_of_duals", &from_duals, nb::arg("positive"), nb::arg("duals"))
        .def("start_search", &start_search, nb::keep_alive<0, 1>(), nb::arg("positive"), nb::arg("loss"),
             nb::arg("w"), nb::arg("offset").none() = nb::none(), nb::arg("like").none() = nb::none(),
             nb::arg("basis").none() = nb::none())
        .def("ball_cover", &cover, nb::arg("squared_norms"), nb::arg("key"), nb::arg("order"),
             nb::arg("radius"));
}

}  // namespace sodm::bindings
