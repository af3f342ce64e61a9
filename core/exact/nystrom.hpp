// A Nystrom factor of the Gram matrix, and the preconditioner it gives for (K + D) x = t.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

// K ~ F'F with F = L^-1 K_Z, L L' = K_ZZ, for landmarks Z drawn by randomly pivoted Cholesky: each new
// landmark is a row drawn with probability proportional to its residual, what the landmarks so far do not
// explain of k(x, x). F is kept in tiles of kTile points: tile t is rank x kTile.
template <class T>
class NystromFactor {
  public:
    NystromFactor(const KernelSource<T>& source, Threads& threads) : source_(source), threads_(threads) {}

    // Draws at most `rank` landmarks among `rows` (searching in at most `pool` of them) and factors K on
    // them. `wide`: F is computed in double, and rounded when it is there. Its sums cancel to a thousandth of
    // what is summed, and beside a small ridge what rounding adds to F'F, row by row, is no small matter.
    void choose(const std::vector<Index>& rows, Index rank, Index pool, std::uint64_t seed, bool wide);
    // Computes F at these rows, which replace the rows before; `keep` of them, at the front, are there
    // already.
    void set_rows(const std::vector<Index>& rows, Index keep);

    Index rank() const { return rank_; }
    Index size() const { return n_; }
    bool wide() const { return wide_; }
    Index tiles() const { return (n_ + kTile - 1) / kTile; }
    const T* tile(Index t) const { return factor_.data() + t * rank_ * kTile; }
    const std::vector<Index>& landmarks() const { return landmarks_; }

  private:
    template <class A>
    void compute(const std::vector<Index>& rows, Index first, const Buffer<A>& inverse);

    const KernelSource<T>& source_;
    Threads& threads_;
    std::vector<Index> landmarks_;
    Buffer<T> inverse_;  // L^-1, rank x rank; or
    Buffer<double> wide_inverse_;
    Buffer<T> factor_;
    Index rank_ = 0, n_ = 0;
    bool wide_ = false;
};

// What the factor leaves over of the Gram matrix among the points of one tile: K_BB - F_B'F_B, kTile x kTile.
template <class T>
using TileResiduals = std::vector<Buffer<T>>;

// (D + R + F'F)^-1 restricted to the rows with finite D, R block diagonal: nothing, or the residuals of the
// tiles (rows that are neighbours should share one). With blocks D + R = U'U, V = U^-1 and G = F V, by
// Woodbury:  V (I - G' (I + G G')^-1 G) V'. Rows outside the active set have 1/D = 0, and zeros in V.
template <class T>
class NystromPreconditioner {
  public:
    NystromPreconditioner(const NystromFactor<T>& factor, const TileResiduals<T>& residuals, Threads& threads)
        : factor_(factor), residuals_(residuals), threads_(threads) {}

    // inverse_d[i] = 1 / D_i, or 0 for rows that are not part of the system. Near the solution few rows come
    // and go from step to step: then I + G G' is not made anew, but what those rows change is added to it.
    // Rows may have been added to the factor since the last call.
    void set(const double* inverse_d);
    // out = P^-1 r
    void apply(const double* r, double* out);

  private:
    bool blocks() const { return !residuals_.empty(); }
    void invert_blocks();
    bool update(const std::vector<double>& inverse_d);
    template <class A>
    void add_products(const T* tiles, Index count, const double* scales);
    void add_products(const T* tiles, Index count, const double* scales);
    template <class A>
    void apply_as(const double* r, double* out);
    bool factor_sum(double jitter);
    const T* g_tile(Index t) const {  // of G, or of F where D is diagonal
        return blocks() ? scaled_.data() + t * factor_.rank() * kTile : factor_.tile(t);
    }

    const NystromFactor<T>& factor_;
    const TileResiduals<T>& residuals_;
    Threads& threads_;
    std::vector<double> inverse_d_;
    std::vector<double> sum_, small_;  // G G' and the Cholesky factor of I + G G', lower triangles
    Buffer<T> inverse_u_, scaled_;     // tiles of V and of G
};

}  // namespace sodm
