// Exact Shapley values of a sum of products: f(x) = sum_i a_i prod_j k_j(x_j, z_ij).
//
// Game of a row x: the features in S are those of x, the factor of every other feature is `removed`,
//
//     v(S) = sum_i a_i prod_{j in S} k_ij prod_{j not in S} r_ij,     k_ij = k_j(x_j, z_ij).
//
// A feature joins a random set: each of the others is in it with probability t, t uniform in [0, 1], gives
// Shapley's weights (Owen 1972), and the expectation of a product of independent factors is the product of
// theirs:
//
//     phi_j = sum_i a_i (k_ij - r_ij) int_0^1 prod_{l != j} ((1-t) r_il + t k_il) dt.
//
// The integrand is a polynomial in t of degree d - 1 that is positive in [0, 1]: a Gauss-Legendre rule takes
// the integral without cancellation. The caller chooses nodes and weights, on [0, 1].
#pragma once

#include "base/memory.hpp"
#include "base/parallel.hpp"

namespace sodm {

struct ProductSum {
    Index n_support = 0;
    Index features = 0;
    Index n_outputs = 0;                   // several sums over the same products
    const double* support = nullptr;       // features x n_support: z, transposed
    const double* removed = nullptr;       // features x n_support: r, transposed
    const double* coefficients = nullptr;  // n_outputs x n_support: a
    double gamma = 1;
    bool absolute = false;  // k_j = exp(-gamma |x_j - z_j|) rather than exp(-gamma (x_j - z_j)^2)
};

struct Quadrature {
    int n = 0;
    const double* nodes = nullptr;
    const double* weights = nullptr;
};

// out: n_rows x features x n_outputs; rows: n_rows x features.
void shapley_values(const ProductSum& sum, const Quadrature& rule, const double* rows, Index n_rows,
                    double* out, Threads& threads);

}  // namespace sodm
