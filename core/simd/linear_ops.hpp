// The inner loops of the linear machine, one table per instruction set (chosen together with SimdOps).
//
// Rows arrive in *panels*: a few dozen rows turned so that panel[k * ld + lane] is feature k of row `lane`.
// Then everything runs along the lanes and nothing needs a horizontal sum inside the loop. Rows are float or
// double; decisions, losses and gradients are double in either case, the curvature is T.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sodm {

constexpr int kLaneGroup = 16;  // a panel has a multiple of this many lanes
constexpr int kSlots = 8;       // partial sums kept apart for each entry of a gradient
constexpr int kGramBlock = 4;   // the Gram matrix of a panel is summed in blocks of 4 x 4 entries

template <class T>
constexpr int kGramSlots = 64 / static_cast<int>(sizeof(T));  // partial sums kept apart for each entry of it

// The constants of the loss (OdmLoss of base/loss.hpp, without its scale):
// (low - m)_+^2 + upsilon (m - high)_+^2, low = 1 - theta, high = 1 + theta.
struct MarginLoss {
    double low = 1.0, high = 1.0, upsilon = 1.0;
};

// Where a margin lies; kept for each row so that the next pass knows what has changed.
enum MarginState : std::int8_t { kInside = 0, kBelow = 1, kAbove = 2 };

template <class T>
struct LinearOps {
    // panel[k * ld + r] = rows[r * row_stride + k] for r < n, k < features
    void (*turn)(const T* rows, std::ptrdiff_t row_stride, int n, int features, T* panel, std::ptrdiff_t ld);

    // out[r] = sum_k w[k] panel[k * ld + r]. Meanwhile memory from `ahead` on, about half a panel, is asked
    // for.
    void (*decide)(const T* panel, std::ptrdiff_t ld, int features, int lanes, const double* w, double* out,
                   const char* ahead);

    // For the n rows of a tile (lanes beyond them count as rows of no weight), y = +1 where label = positive
    // and -1 elsewhere, m = y * decision, weight 1 where there is none: returns sum weight * loss(m); sets
    // slope = weight * loss'(m) / 2 * y, the new state, and change = weight * (curvature of the new state -
    // curvature of the old one); and counts the rows whose state has changed.
    double (*sum_losses)(const MarginLoss& loss, int n, int lanes, const double* decision,
                         const std::int32_t* label, std::int32_t positive, const double* weight,
                         std::int8_t* state, double* slope, T* change, int* n_changed);

    // sums[k * kSlots + s] += partial sums over lanes of slope[r] panel[k * ld + r]; `ahead` as above
    void (*add_gradient)(const T* panel, std::ptrdiff_t ld, int features, int lanes, const double* slope,
                         double* sums, const char* ahead);

    // Partial sums over lanes of h[r] panel[j][r] panel[k][r], blocks of the upper triangle in order;
    // features is a multiple of kGramBlock. Entry (a, c) of block b has its slots at sums + (b * 16 + a * 4 +
    // c) * kGramSlots. scaled is room for another panel.
    void (*add_gram)(const T* panel, const T* h, std::ptrdiff_t ld, int features, int lanes, T* scaled,
                     T* sums);

    // sum_k x[k] w[k]
    double (*dot)(const T* x, const double* w, std::ptrdiff_t n);
    // out[j] = sum_k x[k] w_j[k] for three vectors at once
    void (*dot3)(const T* x, const double* w0, const double* w1, const double* w2, std::ptrdiff_t n,
                 double* out);
    // y[k] += s x[k]
    void (*add)(double s, const T* x, double* y, std::ptrdiff_t n);
    // y[k] += s x[k]^2
    void (*add_squares)(double s, const T* x, double* y, std::ptrdiff_t n);
    // Whether no x is infinite or not a number.
    bool (*finite)(const T* x, std::ptrdiff_t n);
};

template <class T>
const LinearOps<T>& linear_simd();
template <>
const LinearOps<float>& linear_simd<float>();
template <>
const LinearOps<double>& linear_simd<double>();

}  // namespace sodm
