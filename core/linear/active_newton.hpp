// Newton's method on the rows in play, for linear problems of many features.
//
//   min_w  p(w) = 1/2 |w|^2 + sum_i primal(m_i, s_i),   m_i = y_i <w, x_i> + o_i
//
//   w    weights of a problem, that of the constant feature last     o_i  a given offset, or zero
//   y_i  +1 where the row's class is the problem's, else -1          s_i  weight of the row
//
// A step goes along d = -H^-1 grad p(w), H = I + sum_i h_i x_i x_i', h_i = primal''(m_i, s_i), to where p is
// smallest along d (Keerthi and DeCoste 2005, Algorithm 1). Rows inside the dead zone have h_i = 0: H, its
// products and the gradient are sums over the others, the *rows in play*, which are few. All rows are gone
// over once a step, for y_i <d, x_i>; with these the search along d is exact and reads no rows.
//
// H d = -grad is solved by conjugate gradients, preconditioned by
//   - a factored H (RowFactor) of this step or an earlier one, made anew where that is cheaper than going on;
//     the first, with all rows in play, serves all problems
//   - its diagonal, where a factor would cost more than the products it saves.
//
// Rows may be given in another basis, k_i with x_i = L^-1 k_i for a lower triangle L: kernel values at
// landmarks, L L' = K(z, z), are such rows. <w, x_i> = <L'^-1 w, k_i>, and sums of x_i are L^-1 times those
// of k_i: two triangles are solved for a pass over the rows, and no x_i is ever made. Such a search takes the
// factors of another one.
#pragma once

#include <memory>
#include <vector>

#include "base/loss.hpp"
#include "base/parallel.hpp"
#include "linear/linear_rows.hpp"

namespace sodm {

// The state of several problems side by side; `problems` below are numbers of those to work on.
class ActiveNewton {
  public:
    // Rows must have unit feature stride, or be CSR, and outlive this. w: problems x width, where to begin;
    // offset: problems x n, or null; basis: L, width x width, or null.
    ActiveNewton(const LinearRows& rows, const OdmLoss& loss, const std::vector<std::int32_t>& positive,
                 const double* offset, const double* w, const double* basis = nullptr);
    ~ActiveNewton();

    // The factors of a search with as many features and problems, on rows that resemble these: they
    // precondition until a factor of these rows' own is cheaper. Those in the form of rows are not taken.
    void begin_with_factors_of(const ActiveNewton& other);
    // Factors H at w, after a look, whether that pays here or not: for searches that begin with it.
    void factor(Threads& threads);

    // A better start than w = 0: sweeps of dual coordinate descent from there (Hsieh et al. 2008, Algorithm
    // 1), until one of all rows moves no margin by much, n_sweeps at most. Most sweeps are over the rows that
    // the last sweep found outside the dead zone. Returns the passes over all rows that this was worth.
    double sweep(int n_sweeps, Threads& threads);
    // Whether the first step of these rows would be taken without a factor: then sweeps pay.
    bool sweeps_pay() const;
    // |grad p(0)| of each problem, without the offsets.
    std::vector<double> gradient_at_zero(Threads& threads);
    // Margins, p and its gradient at w, from the rows.
    void look(const std::vector<int>& problems, Threads& threads);
    // One step. `goal`: how much of the gradient each system may leave. Returns the products with all rows
    // that this has cost, problems taken together.
    double step(const std::vector<int>& problems, const double* goal, Threads& threads);

    int n_problems() const;
    Index width() const;
    const double* w(int problem) const;
    double objective(int problem) const;
    double gradient_norm(int problem) const;
    double length(int problem) const;  // of the last step

    struct Impl;

  private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace sodm
