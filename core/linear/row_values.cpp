#include "linear/row_values.hpp"

#include <algorithm>

#include "linear/tile_rows.hpp"
#include "linear/watch.hpp"

namespace sodm {

namespace {

constexpr Index kMaxTasks = 64;

// f(reader, row, i) for every row i, which is the row-th of the reader, in tasks; it takes so many products.
template <class T, class F>
void for_rows(const LinearRows& rows, Index products, Threads& threads, F f) {
    const Index n = rows.view.n, n_tiles = (n + kTileRows - 1) / kTileRows;
    const Index n_tasks = std::max<Index>(1, std::min<Index>(kMaxTasks, n_tiles / 16));
    threads.run(static_cast<std::size_t>(n_tasks), [&](std::size_t t, int worker) {
        const Index from = n_tiles * static_cast<Index>(t) / n_tasks * kTileRows;
        const Index to = std::min(n, n_tiles * static_cast<Index>(t + 1) / n_tasks * kTileRows);
        TileRows<T> tile(rows);
        Watch watch(threads, worker);
        for (Index first = from; first < to; first += kTileRows) {
            const int count = static_cast<int>(std::min<Index>(kTileRows, to - first));
            const RowReader<T> reader = tile.load(first, count);
            for (Index i = first; i < first + count; ++i) {
                f(reader, i - tile.offset(), i);
                watch.did(products * reader.size(i - tile.offset()));
            }
        }
    });
}

template <class T>
bool all_finite(const RowsView& view, Threads& threads) {
    const T* values = static_cast<const T*>(view.values);
    // As one long line where there are no gaps, else line by line along whichever stride is one.
    const bool by_row = view.sparse || view.feature_stride == 1 || view.row_stride != 1;
    Index lines = by_row ? view.n : view.features, length = by_row ? view.features : view.n,
          line_stride = by_row ? view.row_stride : view.feature_stride;
    const Index step = view.sparse ? 1 : by_row ? view.feature_stride : view.row_stride;
    if (view.sparse) {
        lines = 1;
        length = view.start(view.n);
    } else if (step == 1 && line_stride == length) {
        length *= lines;
        lines = 1;
    }
    const Index piece = Index(1) << 16;  // values of a task
    const Index pieces = std::max<Index>(1, (length + piece - 1) / piece);
    const Index group = std::max<Index>(1, piece / std::max<Index>(1, length));  // short lines go together
    const Index n_tasks = (lines + group - 1) / group * pieces;
    std::vector<char> ok(static_cast<std::size_t>(n_tasks), 1);
    threads.run(static_cast<std::size_t>(n_tasks), [&](std::size_t t, int) {
        const Index first = static_cast<Index>(t) / pieces * group,
                    begin = static_cast<Index>(t) % pieces * piece;
        const Index end = std::min(length, begin + piece);
        bool fine = true;
        for (Index line = first; line < std::min(lines, first + group); ++line) {
            const T* x = values + line * line_stride;
            if (step == 1) {
                fine = fine && linear_simd<T>().finite(x + begin, end - begin);
            } else {
                for (Index k = begin; k < end; ++k) fine = fine && x[k * step] - x[k * step] == T(0);
            }
        }
        ok[t] = fine;
    });
    return std::all_of(ok.begin(), ok.end(), [](char c) { return c != 0; });
}

}  // namespace

void linear_decisions(const LinearRows& rows, int n_problems, const double* w, double* decisions,
                      Threads& threads) {
    const Index n = rows.view.n, width = rows.width();
    auto run = [&](auto zero) {
        for_rows<decltype(zero)>(rows, n_problems, threads, [&](const auto& reader, Index row, Index i) {
            for (int j = 0; j < n_problems; ++j) decisions[j * n + i] = reader.dot(row, w + j * width);
        });
    };
    rows.view.single ? run(0.0f) : run(0.0);
}

bool linear_finite(const RowsView& view, Threads& threads) {
    return view.single ? all_finite<float>(view, threads) : all_finite<double>(view, threads);
}

std::vector<double> linear_squared_norms(const LinearRows& rows, Threads& threads) {
    std::vector<double> norms(static_cast<std::size_t>(rows.view.n));
    auto run = [&](auto zero) {
        for_rows<decltype(zero)>(rows, 1, threads, [&](const auto& reader, Index row, Index i) {
            norms[static_cast<std::size_t>(i)] = reader.squared_norm(row);
        });
    };
    rows.view.single ? run(0.0f) : run(0.0);
    return norms;
}

}  // namespace sodm
