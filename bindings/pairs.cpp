// One against one: many small problems in one call.
#include "exact/pairs.hpp"

#include <cmath>
#include <memory>
#include <mutex>
#include <optional>

#include "base/subnormals.hpp"
#include "module.hpp"
#include "solver_arguments.hpp"
#include "sources.hpp"

namespace sodm::bindings {

namespace {

using IndexMatrix = nb::ndarray<const Index, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// What rounding does to the values of a source: of points it is known, of values that are given they are
// taken to be sums of terms as large as they can be, |k(x, z)|^2 <= k(x, x) k(z, z).
Rounding rounding_of(const AnySource& any) {
    if (auto* points = std::get_if<const Points*>(&any)) return (*points)->rounding();
    constexpr double kSums = 64;
    Rounding out;
    out.pair = kSums;
    const std::unique_ptr<KernelSource<double>> source = make_source<double>(any);
    for (Index i = 0; i < source->rows(); ++i) {
        out.p.push_back(std::sqrt(std::fabs(source->diagonal(i))));
        out.q.push_back(0.0);
    }
    return out;
}

// The kernel values in double that certificates may ask for: a Python function makes the source of them when
// that happens, on whatever thread.
class ExactSource {
  public:
    ExactSource(const nb::callable& make, Index n) : make_(make), n_(n) {}
    const KernelSource<double>& get() {
        std::call_once(made_, [&] {
            nb::gil_scoped_acquire gil;
            owner_ = make_();
            const AnySource any = nb::cast<SourceArgument>(owner_).any;
            if (size_of(any) != n_ || !is_double(any))
                throw std::invalid_argument("certificates need a source of the same rows in double");
            source_ = make_source<double>(any);
        });
        return *source_;
    }

  private:
    nb::callable make_;
    Index n_;
    std::once_flag made_;
    nb::object owner_;
    std::unique_ptr<KernelSource<double>> source_;
};

struct PairResult {
    PairSolution solution;
    std::uint64_t evaluations;
    double kernel_seconds;
};

PairResult solve(const SourceArgument& source_argument, std::optional<nb::callable> exact_source,
                 IndexVector codes, int n_classes, IndexMatrix pairs, Vector weights, const LossNumbers& loss,
                 const SolveOptions& how, double shown_tol, double shown_violation, bool share,
                 std::optional<Matrix> start, std::optional<Matrix> start_decision) {
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
    const Options options = how.for_core();
    const double total = sum_of(weights);
    std::optional<ExactSource> exact;
    std::optional<Rounding> rounding;
    PairCertificates certificates;
    if (exact_source) {
        exact.emplace(*exact_source, problem.n);
        rounding = rounding_of(any);
        certificates = {[&]() -> const KernelSource<double>& { return exact->get(); }, &*rounding, shown_tol,
                        shown_violation};
    }

    nb::gil_scoped_release nogil;
    PythonMonitor monitor(how.stop);
    Threads threads(how.n_threads, &monitor);
    const FlushSubnormals flushed;
    return with_source(any, [&](const auto& source, bool indefinite) {
        problem.maybe_indefinite = indefinite;
        PairSolution solution = loss.hinge() ? solve_pairs(how.method, source, problem, loss.as_hinge(total),
                                                           options, certificates, threads)
                                             : solve_pairs(how.method, source, problem, loss.as_odm(total),
                                                           options, certificates, threads);
        return PairResult{std::move(solution), source.evaluations(), source.seconds()};
    });
}

}  // namespace

void bind_pairs(nb::module_& m) {
    const auto policy = nb::rv_policy::automatic;
    bind_result<PairResult>(m, "PairResult")
        .def_prop_ro("duals", each<PairResult>(&PairSolution::duals), policy)
        .def_prop_ro("decision", each<PairResult>(&PairSolution::decision), policy)
        .def_prop_ro("shift", each<PairResult>(&PairSolution::shift), policy);

    m.def("solve_pairs", &solve, nb::arg("source"), nb::arg("exact").none(), nb::arg("codes"),
          nb::arg("n_classes"), nb::arg("pairs"), nb::arg("weights"), nb::arg("loss"), nb::arg("options"),
          nb::arg("shown_tol"), nb::arg("shown_violation"), nb::arg("share"),
          nb::arg("start").none() = nb::none(), nb::arg("start_decision").none() = nb::none(),
          "`exact` makes the same rows' source in double, when certificates ask for it; without it there are "
          "none.");
}

}  // namespace sodm::bindings
