// How far computed kernel values, and sums over them, can be from the true ones.
#pragma once

#include <vector>

#include "kernel/point_set.hpp"

namespace sodm {

// With u the unit roundoff (2^-24 in single, 2^-53 in double precision), for each pair of points of a set
//
//   |computed k(x_i, x_j) - k(x_i, x_j)|  <=  u [ pair p_i p_j + point (q_i + q_j) + one ],
//
// where the errors of a weighted sum of such values, made tile by tile, are in the factors as well.
//
// The first-order analysis of each formula, with the errors of a sum of n terms taken to add up like a random
// walk, four standard deviations of it (Higham and Mary 2019), and not as if they all had the same sign.
struct Rounding {
    std::vector<double> p, q;
    double pair = 0, point = 0, one = 0;
};

template <class T>
Rounding rounding(const PointSet<T>& points, const KernelFunction& kernel);

}  // namespace sodm
