#include "exact/solve.hpp"

#include <algorithm>

#include "kernel/neighbourhood.hpp"
#include "kernel/spectrum.hpp"

namespace sodm {

namespace {

// A sweep of coordinate descent costs about as much as a product, and what Newton has not solved with so many
// descent in parts solves in some dozens of sweeps (6,000 rows of a9a, twice gamma="scale", lam 2^20: 28 of
// them, where Newton takes tens of seconds).
constexpr double kPatience = 100;
constexpr int kSweepsInBetween = 120;
// Descent that comes first: what it can do it does within some 30 sweeps.
constexpr double kSweepsOfNear = 50;
constexpr double kSweepsOfFew = 20, kFew = 0.4;  // of all rows: with larger working sets Newton is as short
constexpr double kWorthStarting = 0.1;  // gap above which Newton's own start is better than where it ended

bool all_converged(const Solution& solution) {
    return std::all_of(solution.converged.begin(), solution.converged.end(), [](char c) { return c != 0; });
}

double worst_gap(const Solution& solution) {
    return *std::max_element(solution.gap.begin(), solution.gap.end());
}

// Bytes of the whole Gram matrix, in units of what a stored block may have.
double stored_blocks(const Problem& problem, const Options& options, std::size_t value) {
    const auto n = static_cast<double>(problem.n);
    return n * n * static_cast<double>(value) / static_cast<double>(options.block_bytes());
}

// Whether coordinate descent will be done in a handful of sweeps: the Gram matrix can be stored, the ridge is
// not much smaller than its diagonal, and there is more to find than the solution of one system. Measured on
// a9a and cod-rna from 600 to 8,000 rows, lam from 10 to 1e5: below a ratio of a quarter the sweeps grow as
// its inverse, above two they are two or three.
template <class T>
bool suits_descent(const KernelSource<T>& source, const Problem& problem, const OdmLoss& loss,
                   const Options& options) {
    constexpr Index kMedium = 6000;
    if (stored_blocks(problem, options, sizeof(T)) > 1 || options.tol < 1e-5 || loss.one_piece())
        return false;
    return ridge_beside_diagonal(source, problem, loss) >= (problem.n <= kMedium ? 0.25 : 2.0);
}

// Where the ridge is small and the spectrum flat, rows are decided by their neighbours: Newton's guesses of A
// are poor, its systems large and hard, and coordinate steps get by with some dozens of sweeps. Settled on
// made data (make_classification, Friedman's function) and pairs of Fashion-MNIST's classes, 20,000 rows.
template <class T>
bool decided_by_neighbours(const KernelSource<T>& source, const Problem& problem, const OdmLoss& loss,
                           const Options& options, Threads& threads) {
    constexpr Index kFewest = 8000;
    constexpr double kSmallRidge = 0.04, kFlat = 0.35;
    if (problem.start || problem.start_decision) return false;
    return problem.n >= kFewest && options.tol >= 1e-5 && !loss.one_piece() && !problem.maybe_indefinite &&
           ridge_beside_diagonal(source, problem, loss) < kSmallRidge && !is_local(source, threads) &&
           rest_of_landmarks(source, threads) > kFlat;
}

// Where only a part of the Gram matrix can be stored, a row sees many others, and landmarks leave more than
// the ridge, Newton's first guesses of A have most rows and its systems take long, however few rows matter in
// the end. If these are few, working sets find them. Settled on checkerboards, spirals, moons, ijcnn1 and
// covtype, 20,000 and 60,000 rows.
template <class T>
bool few_may_matter(const KernelSource<T>& source, const Problem& problem, const OdmLoss& loss,
                    const Options& options, Threads& threads) {
    constexpr double kPart = 4, kManySeen = 150;
    if (problem.start || problem.start_decision || problem.maybe_indefinite) return false;
    return stored_blocks(problem, options, sizeof(T)) > kPart && options.tol >= 1e-5 && !loss.one_piece() &&
           seen_by_a_row(source, threads) > kManySeen &&
           rest_of_landmarks(source, threads) > ridge_beside_diagonal(source, problem, loss);
}

}  // namespace

template <class T>
Solution solve_odm(const std::string& method, const KernelSource<T>& source, const Problem& problem,
                   const OdmLoss& loss, const Options& options, Threads& threads) {
    if (method == "dcd") return solve_coordinate(source, problem, loss, options, threads);
    if (method == "newton") return solve_newton(source, problem, loss, options, threads);

    Problem rest = problem;
    Solution descent;
    const bool near = decided_by_neighbours(source, problem, loss, options, threads);
    const bool few = !near && few_may_matter(source, problem, loss, options, threads);
    if (near || few || suits_descent(source, problem, loss, options)) {
        Options short_run = options;
        short_run.max_iter = std::min(options.max_iter, 60);
        if (near) short_run.max_sweeps = kSweepsOfNear;
        if (few) {
            short_run.max_sweeps = kSweepsOfFew;
            short_run.most_in_set = kFew;
        }
        short_run.tol = std::min(options.tol, std::max(options.aim, near || few ? 1e-4 : 1e-5));
        descent = solve_coordinate(source, problem, loss, short_run, threads);
        if (all_converged(descent) || options.max_iter <= short_run.max_iter) return descent;
        if (worst_gap(descent) < kWorthStarting) rest.start = descent.duals.data();
    }
    const bool stored = stored_blocks(problem, options, sizeof(T)) <= 1;
    Options impatient = options;
    if (stored && !near) impatient.max_products = kPatience;  // what descent has not solved it will not
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
