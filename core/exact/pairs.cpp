#include "exact/pairs.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>

#include "base/relay.hpp"
#include "exact/pair_values.hpp"
#include "kernel/matrix_kernel.hpp"
#include "kernel/selected_rows.hpp"

namespace sodm {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The rows of one pair, those of the first class before those of the second.
struct PairRows {
    std::vector<Index> rows, place;  // place: where in the (classes-1) x n arrays the dual of each is
    std::vector<double> signs, weights, start, decision;
};

template <class T>
Solution solve_one(const std::string& method, const KernelSource<T>& source, const Problem& problem,
                   const OdmLoss& loss, const Options& options, Threads& threads) {
    return solve_odm(method, source, problem, loss, options, threads);
}

template <class T>
Solution solve_one(const std::string&, const KernelSource<T>& source, const Problem& problem,
                   const HingeLoss& loss, const Options& options, Threads& threads) {
    return solve_coordinate(source, problem, loss, options, threads);
}

template <class T, class Loss>
class PairSolver {
  public:
    PairSolver(const std::string& method, const KernelSource<T>& source, const PairProblem& problem,
               const Loss& loss, const Options& options, const PairCertificates& certificates,
               Threads& threads)
        : method_(method),
          source_(source),
          problem_(problem),
          loss_(loss),
          options_(options),
          certificates_(certificates),
          threads_(threads),
          of_class_(at(problem.classes)),
          spare_(at(threads.count())) {
        for (Index i = 0; i < problem.n; ++i) of_class_[at(problem.codes[i])].push_back(i);
    }

