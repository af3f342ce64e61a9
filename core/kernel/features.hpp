// The features that landmarks make of points: k(x, y) ~ <F(x), F(y)> (Nystrom).
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

// L^-1 of a lower triangular matrix, n x n; above the diagonal L is not looked at, and the inverse is zero.
std::vector<double> inverse_of_lower(const double* l, Index n, Threads& threads);

// F(x) = L^-1 k(z, x) for all columns x of a source whose rows are the landmarks z, K(z, z) = L L'. `inverse`
// is L^-1, out is columns x rows.
template <class T>
void landmark_features(const KernelSource<T>& source, const double* inverse, T* out, Threads& threads);

// The k(z, x) themselves, columns x rows.
template <class T>
void landmark_values(const KernelSource<T>& source, T* out, Threads& threads);

}  // namespace sodm
