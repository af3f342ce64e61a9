#include "linear/linear_steps.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace sodm {

namespace {

constexpr Index kAhead = 8;  // rows asked for before they are needed
constexpr Index kBetweenPolls = 4096;

// Half the derivative of the loss.
inline double slope(const MarginLoss& loss, double m) {
    if (m < loss.low) return m - loss.low;
    if (m > loss.high) return loss.upsilon * (m - loss.high);
    return 0.0;
}

template <class T>
void run_svrg(const LinearRows& rows, const MarginLoss& loss, double scale, double step, int n_problems,
              const std::int32_t* positive, const Index* order, Index n_steps, const double* anchor,
              const double* mean, double* w, Monitor* monitor) {
    const RowReader<T> reader(rows);
    const Index width = rows.width(), size = n_problems * width;
    // With z = w + mean a step is z <- (1 - step) z - step * delta * x: shrink by a scalar, add one sparse
    // row. So z is kept as shrink * u, and a step costs the row's entries only.
    std::vector<double> u(static_cast<std::size_t>(size));
    for (Index e = 0; e < size; ++e) u[static_cast<std::size_t>(e)] = w[e] + mean[e];
    double shrink = 1.0;
    for (Index t = 0; t < n_steps; ++t) {
        if (monitor && t % kBetweenPolls == 0) monitor->check();
        if (t + kAhead < n_steps) reader.prefetch(order[t + kAhead]);
        const Index i = order[t];
        const double next = shrink * (1.0 - step);
        for (int j = 0; j < n_problems; ++j) {
            double f[3];
            reader.dot3(i, u.data() + j * width, mean + j * width, anchor + j * width, f);
            const double y = rows.label[i] == positive[j] ? 1.0 : -1.0;
            const double here = slope(loss, y * (shrink * f[0] - f[1])), there = slope(loss, y * f[2]);
            const double delta = scale * rows.row_weight(i) * y * (here - there);
            if (delta != 0.0) reader.add(-step * delta / next, i, u.data() + j * width);
        }
        shrink = next;
        if (shrink < 1e-100) {
            for (double& e : u) e *= shrink;
            shrink = 1.0;
        }
    }
    for (Index e = 0; e < size; ++e) w[e] = shrink * u[static_cast<std::size_t>(e)] - mean[e];
}

// The exact minimiser over one dual variable (method: r = q g - margin; a and b are the ridges of the two
// sides).
inline double dual_step(const DualLoss& loss, double q, double weight, double g, double margin) {
    if (loss.hinge) {
        const double most = loss.scale * weight;
        if (q <= 0.0) return margin < 1.0 ? most : g;
        return std::min(most, std::max(0.0, g + (1.0 - margin) / q));
    }
    const double r = q * g - margin, a = 1.0 / (loss.scale * weight), b = a / loss.margin.upsilon;
    if (r > -loss.margin.low) return (r + loss.margin.low) / (q + a);
    if (r < -loss.margin.high) return (r + loss.margin.high) / (q + b);
    return 0.0;
}

template <class T>
std::vector<double> run_sweep(const LinearRows& rows, const DualLoss& loss, int n_problems,
                              const std::int32_t* positive, const double* squared_norm, const Index* order,
                              Index n_order, double* duals, double* w, Monitor* monitor) {
    const RowReader<T> reader(rows);
    const Index width = rows.width(), n = rows.view.n;
    std::vector<double> violation(static_cast<std::size_t>(n_problems), 0.0);
    for (Index t = 0; t < n_order; ++t) {
        if (monitor && t % kBetweenPolls == 0) monitor->check();
        if (t + kAhead < n_order) reader.prefetch(order[t + kAhead]);
        const Index i = order[t];
        const double weight = rows.row_weight(i);
        if (weight <= 0.0) continue;
        const double q = squared_norm[i];
        for (int j = 0; j < n_problems; ++j) {
            double& g = duals[j * n + i];
            const double y = rows.label[i] == positive[j] ? 1.0 : -1.0;
            const double target = dual_step(loss, q, weight, g, y * reader.dot(i, w + j * width));
            const double change = target - g;
            if (change == 0.0) continue;
            g = target;
            reader.add(change * y, i, w + j * width);
            const double ridge = loss.hinge ? 0.0 : 1.0 / (loss.scale * weight);
            double& largest = violation[static_cast<std::size_t>(j)];
            largest = std::max(largest, std::fabs(change) * (q + ridge));
        }
    }
    return violation;
}

template <class T>
std::vector<Index> cover(const LinearRows& rows, const double* squared_norm, const double* key,
                         const Index* order, double radius, Monitor* monitor) {
    const RowReader<T> reader(rows);
    const Index n = rows.view.n, d = rows.view.features;
    const double reach = radius * radius;
    // Centres by class and by key / radius: a ball reaches into the neighbouring cells only.
    std::unordered_map<std::int32_t, std::unordered_map<std::int64_t, std::vector<Index>>> cells;
    std::vector<Index> centre(static_cast<std::size_t>(n));
    std::vector<double> row(static_cast<std::size_t>(rows.width()), 0.0);
    if (rows.bias != 0.0) row[static_cast<std::size_t>(d)] = rows.bias;
    for (Index t = 0; t < n; ++t) {
        if (monitor && t % 64 == 0) monitor->check();
        const Index i = order[t];
        reader.entries(i, [&](Index k, double x) { row[static_cast<std::size_t>(k)] = x; });
        auto& of_class = cells[rows.label[i]];
        const std::int64_t cell = static_cast<std::int64_t>(std::floor(key[i] / radius));
        Index found = -1;
        for (std::int64_t c = cell - 1; c <= cell + 1 && found < 0; ++c) {
            const auto near = of_class.find(c);
            if (near == of_class.end()) continue;
            for (const Index z : near->second) {
                if (std::fabs(key[z] - key[i]) > radius) continue;
                if (squared_norm[i] + squared_norm[z] - 2.0 * reader.dot(z, row.data()) <= reach) {
                    found = z;
                    break;
                }
            }
        }
        if (found < 0) {
            of_class[cell].push_back(i);
            found = i;
        }
        centre[static_cast<std::size_t>(i)] = found;
        if (rows.view.sparse)
            reader.entries(i, [&](Index k, double) { row[static_cast<std::size_t>(k)] = 0.0; });
    }
    return centre;
}

}  // namespace

