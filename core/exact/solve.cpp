#include "exact/solve.hpp"

#include <algorithm>

namespace sodm {

namespace {

// A sweep of coordinate descent costs about as much as a product, and what Newton has not solved with so many
// descent in parts solves in some dozens of sweeps (6,000 rows of a9a, twice gamma="scale", lam 2^20: 28 of
// them, where Newton takes tens of seconds).
constexpr double kPatience = 100;
constexpr int kSweepsInBetween = 120;

bool all_converged(const Solution& solution) {
    return std::all_of(solution.converged.begin(), solution.converged.end(), [](char c) { return c != 0; });
}

double worst_gap(const Solution& solution) {
    return *std::max_element(solution.gap.begin(), solution.gap.end());
}

// Whether coordinate descent will be done in a handful of sweeps: the Gram matrix can be stored, the ridge is
// not much smaller than its diagonal, and there is more to find than the solution of one system. Measured on
// a9a and cod-rna from 600 to 8,000 rows, lam from 10 to 1e5: below a ratio of a quarter the sweeps grow as
// its inverse, above two they are two or three.
template <class T>
bool suits_descent(const KernelSource<T>& source, const Problem& problem, const OdmLoss& loss,
                   const Options& options) {
    constexpr Index kMedium = 6000;
    const auto bytes = static_cast<std::size_t>(problem.n) * static_cast<std::size_t>(problem.n) * sizeof(T);
    if (bytes > options.block_bytes() || options.tol < 1e-5 || loss.one_piece()) return false;
    double diagonal = 0;
    for (Index i = 0; i < problem.n; ++i) diagonal += problem.weights[i] * source.diagonal(i);
    const double ratio = loss.low * static_cast<double>(problem.n) / diagonal;
    return ratio >= (problem.n <= kMedium ? 0.25 : 2.0);
}

}  // namespace

template <class T>
Solution solve_odm(const std::string& method, const KernelSource<T>& source, const Problem& problem,
                   const OdmLoss& loss, const Options& options, Threads& threads) {
    if (method == "dcd") return solve_coordinate(source, problem, loss, options, threads);
    if (method == "newton") return solve_newton(source, problem, loss, options, threads);

    Problem rest = problem;
    Solution descent;
    if (suits_descent(source, problem, loss, options)) {
        Options short_run = options;
        short_run.max_iter = std::min(options.max_iter, 60);
        short_run.tol = std::min(options.tol, std::max(options.aim, 1e-5));
        descent = solve_coordinate(source, problem, loss, short_run, threads);
        if (all_converged(descent) || options.max_iter <= short_run.max_iter) return descent;
        rest.start = descent.duals.data();
    }
    const auto bytes = static_cast<std::size_t>(problem.n) * static_cast<std::size_t>(problem.n) * sizeof(T);
    const bool stored = bytes <= options.block_bytes();
    Options impatient = options;
    if (stored) impatient.max_products = kPatience;
    Solution best = solve_newton(source, rest, loss, impatient, threads);
    // Newton stalled short of the tolerance, or was on its way to take longer than hundreds of sweeps:
    // coordinate steps are exact one by one and may still gain. Where they do not either, Newton goes on from
    // the better of the two for as long as it takes.
    for (const bool by_descent : {true, false, true}) {
        if (all_converged(best) || best.shift > 0 || !stored) return best;
        rest.start = best.duals.data();
        Options more = options;
        if (by_descent) more.max_iter = std::min(options.max_iter, kSweepsInBetween);
        Solution next = by_descent ? solve_coordinate(source, rest, loss, more, threads)
                                   : solve_newton(source, rest, loss, more, threads);
        // A smaller gap with single rows still wrong is no better than the end.
        if (all_converged(next) || worst_gap(next) < worst_gap(best)) best = std::move(next);
    }
    return best;
}

template Solution solve_odm(const std::string&, const KernelSource<float>&, const Problem&, const OdmLoss&,
                            const Options&, Threads&);
template Solution solve_odm(const std::string&, const KernelSource<double>&, const Problem&, const OdmLoss&,
                            const Options&, Threads&);

}  // namespace sodm
