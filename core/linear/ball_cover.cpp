#include "linear/ball_cover.hpp"

#include <cmath>
#include <unordered_map>

#include "linear/watch.hpp"

namespace sodm {

namespace {

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
    Watch watch(monitor);
    for (Index t = 0; t < n; ++t) {
        const Index i = order[t];
        watch.did(reader.size(i));
        reader.entries(i, [&](Index k, double x) { row[static_cast<std::size_t>(k)] = x; });
        auto& of_class = cells[rows.label[i]];
        const std::int64_t cell = static_cast<std::int64_t>(std::floor(key[i] / radius));
        Index found = -1;
        for (std::int64_t c = cell - 1; c <= cell + 1 && found < 0; ++c) {
            const auto near = of_class.find(c);
            if (near == of_class.end()) continue;
            for (const Index z : near->second) {
                watch.did(1);
                if (std::fabs(key[z] - key[i]) > radius) continue;
                watch.did(reader.size(z));
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

std::vector<Index> ball_cover(const LinearRows& rows, const double* squared_norm, const double* key,
                              const Index* order, double radius, Monitor* monitor) {
    if (rows.view.single) return cover<float>(rows, squared_norm, key, order, radius, monitor);
    return cover<double>(rows, squared_norm, key, order, radius, monitor);
}

}  // namespace sodm
