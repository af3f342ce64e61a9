// Machines along lam on parts of Gram matrices, in one call.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/subnormals.hpp"
#include "exact/path.hpp"
#include "module.hpp"
#include "sources.hpp"

namespace sodm::bindings {

namespace {

using FloatMatrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Rows of a Gram matrix, the machines on them, and the lams in the order in which they are solved.
struct Task {
    FloatMatrix gram;
    double shift;
    bool definite;
    IndexVector rows;
    Matrix signs;
    Vector weights;
    std::optional<Matrix> offset;
    double theta;
    Vector lams;
    std::optional<Matrix> start;
    std::optional<IndexVector> held;

    Task(FloatMatrix gram_, double shift_, bool definite_, IndexVector rows_, Matrix signs_, Vector weights_,
         std::optional<Matrix> offset_, double theta_, Vector lams_, std::optional<Matrix> start_,
         std::optional<IndexVector> held_)
        : gram(gram_),
          shift(shift_),
          definite(definite_),
          rows(rows_),
          signs(signs_),
          weights(weights_),
          offset(offset_),
          theta(theta_),
          lams(lams_),
          start(start_),
          held(held_) {
        if (gram.shape(0) != gram.shape(1)) throw std::invalid_argument("the Gram matrix must be square");
        const std::size_t n = rows.shape(0);
        if (signs.shape(1) != n || weights.shape(0) != n)
            throw std::invalid_argument("signs and weights must have one entry for each row");
        if (offset && (offset->shape(0) != signs.shape(0) || offset->shape(1) != n))
            throw std::invalid_argument("offset must have the shape of signs");
        if (start && (start->shape(0) != signs.shape(0) || start->shape(1) != n))
            throw std::invalid_argument("start must have the shape of signs");
    }

    static Subset within(const GramMatrix& gram, const IndexVector& list) {
        const auto n = static_cast<Index>(list.shape(0));
        for (Index i = 0; i < n; ++i)
            if (list(i) < 0 || list(i) >= gram.n)
                throw std::invalid_argument("rows must be rows of the matrix");
        return Subset{list.data(), n};
    }

    PathTask view() const {
        PathTask out;
        out.gram = {gram.data(), static_cast<Index>(gram.shape(0))};
        out.offset = shift;
        out.theta = theta;
        const auto n = static_cast<Index>(rows.shape(0));
        out.rows = within(out.gram, rows);
        if (held) out.held = within(out.gram, *held);
        out.problem.n = n;
        out.problem.count = static_cast<int>(signs.shape(0));
        out.problem.signs = signs.data();
        out.problem.weights = weights.data();
        out.problem.offset = offset ? offset->data() : nullptr;
        out.problem.start = start ? start->data() : nullptr;
        out.problem.maybe_indefinite = !definite;
        out.lams.assign(lams.data(), lams.data() + lams.shape(0));
        return out;
    }
};

nb::list solve(const std::vector<const Task*>& given, const std::string& loss, double upsilon, double tol,
               double violation, int max_iter, std::uint64_t seed, int n_threads, const StopToken* stop) {
    std::vector<PathTask> tasks;
    for (const Task* task : given) tasks.push_back(task->view());
    Options options;
    options.tol = options.aim = tol;
    options.violation = violation;
    options.max_iter = max_iter;
    options.seed = seed;
    std::vector<PathSolution> found;
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor(stop);
        Threads threads(n_threads, &monitor);
        const FlushSubnormals flushed;
        if (loss == "hinge")
            found = solve_paths<HingeLoss>(
                tasks, [](double, double lam, double total) { return HingeLoss(lam, total); }, options,
                threads);
        else
            found = solve_paths<OdmLoss>(
                tasks,
                [&](double theta, double lam, double total) {
                    return loss == "targets" ? OdmLoss::of_targets(lam, upsilon, theta, total)
                                             : OdmLoss(lam, upsilon, theta, total);
                },
                options, threads);
    }
    nb::list out;
    for (std::size_t k = 0; k < found.size(); ++k) {
        const std::size_t losses = tasks[k].lams.size();
        const auto machines = static_cast<std::size_t>(tasks[k].problem.count);
        const auto rows = static_cast<std::size_t>(tasks[k].problem.n);
        const auto held = static_cast<std::size_t>(tasks[k].held.n);
        out.append(nb::make_tuple(to_numpy(std::move(found[k].coefficients), {losses, machines, rows}),
                                  to_numpy(std::move(found[k].seconds), {losses}),
                                  to_numpy(std::move(found[k].held), {losses, machines, held})));
    }
    return out;
}

}  // namespace

void bind_paths(nb::module_& m) {
    nb::class_<Task>(m, "PathTask")
        .def(nb::init<FloatMatrix, double, bool, IndexVector, Matrix, Vector, std::optional<Matrix>, double,
                      Vector, std::optional<Matrix>, std::optional<IndexVector>>(),
             nb::arg("gram"), nb::arg("shift"), nb::arg("definite"), nb::arg("rows"), nb::arg("signs"),
             nb::arg("weights"), nb::arg("offset").none(), nb::arg("theta"), nb::arg("lams"),
             nb::arg("start").none() = nb::none(), nb::arg("held").none() = nb::none(),
             "`shift` is added to all values of the Gram matrix, `offset` to the margins.");
    m.def("solve_paths", &solve, nb::arg("tasks"), nb::arg("loss"), nb::arg("upsilon"), nb::arg("tol"),
          nb::arg("violation"), nb::arg("max_iter"), nb::arg("seed"), nb::arg("n_threads"),
          nb::arg("stop").none() = nb::none(),
          "For each task coefficients, shape (lams, machines, rows), seconds, and f at the rows held.");
}

}  // namespace sodm::bindings
