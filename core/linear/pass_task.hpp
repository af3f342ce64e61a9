// What the tasks of a pass share, and what each of them sums up.
#pragma once

#include <vector>

#include "linear/linear_rows.hpp"

namespace sodm {

// What an evaluation is asked for.
struct PassJob {
    const MarginLoss& loss;
    const std::vector<int>& problems;
    const std::int32_t* positive;  // the positive class of each of the problems
    const double* w;               // their weights, one row of `width` each
};

// What stays from one evaluation to the next: the rows, what is wanted, and the side of every margin.
struct PassRows {
    const LinearRows& rows;
    const Index width;
    const bool gram, diagonal;
    std::vector<std::int8_t> states;  // problems x rows

    PassRows(const LinearRows& rows_, int n_problems, bool gram_, bool diagonal_)
        : rows(rows_),
          width(rows_.width()),
          gram(gram_),
          diagonal(diagonal_),
          states(static_cast<std::size_t>(n_problems) * static_cast<std::size_t>(rows_.view.n), kInside) {}

    const std::int8_t* state_of(int problem) const { return states.data() + problem * rows.view.n; }
    std::int8_t* state_of(int problem) { return states.data() + problem * rows.view.n; }
};

// What one task sums, for each problem of the job.
struct PassPart {
    std::vector<double> loss, gradient, curvature;
};

// Room for the margins of a panel or tile.
template <class H, int kRows>
struct MarginRoom {
    alignas(64) double decision[kRows], slope[kRows];
    alignas(64) H change[kRows];

    // From the decisions of rows first.. to the losses, slopes and changes of curvature of problem j. Returns
    // how many rows have changed sides.
    int sum_losses(PassRows& all, const PassJob& job, std::size_t j, Index first, int n, int lanes,
                   PassPart& part) {
        int changed = 0;
        part.loss[j] +=
            linear_simd<H>().sum_losses(job.loss, n, lanes, decision, all.rows.label + first, job.positive[j],
                                        all.rows.weight ? all.rows.weight + first : nullptr,
                                        all.state_of(job.problems[j]) + first, slope, change, &changed);
        return changed;
    }
};

// The k_i of linear_pass.hpp.
inline double curvature_of(const MarginLoss& loss, std::int8_t state) {
    return state == kBelow ? 1.0 : state == kAbove ? loss.upsilon : 0.0;
}

}  // namespace sodm