    PairSolution run() {
        if (problem_.share) shared_ = std::make_unique<PairValues<T>>(source_, of_class_, threads_);
        const std::size_t count = at(problem_.n_pairs), all = at((problem_.classes - 1) * problem_.n);
        out_.duals.assign(all, 0.0);
        out_.decision.assign(all, 0.0);
        for (auto* values : {&out_.objective, &out_.gap, &out_.violation, &out_.shift})
            values->assign(count, 0.0);
        out_.iterations.assign(count, 0);
        out_.converged.assign(count, 1);
        std::vector<std::string> methods(count);
        // Long ones first, so that none of them is left for the end.
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return size_of(a) > size_of(b); });
        std::atomic<int> done{0};
        threads_.run(count, [&](std::size_t k, int worker) {
            const std::size_t pair = order[k];
            if (size_of(pair) > 0) methods[pair] = solve(pair, worker);
            const int solved = ++done;
            if (options_.progress && worker == 0)
                options_.progress(
                    Progress{"pairs", size_of(pair), solved, out_.gap[pair], out_.violation[pair]});
        });
        for (const std::string& method : methods)
            if (out_.method.empty()) out_.method = method;
        return std::move(out_);
    }

  private:
    Index first(std::size_t pair) const { return problem_.pairs[2 * pair]; }
    Index second(std::size_t pair) const { return problem_.pairs[2 * pair + 1]; }
    Index size_of(std::size_t pair) const {
        return static_cast<Index>(of_class_[at(first(pair))].size() + of_class_[at(second(pair))].size());
    }

    PairRows rows_of(std::size_t pair) const {
        PairRows out;
        const Index dual[2] = {second(pair) - 1, first(pair)};
        for (int side = 0; side < 2; ++side)
            for (Index row : of_class_[at(side == 0 ? first(pair) : second(pair))]) {
                out.rows.push_back(row);
                out.place.push_back(dual[side] * problem_.n + row);
                out.signs.push_back(side == 0 ? 1.0 : -1.0);
                out.weights.push_back(problem_.weights[row]);
                if (problem_.start) out.start.push_back(problem_.start[out.place.back()]);
                if (problem_.start_decision)
                    out.decision.push_back(problem_.start_decision[out.place.back()]);
            }
        return out;
    }

    std::string solve(std::size_t pair, int worker) {
        const SpareMemory::Use use(spare_[at(worker)]);
        Relay relay(threads_, worker);
        Threads alone(1, &relay);
        const PairRows own = rows_of(pair);
        if (!shared_) return solve(pair, own, SelectedRows<T>(source_, own.rows), alone);
        Buffer<T> values;
        shared_->fill(first(pair), second(pair), values, alone);
        RowsView view;
        view.n = view.features = view.row_stride = static_cast<Index>(own.rows.size());
        view.single = std::is_same_v<T, float>;
        view.values = values.data();
        return solve(pair, own, MatrixKernel<T>(view, 0.0, {}, source_.far_value()), alone);
    }

    std::string solve(std::size_t pair, const PairRows& own, const KernelSource<T>& source, Threads& alone) {
        Problem problem;
        problem.n = static_cast<Index>(own.rows.size());
        problem.signs = own.signs.data();
        problem.weights = own.weights.data();
        const bool started = std::any_of(own.start.begin(), own.start.end(), [](double g) { return g != 0; });
        problem.start = started ? own.start.data() : nullptr;
        problem.start_decision = problem_.start_decision ? own.decision.data() : nullptr;
        problem.maybe_indefinite = problem_.maybe_indefinite;
        Options options = options_;
        options.progress = nullptr;
        Solution found = solve_one(method_, source, problem, loss_, options, alone);
        for (std::size_t i = 0; i < own.rows.size(); ++i)  // of the kernel that was asked for
            found.decision[i] -= found.shift * own.signs[i] * found.duals[i];
        out_.objective[pair] = found.objective[0];
        out_.gap[pair] = found.gap[0];
        out_.violation[pair] = found.violation[0];
        out_.shift[pair] = found.shift;
        out_.iterations[pair] = found.iterations[0];
        out_.converged[pair] = found.converged[0];
        if (certificates_.exact) show(pair, own, found, source, alone);
        for (std::size_t i = 0; i < own.rows.size(); ++i) {
            out_.duals[at(own.place[i])] = found.duals[i];
            out_.decision[at(own.place[i])] = found.decision[i];
        }
        return found.method;
    }

    void show(std::size_t pair, const PairRows& own, Solution& found, const KernelSource<T>& source,
              Threads& alone) {
        std::optional<SelectedRows<double>> selected;
        const ExactValues exact = [&]() -> const KernelSource<double>& {
            if (!selected) selected.emplace(certificates_.exact(), own.rows);
            return *selected;
        };
        std::vector<double> diagonal(own.rows.size());
        for (std::size_t i = 0; i < diagonal.size(); ++i)
            diagonal[i] = source.diagonal(static_cast<Index>(i));
        const Rounding& all = *certificates_.rounding;
        Rounding rounding;
        rounding.pair = all.pair;
        rounding.point = all.point;
        rounding.one = all.one;
        for (Index row : own.rows) {
            rounding.p.push_back(all.p[at(row)]);
            rounding.q.push_back(all.q[at(row)]);
        }
        FoundMachine machine;
        machine.n = static_cast<Index>(own.rows.size());
        machine.signs = own.signs.data();
        machine.weights = own.weights.data();
        machine.duals = found.duals.data();
        machine.diagonal = diagonal.data();
        machine.decision = found.decision.data();
        machine.unit = std::numeric_limits<T>::epsilon() / 2;
        const Certificate shown = certify(exact, rounding, machine, loss_, certificates_.tol, alone);
        out_.objective[pair] = shown.objective;
        out_.gap[pair] = shown.gap;
        out_.violation[pair] = shown.violation;
        if (found.shift == 0)
            out_.converged[pair] =
                shown.gap <= certificates_.tol && shown.violation <= certificates_.violation;
    }

    const std::string& method_;
    const KernelSource<T>& source_;
    const PairProblem& problem_;
    const Loss& loss_;
    const Options& options_;
    const PairCertificates& certificates_;
    Threads& threads_;
    std::vector<std::vector<Index>> of_class_;
    std::unique_ptr<PairValues<T>> shared_;
    std::vector<SpareMemory> spare_;  // of each thread: pairs want blocks of like sizes, one after another
    PairSolution out_;
};

}  // namespace

template <class T, class Loss>
PairSolution solve_pairs(const std::string& method, const KernelSource<T>& source, const PairProblem& problem,
                         const Loss& loss, const Options& options, const PairCertificates& certificates,
                         Threads& threads) {
    return PairSolver<T, Loss>(method, source, problem, loss, options, certificates, threads).run();
}

template PairSolution solve_pairs(const std::string&, const KernelSource<float>&, const PairProblem&,
                                  const OdmLoss&, const Options&, const PairCertificates&, Threads&);
template PairSolution solve_pairs(const std::string&, const KernelSource<double>&, const PairProblem&,
                                  const OdmLoss&, const Options&, const PairCertificates&, Threads&);
template PairSolution solve_pairs(const std::string&, const KernelSource<float>&, const PairProblem&,
                                  const HingeLoss&, const Options&, const PairCertificates&, Threads&);
template PairSolution solve_pairs(const std::string&, const KernelSource<double>&, const PairProblem&,
                                  const HingeLoss&, const Options&, const PairCertificates&, Threads&);

}  // namespace sodm
