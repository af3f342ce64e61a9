#include "kernel/byte_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/parts.hpp"
#include "kernel/rows_view.hpp"

namespace sodm {

namespace {

constexpr int kLevels = 255;
// A value that was rounded to single precision, and a step that was made from one: two roundings, and some.
constexpr double kSlack = 3.0 / (1 << 24);

// Adding and taking away this number rounds to a whole one, without a call for each value.
constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52

// The multiple of the step that a value is, and whether it is one.
struct Level {
    double level;
    bool fits;

    Level(double value, double step, double per_step) : level((value * per_step + kRound) - kRound) {
        fits = (level >= 0) & (level <= kLevels) &
               (std::fabs(value - level * step) <= kSlack * std::fabs(value));
    }
};

// A dense row as bytes; false if it does not fit.
template <class T>
bool dense_row(const T* values, Index features, Index apart, double step, std::uint8_t* row) {
    const double per_step = 1 / step;
    int misfits = 0;
    for (Index k = 0; k < features; ++k) {
        const Level at(static_cast<double>(values[k * apart]), step, per_step);
        misfits += !at.fits;
        row[k] = static_cast<std::uint8_t>(at.fits ? static_cast<int>(at.level) : 0);
    }
    return misfits == 0;
}

bool sparse_row(const RowsView& view, Index i, double step, std::uint8_t* row) {
    const double per_step = 1 / step;
    bool fits = true;
    for (Index e = view.start(i); e < view.start(i + 1); ++e) {
        const Level at(view.value(e), step, per_step);
        if (at.fits) row[view.index(e)] = static_cast<std::uint8_t>(at.level);
        fits = fits && at.fits;
    }
    return fits;
}

bool byte_row(const RowsView& view, Index i, double step, std::uint8_t* row) {
    if (view.sparse) return sparse_row(view, i, step, row);
    auto from = [&](auto* values) {
        return dense_row(values + i * view.row_stride, view.features, view.feature_stride, step, row);
    };
    return view.single ? from(static_cast<const float*>(view.values))
                       : from(static_cast<const double*>(view.values));
}

// f(value) for the values of a row, zeros of sparse ones left out, as long as it returns true.
template <class F>
bool each_value(const RowsView& view, Index i, F f) {
    const Index end = view.sparse ? view.start(i + 1) : view.features;
    for (Index e = view.sparse ? view.start(i) : 0; e < end; ++e)
        if (!f(view.value(view.sparse ? e : i * view.row_stride + e * view.feature_stride))) return false;
    return true;
}

}  // namespace

namespace {

// A step that all values of every `jump`-th row are multiples of, 0 if there is none.
double step_of_rows(const RowsView& view, Index jump) {
    std::vector<double> levels;  // the values seen, in order, without zero
    for (Index i = 0; i < view.n; i += jump) {
        const bool few = each_value(view, i, [&](double v) {
            if (v == 0) return true;
            if (!(v > 0)) return false;
            const auto place = std::lower_bound(levels.begin(), levels.end(), v);
            if (place == levels.end() || *place != v) levels.insert(place, v);
            return levels.size() <= kLevels;
        });
        if (!few) return 0;
    }
    if (levels.empty() || !std::isfinite(levels.back())) return 0;
    for (int top = static_cast<int>(levels.size()); top <= kLevels; ++top) {
        const double step = levels.back() / top, per_step = top / levels.back();
        if (std::all_of(levels.begin(), levels.end(),
                        [&](double v) { return Level(v, step, per_step).fits; }))
            return step;
    }
    return 0;
}

}  // namespace

double find_step(const RowsView& view) {
    // A few rows tell of most sets that they have none.
    constexpr Index kFew = 8, kSample = 256;
    const Index jump = std::max<Index>(1, view.n / kSample);
    if (view.n < 2 * kFew) return step_of_rows(view, jump);
    const double step = step_of_rows(view, view.n / kFew);
    if (step == 0) return 0;
    std::vector<std::uint8_t> row(static_cast<std::size_t>(view.features));
    for (Index i = 0; i < view.n; i += jump)
        if (!byte_row(view, i, step, row.data())) return step_of_rows(view, jump);
    return step;
}

ByteRows::ByteRows(const RowsView& view, double step, Threads* threads)
    : stride((view.features + 3) / 4 * 4) {
    constexpr Index kRows = 256;  // of a task
    const auto n = static_cast<std::size_t>(view.n);
    value.resize(n * static_cast<std::size_t>(stride));
    sum.assign(n, 0);
    square.assign(n, 0);
    fits.assign(n, 1);
    in_parts(threads, view.n, kRows, [&](Index first, Index last) {
        for (Index i = first; i < last; ++i) {
            const auto r = static_cast<std::size_t>(i);
            std::uint8_t* row = value.data() + i * stride;
            std::fill(row, row + stride, std::uint8_t(0));
            if (!byte_row(view, i, step, row)) {
                std::fill(row, row + stride, std::uint8_t(0));
                fits[r] = 0;
                continue;
            }
            std::int32_t total = 0, squares = 0;
            for (Index k = 0; k < view.features; ++k) {
                total += row[k];
                squares += row[k] * row[k];
            }
            sum[r] = total;
            square[r] = squares;
        }
    });
    whole = std::all_of(fits.begin(), fits.end(), [](std::uint8_t fit) { return fit != 0; });
}

}  // namespace sodm
