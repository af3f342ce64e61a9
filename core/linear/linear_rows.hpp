// The rows of a linear problem, and what is done with one row at a time.
#pragma once

#include <cstdint>

#include "kernel/rows_view.hpp"
#include "simd/linear_ops.hpp"

namespace sodm {

constexpr Index kRowsAhead = 8;  // rows taken in random order are asked for so many before they are needed

// Rows, the class of each, and weights. The machine's intercept is the weight of one more, constant, feature.
struct LinearRows {
    RowsView view;
    const std::int32_t* label = nullptr;  // class number of each row
    const double* weight = nullptr;       // none: every row counts once
    double bias = 0.0;                    // value of the constant feature; 0: there is none

    Index width() const { return view.features + (bias != 0.0 ? 1 : 0); }
    double row_weight(Index i) const { return weight ? weight[i] : 1.0; }
};

// Reads row i of dense rows with unit feature stride, or of CSR rows, with the constant feature at the end.
template <class T>
class RowReader {
  public:
    explicit RowReader(const LinearRows& rows)
        : view_(rows.view), bias_(rows.bias), d_(rows.view.features), ops_(linear_simd<T>()) {}

    double dot(Index i, const double* w) const {
        double sum;
        if (!view_.sparse)
            sum = ops_.dot(dense(i), w, d_);
        else if (view_.wide)
            sum = sparse_dot<std::int64_t>(i, w);
        else
            sum = sparse_dot<std::int32_t>(i, w);
        return bias_ != 0.0 ? sum + bias_ * w[d_] : sum;
    }

    // Entries of row i that a product goes over.
    Index size(Index i) const { return view_.sparse ? view_.start(i + 1) - view_.start(i) : d_; }

    // out = <x, w0>, <x, w1>, <x, w2>
    void dot3(Index i, const double* w0, const double* w1, const double* w2, double* out) const {
        if (!view_.sparse) {
            ops_.dot3(dense(i), w0, w1, w2, d_, out);
        } else {
            double a = 0, b = 0, c = 0;
            entries(i, [&](Index k, double x) {
                a += x * w0[k];
                b += x * w1[k];
                c += x * w2[k];
            });
            out[0] = a;
            out[1] = b;
            out[2] = c;
        }
        if (bias_ == 0.0) return;
        out[0] += bias_ * w0[d_];
        out[1] += bias_ * w1[d_];
        out[2] += bias_ * w2[d_];
    }

    // y += s x
    void add(double s, Index i, double* y) const {
        if (!view_.sparse)
            ops_.add(s, dense(i), y, d_);
        else
            entries(i, [&](Index k, double x) { y[k] += s * x; });
        if (bias_ != 0.0) y[d_] += s * bias_;
    }

    // y += s x^2
    void add_squares(double s, Index i, double* y) const {
        if (!view_.sparse)
            ops_.add_squares(s, dense(i), y, d_);
        else
            entries(i, [&](Index k, double x) { y[k] += s * x * x; });
        if (bias_ != 0.0) y[d_] += s * bias_ * bias_;
    }

    double squared_norm(Index i) const {
        double sum = bias_ * bias_;
        if (view_.sparse) {
            entries(i, [&](Index, double x) { sum += x * x; });
        } else {
            const T* x = dense(i);
            for (Index k = 0; k < d_; ++k) sum += static_cast<double>(x[k]) * static_cast<double>(x[k]);
        }
        return sum;
    }

    // Calls f(feature, value) for each stored entry of row i, without the constant feature.
    template <class F>
    void entries(Index i, F f) const {
        if (!view_.sparse) {
            const T* x = dense(i);
            for (Index k = 0; k < d_; ++k) f(k, static_cast<double>(x[k]));
        } else if (view_.wide) {
            sparse_entries<std::int64_t>(i, f);
        } else {
            sparse_entries<std::int32_t>(i, f);
        }
    }

    // Asks for row i to be brought near: rows taken in random order are otherwise all waiting. Of a long row
    // its beginning, for the rest is foreseen from there, or all of it while there is other work to do.
    void prefetch(Index i, Index most = 512) const {
        const Index first = view_.sparse ? view_.start(i) : i * view_.row_stride;
        const char* p = static_cast<const char*>(view_.values) + first * static_cast<Index>(sizeof(T));
        const Index bytes = (view_.sparse ? view_.start(i + 1) - first : d_) * static_cast<Index>(sizeof(T));
        for (Index b = 0; b < bytes && b < most; b += 64) __builtin_prefetch(p + b, 0, 2);
        if (!view_.sparse) return;
        const Index size = view_.wide ? 8 : 4;
        const char* q = static_cast<const char*>(view_.indices) + first * size;
        for (Index b = 0; b * static_cast<Index>(sizeof(T)) < bytes * size && b < most; b += 64)
            __builtin_prefetch(q + b);
    }

  private:
    const T* dense(Index i) const { return static_cast<const T*>(view_.values) + i * view_.row_stride; }

    template <class I>
    double sparse_dot(Index i, const double* w) const {
        const T* value = static_cast<const T*>(view_.values);
        const I* index = static_cast<const I*>(view_.indices);
        const I* ptr = static_cast<const I*>(view_.indptr);
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        I e = ptr[i];
        const I end = ptr[i + 1];
        for (; e + 4 <= end; e += 4) {
            s0 += static_cast<double>(value[e]) * w[index[e]];
            s1 += static_cast<double>(value[e + 1]) * w[index[e + 1]];
            s2 += static_cast<double>(value[e + 2]) * w[index[e + 2]];
            s3 += static_cast<double>(value[e + 3]) * w[index[e + 3]];
        }
        for (; e < end; ++e) s0 += static_cast<double>(value[e]) * w[index[e]];
        return (s0 + s1) + (s2 + s3);
    }

    template <class I, class F>
    void sparse_entries(Index i, F& f) const {
        const T* value = static_cast<const T*>(view_.values);
        const I* index = static_cast<const I*>(view_.indices);
        const I* ptr = static_cast<const I*>(view_.indptr);
        for (I e = ptr[i]; e < ptr[i + 1]; ++e)
            f(static_cast<Index>(index[e]), static_cast<double>(value[e]));
    }

    const RowsView view_;
    const double bias_;
    const Index d_;
    const LinearOps<T>& ops_;
};

}  // namespace sodm
