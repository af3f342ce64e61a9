// One against one: many small problems in one call.
#include "exact/pairs.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "module.hpp"
#include "sources.hpp"

namespace sodm::bindings {

namespace {

using IndexMatrix = nb::ndarray<const Index, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// What rounding does to the values of a source: of points it is known, of values that are given they are
// taken to be sums of terms as large as they can be, |k(x, z)|^2 <= k(x, x) k(z, z).
template <class T>
Rounding rounding_of(const AnySource& any, const KernelSource<T>& source) {
    if (auto* points = std::get_if<const Points*>(&any)) {
        const Points& p = **points;
        return std::visit([&](const auto& set) { return rounding(*set, p.kernel); }, p.set);
    }
    constexpr double kSums = 64;
    Rounding out;
    out.pair = kSums;
    for (Index i = 0; i < source.rows(); ++i) {
        out.p.push_back(std::sqrt(std::fabs(source.diagonal(i))));
        out.q.push_back(0.0);
    }
    return out;
}

struct PairResult {
    PairSolution solution;
    std::uint64_t evaluations;
    double kernel_seconds;
};

PairResult solve(const SourceArgument& source_argument, std::optional<SourceArgument> exact_argument,
                 IndexVector codes, int n_classes, IndexMatrix pairs, Vector weights, const std::string& loss,
                 double lam, double upsilon, double theta, const std::string& method, double tol,
                 double violation, double shown_tol, double shown_violation, int max_iter,
                 std::size_t cache_bytes, std::uint64_t seed, int n_threads, bool share,
                 std::optional<Matrix> start, std::optional<nb::callable> progress, const StopToken* stop,
                 std::optional<Matrix> start_decision, double aim) {
    const AnySource any = source_argument.any;
    const auto classes = static_cast<Index>(n_classes);
    PairProblem problem;
    problem.n = size_of(any);
    problem.classes = n_classes;
    problem.codes = codes.data();
    problem.weights = weights.data();
    problem.start = start ? start->data() : nullptr;
    problem.start_decision = start_decision ? start_decision->data() : nullptr;
    problem.pairs = pairs.data();
    problem.n_pairs = static_cast<Index>(pairs.shape(0));
    problem.share = share;
    if (static_cast<Index>(codes.shape(0)) != problem.n || static_cast<Index>(weights.shape(0)) != problem.n)
        throw std::invalid_argument("codes and weights must have one entry per row of the source");
    if (n_classes < 2 || pairs.shape(1) != 2)
        throw std::invalid_argument("pairs must have two columns, of two or more classes");
    for (Index i = 0; i < problem.n; ++i)
        if (codes(i) < 0 || codes(i) >= classes) throw std::invalid_argument("a code is that of no class");
    for (Index k = 0; k < problem.n_pairs; ++k)
        if (pairs(k, 0) < 0 || pairs(k, 0) >= pairs(k, 1) || pairs(k, 1) >= classes)
            throw std::invalid_argument("a pair must be of two classes in order");
    for (const auto& given : {start, start_decision})
        if (given && (static_cast<Index>(given->shape(0)) != classes - 1 ||
                      static_cast<Index>(given->shape(1)) != problem.n))
            throw std::invalid_argument("a start must have one row for each class but one");
    if (exact_argument && size_of(exact_argument->any) != problem.n)
        throw std::invalid_argument("both sources must have the same rows");
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
    for (Index i = 0; i < problem.n; ++i) total += problem.weights[i];

    nb::gil_scoped_release nogil;
    PythonMonitor monitor(stop);
    Threads threads(n_threads, &monitor);
    return with_source(any, [&](const auto& source, bool maybe_indefinite) {
        problem.maybe_indefinite = maybe_indefinite;
        const auto run = [&](const PairCertificates& certificates) {
            PairSolution solution =
                loss == "hinge" ? solve_pairs(method, source, problem, HingeLoss(lam, total), options,
                                              certificates, threads)
                                : solve_pairs(method, source, problem, OdmLoss(lam, upsilon, theta, total),
                                              options, certificates, threads);
            return PairResult{std::move(solution), source.evaluations(), source.seconds()};
        };
        if (!exact_argument) return run(PairCertificates{});
        const Rounding rounding = rounding_of(any, source);
        return with_source(exact_argument->any, [&](const auto& exact, bool) {
            if constexpr (std::is_convertible_v<decltype(&exact), const KernelSource<double>*>) {
                return run(PairCertificates{&exact, &rounding, shown_tol, shown_violation});
            } else {
                throw std::invalid_argument("the source of certificates must be in double");
                return run(PairCertificates{});
            }
        });
    });
}

template <class T>
auto copy_out(const std::vector<T>& values, std::initializer_list<std::size_t> shape) {
    std::vector<T> copy = values;
    return to_numpy(std::move(copy), shape);
}

// The members of a solution as arrays: one entry for each pair.
template <class T>
auto each(std::vector<T> PairSolution::* member) {
    return [member](const PairResult& r) {
        const std::vector<T>& values = r.solution.*member;
        return copy_out(values, {values.size()});
    };
}

}  // namespace

void bind_pairs(nb::module_& m) {
    const auto policy = nb::rv_policy::automatic;
    nb::class_<PairResult>(m, "PairResult")
        .def_prop_ro("duals", each(&PairSolution::duals), policy)
        .def_prop_ro("decision", each(&PairSolution::decision), policy)
        .def_prop_ro("objective", each(&PairSolution::objective), policy)
        .def_prop_ro("gap", each(&PairSolution::gap), policy)
        .def_prop_ro("violation", each(&PairSolution::violation), policy)
        .def_prop_ro("shift", each(&PairSolution::shift), policy)
        .def_prop_ro("iterations", each(&PairSolution::iterations), policy)
        .def_prop_ro(
            "converged",
            [](const PairResult& r) {
                const std::vector<char>& from = r.solution.converged;
                const std::vector<int> flags(from.begin(), from.end());
                return copy_out(flags, {flags.size()});
            },
            policy)
        .def_prop_ro("method", [](const PairResult& r) { return r.solution.method; })
        .def_ro("evaluations", &PairResult::evaluations)
        .def_ro("kernel_seconds", &PairResult::kernel_seconds);

    m.def("solve_pairs", &solve, nb::arg("source"), nb::arg("exact").none(), nb::arg("codes"),
          nb::arg("n_classes"), nb::arg("pairs"), nb::arg("weights"), nb::arg("loss"), nb::arg("lam"),
          nb::arg("upsilon"), nb::arg("theta"), nb::arg("method"), nb::arg("tol"), nb::arg("violation"),
          nb::arg("shown_tol"), nb::arg("shown_violation"), nb::arg("max_iter"), nb::arg("cache_bytes"),
          nb::arg("seed"), nb::arg("n_threads"), nb::arg("share"), nb::arg("start").none(),
          nb::arg("progress").none(), nb::arg("stop").none() = nb::none(),
          nb::arg("start_decision").none() = nb::none(), nb::arg("aim") = 0.0);
}

}  // namespace sodm::bindings
