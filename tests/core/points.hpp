// Random points in every form a caller may hand in, and kernel values by the definition.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernel/kernel_function.hpp"
#include "kernel/rows_view.hpp"
#include "simd/ops.hpp"

namespace sodm::test {

enum class Form { rows, columns, single_rows, csr32, csr64, single_csr32 };

inline const char* name(Form form) {
    const char* names[] = {"rows", "columns", "single_rows", "csr32", "csr64", "single_csr32"};
    return names[static_cast<int>(form)];
}

inline const char* name(KernelKind kind) {
    const char* names[] = {"linear", "rbf", "polynomial", "sigmoid", "laplacian"};
    return names[static_cast<int>(kind)];
}

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Values are multiples of 1/64, so that both precisions hold them exactly.
struct Data {
    Index n, features;
    std::vector<double> rows, columns, csr_value;
    std::vector<float> rows_single, csr_single;
    std::vector<std::int32_t> feature32, ptr32;
    std::vector<std::int64_t> feature64, ptr64;

    Data(Index n_, Index features_, double density, unsigned seed, double size = 1.0, double shift = 0.0)
        : n(n_), features(features_), rows(at(n * features)), columns(at(n * features)) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> uniform;
        ptr32.push_back(0);
        ptr64.push_back(0);
        for (Index i = 0; i < n; ++i) {
            for (Index k = 0; k < features; ++k) {
                const bool present = uniform(random) < density;
                const double v = present ? std::floor((uniform(random) * size + shift) * 64) / 64 : 0.0;
                rows[at(i * features + k)] = columns[at(k * n + i)] = v;
                if (v == 0) continue;
                csr_value.push_back(v);
                feature32.push_back(static_cast<std::int32_t>(k));
                feature64.push_back(k);
            }
            ptr32.push_back(static_cast<std::int32_t>(csr_value.size()));
            ptr64.push_back(static_cast<std::int64_t>(csr_value.size()));
        }
        rows_single.assign(rows.begin(), rows.end());
        csr_single.assign(csr_value.begin(), csr_value.end());
    }

    RowsView view(Form form) const {
        RowsView v;
        v.n = n;
        v.features = features;
        v.single = form == Form::single_rows || form == Form::single_csr32;
        v.row_stride = form == Form::columns ? 1 : features;
        v.feature_stride = form == Form::columns ? n : 1;
        v.sparse = form == Form::csr32 || form == Form::csr64 || form == Form::single_csr32;
        v.wide = form == Form::csr64;
        if (v.sparse) {
            v.values = v.single ? static_cast<const void*>(csr_single.data()) : csr_value.data();
            v.indices = v.wide ? static_cast<const void*>(feature64.data()) : feature32.data();
            v.indptr = v.wide ? static_cast<const void*>(ptr64.data()) : ptr32.data();
        } else {
            v.values = v.single ? static_cast<const void*>(rows_single.data())
                                : (form == Form::columns ? columns : rows).data();
        }
        return v;
    }
};

inline double naive_kernel(const KernelFunction& kernel, const Data& a, Index i, const Data& b, Index j) {
    double product = 0, square = 0, absolute = 0;
    for (Index k = 0; k < a.features; ++k) {
        const double x = a.rows[at(i * a.features + k)], z = b.rows[at(j * b.features + k)];
        product += x * z;
        square += (x - z) * (x - z);
        absolute += std::fabs(x - z);
    }
    switch (kernel.kind) {
        case KernelKind::linear:
            return product + kernel.offset;
        case KernelKind::rbf:
            return std::exp(-kernel.gamma * square) + kernel.offset;
        case KernelKind::polynomial:
            return std::pow(kernel.gamma * product + kernel.coef0, kernel.degree) + kernel.offset;
        case KernelKind::sigmoid:
            return std::tanh(kernel.gamma * product + kernel.coef0) + kernel.offset;
        case KernelKind::laplacian:
            return std::exp(-kernel.gamma * absolute) + kernel.offset;
    }
    return 0;
}

// Every kernel, its values of order one for points in the unit cube of this many features.
inline std::vector<KernelFunction> all_kernels(double features) {
    return {{KernelKind::linear, 1, 0, 1, 0.5},
            {KernelKind::rbf, 2 / features, 0, 1, 0},
            {KernelKind::rbf, 2 / features, 0, 1, 1},
            {KernelKind::polynomial, 1 / features, 0.5, 2, 0},
            {KernelKind::polynomial, 1 / features, 1, 5, 1},
            {KernelKind::sigmoid, 2 / features, -0.3, 1, 0},
            {KernelKind::laplacian, 1 / features, 0, 1, 0}};
}

// The instruction sets this machine has.
inline std::vector<std::string> instruction_sets() {
    const std::string best = simd_name();
    std::vector<std::string> sets;
    for (const char* set : {"avx512", "avx2", "baseline"})
        if (simd_select(set)) sets.push_back(set);
    simd_select(best.c_str());
    return sets;
}

template <class T>
constexpr double tolerance() {
    return sizeof(T) == 4 ? 2e-5 : 1e-13;
}

}  // namespace sodm::test
