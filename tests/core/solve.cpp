// The exact solvers: both methods agree, the gap certifies, threads do not matter, a stop is heeded.
#include "exact/solve.hpp"

#include <random>

#include "check.hpp"
#include "kernel/point_kernel.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

struct Task {
    Data data;
    std::vector<double> signs, weights, offset;
    Problem problem;

    Task(Index n, int count, bool with_offset = false)
        : data(n, 4, 1.0, 5), signs(at(n * count)), weights(at(n)) {
        std::mt19937 random(6);
        for (Index i = 0; i < n; ++i) {
            weights[at(i)] = 1 + static_cast<double>(random() % 3);
            for (int c = 0; c < count; ++c) {
                const double value = data.rows[at(i * 4 + c)] - 0.4 * data.rows[at(i * 4 + 3)];
                signs[at(c * n + i)] = (value > 0.1) != (random() % 10 == 0) ? 1 : -1;
            }
        }
        problem.n = n;
        problem.count = count;
        problem.signs = signs.data();
        problem.weights = weights.data();
        if (with_offset) {
            for (std::size_t i = 0; i < signs.size(); ++i)
                offset.push_back(static_cast<double>(random() % 400) / 100 - 2);
            problem.offset = offset.data();
        }
    }
    double total() const {
        double sum = 0;
        for (double w : weights) sum += w;
        return sum;
    }
};

template <class T>
void methods_agree(Index n, double lam, std::size_t cache_bytes, bool with_offset = false) {
    Task task(n, 2, with_offset);
    const KernelFunction kernel{KernelKind::rbf, 2.0, 0, 3, 0};
    PointSet<T> x(task.data.view(Form::rows), kernel);
    PointKernel<T> source(kernel, x, x);
    const OdmLoss loss(lam, 0.5, 0.3, task.total());
    Options options;
    options.tol = 1e-5;
    options.violation = 1e-2;
    options.cache_bytes = cache_bytes;
    options.max_iter = 5000;
    Threads one(1), three(3);
    const Solution newton = solve_newton(source, task.problem, loss, options, one);
    const Solution again = solve_newton(source, task.problem, loss, options, three);
    const Solution descent = solve_coordinate(source, task.problem, loss, options, three);
    CHECK(newton.duals == again.duals);
    for (std::size_t c = 0; c < 2; ++c) {
        CHECK(newton.converged[c] && descent.converged[c]);
        CHECK(newton.gap[c] > -1e-6 && descent.gap[c] > -1e-6);
        CHECK_NEAR(newton.objective[c] / descent.objective[c], 1.0, 3e-5, "objective");
    }
    // Starting from the solution there is nothing left to do.
    task.problem.start = newton.duals.data();
    const Solution restarted = solve_newton(source, task.problem, loss, options, one);
    CHECK(restarted.iterations[0] <= 1 && restarted.converged[0]);
}

template <class T>
void hinge_in_chunks(Index n) {
    Task task(n, 1);
    const KernelFunction kernel{KernelKind::rbf, 2.0, 0, 3, 0};
    PointSet<T> x(task.data.view(Form::rows), kernel);
    PointKernel<T> source(kernel, x, x);
    const HingeLoss loss(2.0 * task.total(), task.total());
    Options options;
    options.tol = 1e-4;
    options.violation = 0.03;
    Threads threads(2);
    const Solution solution = solve_coordinate(source, task.problem, loss, options, threads);
    CHECK(solution.converged[0]);
    for (Index i = 0; i < n; ++i) {
        const double g = solution.duals[at(i)];
        CHECK(g >= 0 && g <= loss.cost * task.weights[at(i)] * (1 + 1e-12));
    }
}

void a_stop_is_heeded() {
    Task task(3000, 1);
    const KernelFunction kernel{KernelKind::rbf, 2.0, 0, 3, 0};
    PointSet<float> x(task.data.view(Form::rows), kernel);
    PointKernel<float> source(kernel, x, x);
    Monitor monitor;
    Threads threads(2, &monitor);
    Options options;
    options.progress = [&](const Progress&) { monitor.request_stop(); };
    const OdmLoss loss(1e6, 0.5, 0.3, task.total());
    CHECK(throws<Interrupted>([&] { solve_newton(source, task.problem, loss, options, threads); }));
}

}  // namespace

int main() {
    for (double lam : {1.0, 1e3}) {
        methods_agree<double>(300, lam, std::size_t(100) << 20);   // dense
        methods_agree<double>(1100, lam, std::size_t(100) << 20);  // stored
        methods_agree<float>(1100, lam, std::size_t(100) << 20);
        methods_agree<float>(1100, lam, std::size_t(1) << 20);  // little is stored
        methods_agree<double>(300, lam, std::size_t(100) << 20, true);
        methods_agree<float>(1100, lam, std::size_t(1) << 20, true);
    }
    hinge_in_chunks<float>(900);
    hinge_in_chunks<float>(4500);
    a_stop_is_heeded();
    return failures();
}
