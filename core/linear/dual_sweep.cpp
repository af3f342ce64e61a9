#include "linear/dual_sweep.hpp"

#include <algorithm>

#include "linear/watch.hpp"

namespace sodm {

namespace {

template <class T, class Loss>
std::vector<double> run_sweep(const LinearRows& rows, const Loss& loss, int n_problems,
                              const std::int32_t* positive, const double* squared_norm, const Index* order,
                              Index n_order, double* duals, double* w, Monitor* monitor) {
    const RowReader<T> reader(rows);
    const Index width = rows.width(), n = rows.view.n;
    std::vector<double> violation(static_cast<std::size_t>(n_problems), 0.0);
    Watch watch(monitor);
    for (Index t = 0; t < n_order; ++t) {
        if (t + kRowsAhead < n_order) reader.prefetch(order[t + kRowsAhead]);
        const Index i = order[t];
        const double s = rows.row_weight(i), q = squared_norm[i];
        if (s <= 0.0) continue;
        watch.did(2 * n_problems * reader.size(i));
        for (int j = 0; j < n_problems; ++j) {
            double& g = duals[j * n + i];
            const double y = rows.label[i] == positive[j] ? 1.0 : -1.0;
            const double target = loss.prox(q * g - y * reader.dot(i, w + j * width), q, s);
            const double change = target - g;
            if (change == 0.0) continue;
            double& largest = violation[static_cast<std::size_t>(j)];
            largest = std::max(largest, loss.moved(g, target, q, s));
            g = target;
            reader.add(change * y, i, w + j * width);
        }
    }
    return violation;
}

template <class T>
void add_duals(const LinearRows& rows, int n_problems, const std::int32_t* positive, const double* duals,
               double* w, Monitor* monitor) {
    const RowReader<T> reader(rows);
    const Index width = rows.width(), n = rows.view.n;
    Watch watch(monitor);
    for (Index i = 0; i < n; ++i) {
        watch.did(n_problems * reader.size(i));
        for (int j = 0; j < n_problems; ++j) {
            const double g = duals[j * n + i];
            if (g != 0.0) reader.add(rows.label[i] == positive[j] ? g : -g, i, w + j * width);
        }
    }
}

}  // namespace

template <class Loss>
std::vector<double> dual_sweep(const LinearRows& rows, const Loss& loss, int n_problems,
                               const std::int32_t* positive, const double* squared_norm, const Index* order,
                               Index n_order, double* duals, double* w, Monitor* monitor) {
    const auto run = rows.view.single ? run_sweep<float, Loss> : run_sweep<double, Loss>;
    return run(rows, loss, n_problems, positive, squared_norm, order, n_order, duals, w, monitor);
}

template std::vector<double> dual_sweep(const LinearRows&, const OdmLoss&, int, const std::int32_t*,
                                        const double*, const Index*, Index, double*, double*, Monitor*);
template std::vector<double> dual_sweep(const LinearRows&, const HingeLoss&, int, const std::int32_t*,
                                        const double*, const Index*, Index, double*, double*, Monitor*);

std::vector<double> weights_of_duals(const LinearRows& rows, int n_problems, const std::int32_t* positive,
                                     const double* duals, Monitor* monitor) {
    std::vector<double> w(static_cast<std::size_t>(n_problems * rows.width()), 0.0);
    const auto run = rows.view.single ? add_duals<float> : add_duals<double>;
    run(rows, n_problems, positive, duals, w.data(), monitor);
    return w;
}

}  // namespace sodm