void svrg_steps(const LinearRows& rows, const MarginLoss& loss, double scale, double step, int n_problems,
                const std::int32_t* positive, const Index* order, Index n_steps, const double* anchor,
                const double* mean, double* w, Monitor* monitor) {
    if (rows.view.single)
        run_svrg<float>(rows, loss, scale, step, n_problems, positive, order, n_steps, anchor, mean, w,
                        monitor);
    else
        run_svrg<double>(rows, loss, scale, step, n_problems, positive, order, n_steps, anchor, mean, w,
                         monitor);
}

std::vector<double> dual_sweep(const LinearRows& rows, const DualLoss& loss, int n_problems,
                               const std::int32_t* positive, const double* squared_norm, const Index* order,
                               Index n_order, double* duals, double* w, Monitor* monitor) {
    if (rows.view.single)
        return run_sweep<float>(rows, loss, n_problems, positive, squared_norm, order, n_order, duals, w,
                                monitor);
    return run_sweep<double>(rows, loss, n_problems, positive, squared_norm, order, n_order, duals, w,
                             monitor);
}

std::vector<Index> ball_cover(const LinearRows& rows, const double* squared_norm, const double* key,
                              const Index* order, double radius, Monitor* monitor) {
    if (rows.view.single) return cover<float>(rows, squared_norm, key, order, radius, monitor);
    return cover<double>(rows, squared_norm, key, order, radius, monitor);
}

}  // namespace sodm
