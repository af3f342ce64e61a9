// The factored system of the active rows: a preconditioner for (K + D) x = t where the spectrum is flat and
// the ridge small, so that a Nystrom factor leaves hundreds of conjugate gradient steps.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "kernel/gram.hpp"

namespace sodm {

// L L' = K_AA + D_A in the precision of the kernel values, which is all a preconditioner needs. From step to
// step few rows come and go. Rows that come are rows appended to L. For rows R that leave, with V = L^-1 E_R,
// the inverse without them is
//
//   L^-T (I - V (V'V)^-1 V') L^-1.
//
// Rows that change sides keep the D they had when they came: it is of the same size.
template <class T>
class ActiveFactor {
  public:
    explicit ActiveFactor(Threads& threads) : threads_(threads) {}

    // Rows with d > 0 are the active ones. False if rounding has made the system indefinite, also with a
    // ridge some times as large.
    bool factor(const GramMatrix<T>& gram, const double* d);
    // The same from the factor that is there. False if too many rows have come and gone since it was made, or
    // if rounding does not allow it: there is no factor then.
    bool update(const GramMatrix<T>& gram, const double* d);
    // Whether so few rows have come and gone that it can be updated.
    bool suits(const GramMatrix<T>& gram, const double* d) const { return changes(gram, d).few; }
    bool empty() const { return rows_.empty(); }
    // out = P^-1 r, n values each, zeros outside of A.
    void apply(const double* r, Index n, double* out) const;

  private:
    struct Changes {
        std::vector<Index> left, came;  // as rows of L, as positions in the Gram matrix
        bool few;
    };
    Changes changes(const GramMatrix<T>& gram, const double* d) const;
    Index size() const { return static_cast<Index>(rows_.size()); }
    bool factor_with(const GramMatrix<T>& gram, const double* d, double times);
    bool append(const GramMatrix<T>& gram, const double* d, const std::vector<Index>& rows);
    bool leave_out(std::vector<Index> places);
    Buffer<T> solve_columns(Index count, Buffer<T> panels) const;
    bool give_up() {
        rows_.clear();
        return false;
    }

    Threads& threads_;
    std::vector<Index> rows_;  // of L, as positions in the Gram matrix
    Index made_with_ = 0;      // rows of L when it was factored
    Index solved_ = 0;         // columns that updates have solved since
    Index stride_ = 0;         // of L: rows_.size() and room for rows that come
    Buffer<T> l_;
    std::vector<Index> left_;      // R, as rows of L
    Buffer<T> v_;                  // in panels: kPanel columns of L's height one after another
    std::vector<double> of_left_;  // the factor of V'V
};

}  // namespace sodm
