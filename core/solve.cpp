#include "solve.hpp"

#include <algorithm>

namespace sodm {

template <class T>
Solution solve_odm(const std::string& method, const KernelSource<T>& source, const Problem& problem,
                   const OdmLoss& loss, const Options& options, Threads& threads) {
    if (method == "dcd") return solve_coordinate(source, problem, loss, options, threads);
    Solution newton = solve_newton(source, problem, loss, options, threads);
    const bool converged =
        std::all_of(newton.converged.begin(), newton.converged.end(), [](char c) { return c != 0; });
    const auto bytes = static_cast<std::size_t>(problem.n) * static_cast<std::size_t>(problem.n) * sizeof(T);
    if (method == "newton" || converged || newton.shift > 0 || bytes > options.cache_bytes) return newton;
    // Newton stalled short of the tolerance; coordinate steps are exact one by one and may still gain.
    Problem rest = problem;
    rest.start = newton.duals.data();
    Solution descent = solve_coordinate(source, rest, loss, options, threads);
    double before = 0, after = 0;
    for (double gap : newton.gap) before = std::max(before, gap);
    for (double gap : descent.gap) after = std::max(after, gap);
    return after < before ? descent : newton;
}

template Solution solve_odm(const std::string&, const KernelSource<float>&, const Problem&, const OdmLoss&,
                            const Options&, Threads&);
template Solution solve_odm(const std::string&, const KernelSource<double>&, const Problem&, const OdmLoss&,
                            const Options&, Threads&);

}  // namespace sodm
