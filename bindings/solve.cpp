// The exact solver, on points, a stored matrix, or a Python function.
#include "exact/solve.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "module.hpp"
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

Result solve(const SourceArgument& source_argument, Matrix signs, Vector weights, const std::string& loss,
             double lam, double upsilon, double theta, const std::string& method, double tol,
             double violation, int max_iter, std::size_t cache_bytes, std::uint64_t seed, int n_threads,
             std::optional<Matrix> start, std::optional<nb::callable> progress, const StopToken* stop,
             std::optional<Matrix> start_decision, std::optional<Matrix> offset, double aim) {
    const AnySource any = source_argument.any;
    const Index n = size_of(any);
    if (static_cast<Index>(signs.shape(1)) != n || static_cast<Index>(weights.shape(0)) != n)
        throw std::invalid_argument("signs and weights must have one entry per row of the source");
    if (start && (start->shape(0) != signs.shape(0) || start->shape(1) != signs.shape(1)))
        throw std::invalid_argument("start must have the shape of signs");
    if (start_decision &&
        (start_decision->shape(0) != signs.shape(0) || start_decision->shape(1) != signs.shape(1)))
        throw std::invalid_argument("start_decision must have the shape of signs");
    if (offset && (offset->shape(0) != signs.shape(0) || offset->shape(1) != signs.shape(1)))
        throw std::invalid_argument("offset must have the shape of signs");
    Problem problem;
    problem.n = n;
    problem.count = static_cast<int>(signs.shape(0));
    problem.signs = signs.data();
    problem.weights = weights.data();
    problem.start = start ? start->data() : nullptr;
    problem.start_decision = start_decision ? start_decision->data() : nullptr;
    problem.offset = offset ? offset->data() : nullptr;
    Options options;
    options.tol = tol;
    options.aim = aim > 0 ? std::min(aim, tol) : tol;
    options.violation = violation;
    options.max_iter = max_iter;
    options.cache_bytes = cache_bytes;
    options.seed = seed;
    if (progress)
        options.progress = [&progress](const Progress& p) {
            nb::gil_scoped_acquire gil;
            nb::dict record;
            record["stage"] = p.stage;
            record["rows"] = p.rows;
            record["iteration"] = p.iteration;
            record["gap"] = p.gap;
            record["violation"] = p.violation;
            (*progress)(record);
        };
    double total = 0;
    for (Index i = 0; i < n; ++i) total += problem.weights[i];

    nb::gil_scoped_release nogil;
    PythonMonitor monitor(stop);
    Threads threads(n_threads, &monitor);
    return with_source(any, [&](const auto& source, bool maybe_indefinite) {
        problem.maybe_indefinite = maybe_indefinite;
        const OdmLoss odm = loss == "targets" ? OdmLoss::of_targets(lam, upsilon, theta, total)
                                              : OdmLoss(lam, upsilon, theta, total);
        Solution solution = loss == "hinge"
                                ? solve_coordinate(source, problem, HingeLoss(lam, total), options, threads)
                                : solve_odm(method, source, problem, odm, options, threads);
        return Result{std::move(solution), n, problem.count, source.evaluations(), source.seconds()};
    });
}

template <class T>
auto copy_out(const std::vector<T>& values, std::initializer_list<std::size_t> shape) {
    std::vector<T> copy = values;
    return to_numpy(std::move(copy), shape);
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

    nb::class_<Result>(m, "Result")
        .def_prop_ro(
            "duals",
            [](const Result& r) {
                return copy_out(r.solution.duals,
                                {static_cast<std::size_t>(r.count), static_cast<std::size_t>(r.n)});
            },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "decision",
            [](const Result& r) {
                return copy_out(r.solution.decision,
                                {static_cast<std::size_t>(r.count), static_cast<std::size_t>(r.n)});
            },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "objective",
            [](const Result& r) { return copy_out(r.solution.objective, {r.solution.objective.size()}); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "gap", [](const Result& r) { return copy_out(r.solution.gap, {r.solution.gap.size()}); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "violation",
            [](const Result& r) { return copy_out(r.solution.violation, {r.solution.violation.size()}); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "iterations",
            [](const Result& r) { return copy_out(r.solution.iterations, {r.solution.iterations.size()}); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "converged",
            [](const Result& r) {
                std::vector<int> flags(r.solution.converged.begin(), r.solution.converged.end());
                return copy_out(flags, {flags.size()});
            },
            nb::rv_policy::automatic)
        .def_prop_ro("method", [](const Result& r) { return r.solution.method; })
        .def_prop_ro("shift", [](const Result& r) { return r.solution.shift; })
        .def_ro("evaluations", &Result::evaluations)
        .def_ro("kernel_seconds", &Result::kernel_seconds);

    m.def("solve", &solve, nb::arg("source"), nb::arg("signs"), nb::arg("weights"), nb::arg("loss"),
          nb::arg("lam"), nb::arg("upsilon"), nb::arg("theta"), nb::arg("method"), nb::arg("tol"),
          nb::arg("violation"), nb::arg("max_iter"), nb::arg("cache_bytes"), nb::arg("seed"),
          nb::arg("n_threads"), nb::arg("start").none(), nb::arg("progress").none(),
          nb::arg("stop").none() = nb::none(), nb::arg("start_decision").none() = nb::none(),
          nb::arg("offset").none() = nb::none(), nb::arg("aim") = 0.0);
}

}  // namespace sodm::bindings
