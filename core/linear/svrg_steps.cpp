#include "linear/svrg_steps.hpp"

#include <cmath>
#include <vector>

#include "linear/watch.hpp"

namespace sodm {

namespace {

constexpr double kSmallest = 1e-100, kLargest = 1e100;  // of the factor that is kept apart

template <class T>
void run_svrg(const LinearRows& rows, const OdmLoss& loss, double step, int n_problems,
              const std::int32_t* positive, const Index* order, Index n_steps, const double* anchor,
              const double* mean, double* w, Monitor* monitor) {
    const RowReader<T> reader(rows);
    const Index width = rows.width(), size = n_problems * width;
    // With z = w + mean a step is z <- (1 - step) z - step * delta * x: shrink by a scalar, add one sparse
    // row. So z is kept as shrink * u, and a step costs the row's entries only.
    std::vector<double> u(static_cast<std::size_t>(size));
    for (Index e = 0; e < size; ++e) u[static_cast<std::size_t>(e)] = w[e] + mean[e];
    const double loss_scale = 1.0 / loss.low;
    double shrink = 1.0;
    Watch watch(monitor);
    for (Index t = 0; t < n_steps; ++t) {
        if (t + kRowsAhead < n_steps) reader.prefetch(order[t + kRowsAhead]);
        const Index i = order[t];
        watch.did(4 * n_problems * reader.size(i));
        const double next = shrink * (1.0 - step), scale = loss_scale * rows.row_weight(i);
        // A step of 1 makes the factor zero, longer ones make it grow: then u takes it over.
        const bool fold = !(std::fabs(next) > kSmallest && std::fabs(next) < kLargest);
        for (int j = 0; j < n_problems; ++j) {
            double* uj = u.data() + j * width;
            double f[3];
            reader.dot3(i, uj, mean + j * width, anchor + j * width, f);
            const double y = rows.label[i] == positive[j] ? 1.0 : -1.0;
            const double here = loss.shape_slope(y * (shrink * f[0] - f[1]));
            const double delta = scale * y * (here - loss.shape_slope(y * f[2]));
            if (fold)
                for (Index e = 0; e < width; ++e) uj[e] *= next;
            if (delta != 0.0) reader.add(-step * delta / (fold ? 1.0 : next), i, uj);
        }
        shrink = fold ? 1.0 : next;
    }
    for (Index e = 0; e < size; ++e) w[e] = shrink * u[static_cast<std::size_t>(e)] - mean[e];
}

}  // namespace

void svrg_steps(const LinearRows& rows, const OdmLoss& loss, double step, int n_problems,
                const std::int32_t* positive, const Index* order, Index n_steps, const double* anchor,
                const double* mean, double* w, Monitor* monitor) {
    const auto run = rows.view.single ? run_svrg<float> : run_svrg<double>;
    run(rows, loss, step, n_problems, positive, order, n_steps, anchor, mean, w, monitor);
}

}  // namespace sodm
