#include "linear/landmark_pass.hpp"

#include <algorithm>

namespace sodm {

namespace {

constexpr Index kTilesOfTask = 32;  // that add to the same sums

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

LandmarkSums landmark_pass(const KernelSource<double>& source, int problems, const double* coefficients,
                           const double* signs, const double* weights, const OdmLoss& loss,
                           Threads& threads) {
    const Index m = source.rows(), n = source.columns(), tiles = (n + kTile - 1) / kTile;
    const std::size_t tasks = at((tiles + kTilesOfTask - 1) / kTilesOfTask);
    const SimdOps<double>& ops = simd<double>();
    const int chunk = source.row_chunk();
    std::vector<Workspace<double>> work(at(threads.count()));
    std::vector<LandmarkSums> of_task(tasks);
    threads.run(tasks, [&](std::size_t task, int worker) {
        Workspace<double>& w = work[at(worker)];
        LandmarkSums& sums = of_task[task];
        sums.loss.assign(at(problems), 0.0);
        sums.slopes.assign(at(problems * m), 0.0);
        w.tile.resize(at(m * kTile));
        const Index first = static_cast<Index>(task) * kTilesOfTask;
        for (Index t = first; t < std::min(tiles, first + kTilesOfTask); ++t) {
            threads.check(worker);
            const Index c0 = t * kTile;
            const int count = static_cast<int>(std::min<Index>(kTile, n - c0)),
                      lanes = lanes_for<double>(count);
            source.load_columns(Subset::all(n), c0, count, w);
            for (Index r = 0; r < m; r += chunk)
                source.tile(Subset::all(m), r, static_cast<int>(std::min<Index>(chunk, m - r)), w,
                            w.tile.data() + r * kTile);
            for (int p = 0; p < problems; ++p) {
                alignas(64) double f[kTile] = {}, by_f[kTile] = {};
                ops.add_rows(w.tile.data(), kTile, static_cast<int>(m), lanes, coefficients + p * m, f);
                for (int c = 0; c < count; ++c) {
                    const double y = signs[p * n + c0 + c], s = weights[c0 + c];
                    sums.loss[at(p)] += 2 * loss.primal(y * f[c], s);
                    by_f[c] = -y * loss.lift(y * f[c], s);
                }
                ops.add_columns(w.tile.data(), kTile, static_cast<int>(m), lanes, by_f,
                                sums.slopes.data() + p * m);
            }
        }
    });
    LandmarkSums all{std::vector<double>(at(problems), 0.0), std::vector<double>(at(problems * m), 0.0)};
    for (const LandmarkSums& sums : of_task) {
        for (std::size_t k = 0; k < all.loss.size(); ++k) all.loss[k] += sums.loss[k];
        for (std::size_t k = 0; k < all.slopes.size(); ++k) all.slopes[k] += sums.slopes[k];
    }
    return all;
}

}  // namespace sodm
