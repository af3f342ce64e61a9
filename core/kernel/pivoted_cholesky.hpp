// Partial pivoted Cholesky of a Gram matrix: K ~ F F', one column of F per pivot.
//
// The rule: keep the residual diagonal, d_i = k(x_i, x_i) - |F_i|^2, and take its largest entry as the next
// pivot. That maximises the determinant of the pivots' Gram matrix one pivot at a time, which is how the
// landmarks of Algorithm 1 are chosen: by Schur's complement the determinant grows by the factor k(z, z) -
// K_{s,s+1}' K_ss^-1 K_{s,s+1}, and this factor *is* the residual of z. No inverse is ever formed.
//
// Or pivots are drawn, each row with a chance in proportion to its residual (Chen, Epperly, Tropp and Webber
// 2023). The largest residuals are those of rows that have nobody near; drawn pivots stand where the rows
// are, and leave a smaller sum of residuals.
//
// O(n rank^2) multiply-adds and n rank kernel values. Residuals only ever shrink, so an old residual is an
// upper bound; that lets pivots be taken in blocks, exactly: see pivoted_cholesky.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

struct PivotOptions {
    Index rank = 0;          // at most so many pivots
    Index first = -1;        // position of the first pivot, if its residual is not zero; -1: the largest
    double tolerance = 0.0;  // stop once no residual is above tolerance x the largest k(x, x)
    std::optional<std::uint64_t> seed = std::nullopt;  // draw pivots; stop once the *mean* residual is there
};

// Residuals below this share of the largest k(x, x) are rounding errors of kernel values in this precision.
template <class T>
constexpr double kResidualNoise = sizeof(T) == 4 ? 1e-5 : 1e-12;

template <class T>
struct PivotedCholesky {
    std::vector<Index> pivots;     // positions in the subset, in the order taken
    std::vector<double> residual;  // of every row; 0 at pivots
    Buffer<T> factor;              // row i of F starts at i * stride and has pivots.size() entries
    Index stride = 0;
};

// Factors the Gram matrix of these rows; the source must give a symmetric kernel. Stops early when the
// residuals are zero to working precision: repeated rows and kernels of finite rank end there.
template <class T>
PivotedCholesky<T> pivoted_cholesky(const KernelSource<T>& source, Subset rows, const PivotOptions& options,
                                    Threads& threads);

}  // namespace sodm
