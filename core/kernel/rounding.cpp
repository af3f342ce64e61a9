#include "kernel/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernel/kernel_source.hpp"

namespace sodm {

namespace {

// The error of a sum of n terms in units of u times the sum of their sizes.
double growth(double n) { return std::min(n, 8 + 4 * std::sqrt(n)); }

constexpr double kConversion = 3;   // features and coefficients rounded to the working precision, a final sum
constexpr double kExponential = 6;  // the exponential itself

// Of the points as they are laid out: the largest number of terms in a pair sum, and the norms.
template <class T>
struct Sizes {
    double longest = 0;
    std::vector<double> square, absolute;  // |x|^2; |x|_1 where the kernel goes by it

    Sizes(const PointSet<T>& points, bool with_absolute) {
        for (Index i = 0; i < points.n; ++i) {
            square.push_back(points.square(i));
            const auto r = static_cast<std::size_t>(i);
            const bool sparse = points.layout.sparse;
            const Index count = sparse ? points.ptr[r + 1] - points.ptr[r] : points.features;
            longest = std::max(longest, static_cast<double>(count));
            if (!with_absolute) continue;
            const T* from =
                sparse ? points.value.data() + points.ptr[r] : points.dense.data() + i * points.features;
            double sum = 0;
            for (Index k = 0; k < count; ++k) sum += std::fabs(static_cast<double>(from[k]));
            absolute.push_back(sum);
        }
    }
};

}  // namespace

template <class T>
Rounding rounding(const PointSet<T>& points, const KernelFunction& kernel) {
    const Sizes<T> sizes(points, kernel.kind == KernelKind::laplacian);
    const std::size_t n = sizes.square.size();
    const double terms = growth(sizes.longest) + kConversion;
    const double sums = growth(kTile) + kConversion;  // of the values of a tile, in the working precision
    const double log2 = std::log(2.0);
    Rounding r;
    r.p.assign(n, 0.0);
    r.q.assign(n, 0.0);
    r.one = sums * kernel.offset;
    switch (kernel.kind) {
        case KernelKind::linear:
            for (std::size_t i = 0; i < n; ++i) r.p[i] = std::sqrt(sizes.square[i]);
            r.pair = terms + sums;
            break;
        case KernelKind::polynomial:
            // With t = gamma <x, z> + coef0 and |t| <= sqrt(t_ii t_jj), t_ii = gamma |x_i|^2 + |coef0|: the
            // power multiplies the relative error of t by the degree.
            for (std::size_t i = 0; i < n; ++i)
                r.p[i] =
                    std::pow(kernel.gamma * sizes.square[i] + std::fabs(kernel.coef0), 0.5 * kernel.degree);
            r.pair = kernel.degree * (terms + kConversion) + sums;
            break;
        case KernelKind::sigmoid:  // the slope of tanh is at most 1
            for (std::size_t i = 0; i < n; ++i) r.p[i] = std::sqrt(sizes.square[i]);
            r.pair = kernel.gamma * terms;
            r.one += std::fabs(kernel.coef0) + kExponential + sums;
            break;
        case KernelKind::rbf:
            if (points.bytes.whole) {
                // e = -D^2 / 2 of distances that are exact: features were rounded to multiples of the step,
                // by up to 3 u of them, and D 2^-(D^2/2) <= 0.74.
                for (std::size_t i = 0; i < n; ++i)
                    r.q[i] = std::sqrt(2 * kernel.gamma / log2 * sizes.square[i]);
                r.point = 3 * 0.74 * log2;
                r.one += 0.54 * log2 * kConversion + kExponential + sums;
            } else if (points.layout.pairing == Pairing::product) {
                // 2^e with e = <x, z> - |x|^2/2 - |z|^2/2 of the scaled points: the error of e is at most
                // u terms (|x| + |z|)^2 / 2 <= u terms (|x|^2 + |z|^2), and 2^e <= 1.
                r.q = sizes.square;
                r.point = log2 * terms;
                r.one += kExponential + sums;
            } else {
                // e = -D^2 / 2: the sum has a relative error, and the features that were rounded one of
                // u D (|x| + |z|). D^2/2 2^-(D^2/2) <= 0.54 and D 2^-(D^2/2) <= 0.74.
                for (std::size_t i = 0; i < n; ++i) r.q[i] = std::sqrt(sizes.square[i]);
                r.point = 0.74 * log2;
                r.one += 0.54 * log2 * terms + kExponential + sums;
            }
            break;
        case KernelKind::laplacian:
            // e^-t, t = gamma |x - z|_1 <= gamma (|x|_1 + |z|_1): features are rounded in single precision
            // only; of sparse rows the sum is made of corrections to |z|_1, as large as it.
            for (std::size_t i = 0; i < n; ++i) r.q[i] = kernel.gamma * sizes.absolute[i];
            r.point = (std::is_same_v<T, float> ? 1.0 : 0.0) + (points.layout.sparse ? terms : 0.0);
            r.one += terms / 2 + kExponential + sums;
            break;
    }
    return r;
}

template Rounding rounding(const PointSet<float>&, const KernelFunction&);
template Rounding rounding(const PointSet<double>&, const KernelFunction&);

}  // namespace sodm
