// One pass over the rows of a linear problem: losses, gradients and curvature for several classes together.
//
// For each problem p with weights w and positive class c, over the rows x_i with y_i = +1 where label_i = c
// and -1 elsewhere, margin m_i = y_i <w, x_i>, row weight s_i, low = 1 - theta, high = 1 + theta:
//
//   loss      sum_i s_i [ (low - m_i)_+^2 + upsilon (m_i - high)_+^2 ]
//   gradient  sum_i s_i k_i (m_i - low or m_i - high) y_i x_i         (half the gradient of the loss)
//   curvature sum_i s_i k_i x_i x_i'                                  (half its Hessian)
//
// with k_i = 1 below the dead zone, upsilon above it, 0 inside: twice OdmLoss::primal, OdmLoss::slope times
// y_i x_i, and its derivative, all for a loss of scale 1. The caller owns the scale lam / (W (1-theta)^2) and
// the term |w|^2 / 2, so that the sums of several chunks of rows can simply be added.
#pragma once

#include <memory>
#include <vector>

#include "base/loss.hpp"
#include "base/parallel.hpp"
#include "linear/linear_rows.hpp"

namespace sodm {

enum class Curvature {
    none,
    gram,  // the d x d matrix; float rows give products in float, summed in double every few thousand rows
    gram_in_double,  // the same with products in double
    diagonal         // its diagonal; the matrix itself only through times()
};

struct PassSums {
    std::vector<double> loss;       // one per problem
    std::vector<double> gradient;   // problems x width
    std::vector<double> curvature;  // problems x width x width (gram), problems x width (diagonal), or empty
};

class LinearPass {
  public:
    // The rows must outlive the pass. It remembers one byte per row and problem: on which side of the dead
    // zone the margin was. So a later pass adds to the Gram matrix only what has changed.
    LinearPass(const LinearRows& rows, int n_problems, Curvature curvature);
    ~LinearPass();

    // w: one row of `width` for each of the problems listed; positive[j] is the positive class of problem
    // problems[j].
    PassSums evaluate(const OdmLoss& loss, const std::vector<int>& problems, const std::int32_t* positive,
                      const double* w, Threads& threads);

    // curvature x v for the listed problems, at the w of their last evaluation. v, result: one row of `width`
    // each.
    std::vector<double> times(const OdmLoss& loss, const std::vector<int>& problems, const double* v,
                              Threads& threads) const;

    struct Impl;

  private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace sodm
