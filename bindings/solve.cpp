// The exact solver, on points, a stored matrix, or a Python function.
#include "exact/solve.hpp"

#include <nanobind/stl/function.h>

#include "base/subnormals.hpp"
#include "module.hpp"
#include "solver_arguments.hpp"
#include "sources.hpp"

namespace sodm::bindings {

namespace {

struct Result {
    Solution solution;
    Index n;
    int count;
    std::uint64_t evaluations;
    double kernel_seconds;
};

Result solve(const SourceArgument& source_argument, Matrix signs, Vector weights, const LossNumbers& loss,
             const SolveOptions& how, std::optional<Matrix> start, std::optional<Matrix> start_decision,
             std::optional<Matrix> offset, std::optional<nb::callable> exact) {
    const AnySource any = source_argument.any;
    const Index n = size_of(any);
    if (static_cast<Index>(signs.shape(1)) != n || static_cast<Index>(weights.shape(0)) != n)
        throw std::invalid_argument("signs and weights must have one entry per row of the source");
    const auto given = [&](const std::optional<Matrix>& values, const char* name) -> const double* {
        if (!values) return nullptr;
        if (values->shape(0) != signs.shape(0) || values->shape(1) != signs.shape(1))
            throw std::invalid_argument(std::string(name) + " must have the shape of signs");
        return values->data();
    };
    Problem problem;
    problem.n = n;
    problem.count = static_cast<int>(signs.shape(0));
    problem.signs = signs.data();
    problem.weights = weights.data();
    problem.start = given(start, "start");
    problem.start_decision = given(start_decision, "start_decision");
    problem.offset = given(offset, "offset");
    const Options options = how.for_core();
    const double total = sum_of(weights);
    nb::object in_double;  // keeps the source alive
    std::unique_ptr<KernelSource<double>> of_double;
    if (exact)
        problem.exact = [&]() -> const KernelSource<double>& {
            if (!of_double) {
                nb::gil_scoped_acquire gil;
                in_double = (*exact)();
                of_double = make_source<double>(nb::cast<SourceArgument>(in_double).any);
            }
            return *of_double;
        };

    nb::gil_scoped_release nogil;
    PythonMonitor monitor(how.stop);
    Threads threads(how.n_threads, &monitor);
    const FlushSubnormals flushed;
    return with_source(any, [&](const auto& source, bool maybe_indefinite) {
        problem.maybe_indefinite = maybe_indefinite;
        Solution solution =
            loss.hinge() ? solve_coordinate(source, problem, loss.as_hinge(total), options, threads)
                         : solve_odm(how.method, source, problem, loss.as_odm(total), options, threads);
        return Result{std::move(solution), n, problem.count, source.evaluations(), source.seconds()};
    });
}

// An array of the solution with a row for each machine.
auto matrix(std::vector<double> Solution::* member) {
    return [member](const Result& r) {
        return copy_out(r.solution.*member,
                        {static_cast<std::size_t>(r.count), static_cast<std::size_t>(r.n)});
    };
}

}  // namespace

void bind_solve(nb::module_& m) {
    nb::class_<MatrixSource>(m, "MatrixSource")
        .def(
            "__init__",
            [](MatrixSource* self, AnyArray matrix, double offset, bool twice,
               std::optional<IndexVector> rows, bool definite) {
                const RowsView view = dense_view(matrix);
                std::vector<Index> among;
                if (rows) among.assign(rows->data(), rows->data() + rows->shape(0));
                for (Index row : among)
                    if (row < 0 || row >= view.n || row >= view.features)
                        throw std::invalid_argument("rows must be rows of a square matrix");
                new (self) MatrixSource{nb::cast(matrix), view, offset, twice, std::move(among), definite};
            },
            nb::arg("matrix"), nb::arg("offset") = 0.0, nb::arg("double") = false,
            nb::arg("rows").none() = nb::none(), nb::arg("definite") = false, nb::keep_alive<1, 2>(),
            "A Gram matrix, or what `rows` of it have among themselves; `definite` if no eigenvalue is "
            "negative.");
    nb::class_<FunctionSource>(m, "FunctionSource")
        .def(
            "__init__",
            [](FunctionSource* self, Vector diagonal, double offset, nb::callable function, bool twice) {
                new (self) FunctionSource{
                    std::move(function),
                    std::vector<double>(diagonal.data(), diagonal.data() + diagonal.shape(0)), offset, twice};
            },
            nb::arg("diagonal"), nb::arg("offset"), nb::arg("function"), nb::arg("double") = false);

    nb::class_<LossNumbers>(m, "LossNumbers")
        .def(
            "__init__",
            [](LossNumbers* self, const std::string& name, double lam, double upsilon, double theta) {
                new (self) LossNumbers{name, lam, upsilon, theta};
            },
            nb::arg("name"), nb::arg("lam"), nb::arg("upsilon") = 1.0, nb::arg("theta") = 0.0);
    nb::class_<SolveOptions>(m, "SolveOptions")
        .def(
            "__init__",
            [](SolveOptions* self, const std::string& method, double tol, double violation, int max_iter,
               std::size_t cache_bytes, std::uint64_t seed, int n_threads, double aim,
               std::optional<nb::callable> progress, const StopToken* stop) {
                new (self) SolveOptions{method,      tol,  aim,       violation,           max_iter,
                                        cache_bytes, seed, n_threads, std::move(progress), stop};
            },
            nb::arg("method"), nb::arg("tol"), nb::arg("violation"), nb::arg("max_iter"),
            nb::arg("cache_bytes"), nb::arg("seed"), nb::arg("n_threads"), nb::arg("aim") = 0.0,
            nb::arg("progress").none() = nb::none(), nb::arg("stop").none() = nb::none(),
            nb::keep_alive<1, 11>());

    bind_result<Result>(m, "Result")
        .def_prop_ro("duals", matrix(&Solution::duals), nb::rv_policy::automatic)
        .def_prop_ro("decision", matrix(&Solution::decision), nb::rv_policy::automatic)
        .def_prop_ro("shift", [](const Result& r) { return r.solution.shift; });

    m.def("solve", &solve, nb::arg("source"), nb::arg("signs"), nb::arg("weights"), nb::arg("loss"),
          nb::arg("options"), nb::arg("start").none() = nb::none(),
          nb::arg("start_decision").none() = nb::none(), nb::arg("offset").none() = nb::none(),
          nb::arg("exact").none() = nb::none());
}

}  // namespace sodm::bindings
