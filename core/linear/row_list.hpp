// Sums over a list of rows: what Newton needs of the rows that are in play.
#pragma once

#include <algorithm>
#include <vector>

#include "base/parallel.hpp"
#include "linear/linear_rows.hpp"
#include "linear/watch.hpp"

namespace sodm {

// Who works: a team of its own, or one worker of a larger team whose other workers are elsewhere. What is
// computed is cut by its size alone and the same for either.
class Crew {
  public:
    explicit Crew(Threads& team) : inner_(&team) {}
    Crew(const Threads& outer, int worker, Threads& alone)
        : inner_(&alone), outer_(&outer), worker_(worker) {}

    void run(std::size_t n, const std::function<void(std::size_t, Watch)>& task) const {
        inner_->run(n, [&](std::size_t t, int worker) {
            task(t, outer_ ? Watch(*outer_, worker_) : Watch(*inner_, worker));
        });
    }
    Threads& team() const { return *inner_; }

  private:
    Threads* inner_;
    const Threads* outer_ = nullptr;
    int worker_ = 0;
};

template <class T>
class RowList {
  public:
    explicit RowList(const LinearRows& rows) : reader_(rows), width_(rows.width()) {
        const RowsView& view = rows.view;
        const double stored = view.sparse ? static_cast<double>(view.start(view.n) - view.start(0))
                                          : static_cast<double>(view.n * view.features);
        per_row_ = stored / static_cast<double>(std::max<Index>(1, view.n)) + 1;
    }

    const RowReader<T>& reader() const { return reader_; }
    double per_row() const { return per_row_; }  // entries of a row, in the mean

    // out += sum_r coefficient[r] x_{list[r]}
    void add(const std::vector<Index>& list, const double* coefficient, double* out, const Crew& crew) const {
        in_blocks(list, out, crew, [&](Index r, double* sum) {
            if (coefficient[r] != 0.0) reader_.add(coefficient[r], list[static_cast<std::size_t>(r)], sum);
        });
    }
    // out += sum_r by(r, <x_r, v>) x_r
    template <class By>
    void add_by(const std::vector<Index>& list, const double* v, By by, double* out, const Crew& crew) const {
        in_blocks(list, out, crew, [&](Index r, double* sum) {
            const Index i = list[static_cast<std::size_t>(r)];
            const double coefficient = by(r, reader_.dot(i, v));
            if (coefficient != 0.0) reader_.add(coefficient, i, sum);
        });
    }
    // out += sum_r h[r] x_r^2
    void add_squares(const std::vector<Index>& list, const double* h, double* out, const Crew& crew) const {
        in_blocks(list, out, crew, [&](Index r, double* sum) {
            reader_.add_squares(h[r], list[static_cast<std::size_t>(r)], sum);
        });
    }
    // out[r] = <x_r, v>
    void decide(const std::vector<Index>& list, const double* v, double* out, const Crew& crew) const {
        const Index n = static_cast<Index>(list.size()), blocks = block_count(n, 1.0);
        crew.run(static_cast<std::size_t>(blocks), [&](std::size_t t, Watch watch) {
            for (Index r = n * static_cast<Index>(t) / blocks; r < n * static_cast<Index>(t + 1) / blocks;
                 ++r) {
                out[r] = reader_.dot(list[static_cast<std::size_t>(r)], v);
                watch.did(static_cast<Index>(per_row_));
            }
        });
    }

  private:
    static constexpr double kBlockWork = 1 << 18;  // multiply-adds of a block, some tenths of a millisecond
    static constexpr Index kMaxBlocks = 32;
    static constexpr Index kLongRow = 1 << 13;  // bytes that are asked for

    // Blocks of a list, each with a sum of `adds` numbers that has to be added up.
    Index block_count(Index n, double adds) const {
        const double work = static_cast<double>(n) * per_row_;
        const double blocks = std::min(work / kBlockWork, work / (4 * adds));
        return std::max<Index>(1, std::min<Index>({kMaxBlocks, n, static_cast<Index>(blocks)}));
    }

    template <class Add>
    void in_blocks(const std::vector<Index>& list, double* out, const Crew& crew, Add add) const {
        const Index n = static_cast<Index>(list.size());
        const Index blocks = block_count(n, static_cast<double>(width_));
        std::vector<std::vector<double>> parts(static_cast<std::size_t>(blocks - 1));
        crew.run(static_cast<std::size_t>(blocks), [&](std::size_t t, Watch watch) {
            double* sum = out;
            if (t > 0) {
                parts[t - 1].assign(static_cast<std::size_t>(width_), 0.0);
                sum = parts[t - 1].data();
            }
            const Index end = n * static_cast<Index>(t + 1) / blocks;
            for (Index r = n * static_cast<Index>(t) / blocks; r < end; ++r) {
                // Sums are in the nearest cache: while they are added to, the next row is brought there.
                if (r + 1 < end) reader_.prefetch(list[static_cast<std::size_t>(r + 1)], kLongRow);
                add(r, sum);
                watch.did(static_cast<Index>(2 * per_row_));
            }
        });
        for (const auto& part : parts)
            for (Index k = 0; k < width_; ++k) out[k] += part[static_cast<std::size_t>(k)];
    }

    const RowReader<T> reader_;
    const Index width_;
    double per_row_;
};

}  // namespace sodm
