// Where kernel values come from, as Python hands it in: points, a stored matrix, or a function.
#pragma once

#include <variant>

#include "points.hpp"

namespace sodm::bindings {

// A stored Gram matrix, or what some of its rows have among themselves; Python keeps the array alive.
struct MatrixSource {
    nb::object owner;
    RowsView view;
    double offset;
    bool twice;
    std::vector<Index> rows;  // empty for all
    bool definite;            // known to be positive semidefinite

    Subset among() const { return {rows.empty() ? nullptr : rows.data(), static_cast<Index>(rows.size())}; }
    Index n() const { return rows.empty() ? view.n : static_cast<Index>(rows.size()); }
};

// fn(rows, columns) -> array of kernel values
struct FunctionSource {
    nb::callable function;
    std::vector<double> diagonal;
    double offset;
    bool twice;
};

using AnySource = std::variant<const Points*, const MatrixSource*, const FunctionSource*>;

// Any of them as an argument; told apart, and named in signatures, by the caster below.
struct SourceArgument {
    AnySource any;
};

template <class T>
typename FunctionKernel<T>::Function python_kernel(const FunctionSource& source) {
    return [&source](const Index* rows, int n_rows, const Index* columns, int n_columns, T* out) {
        nb::gil_scoped_acquire gil;
        auto list = [](const Index* values, int n) {
            std::vector<Index> copy(values, values + n);
            return to_numpy(std::move(copy), {static_cast<std::size_t>(n)});
        };
        using Block = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
        nb::object result = source.function(list(rows, n_rows), list(columns, n_columns));
        Block block = nb::cast<Block>(result);
        if (static_cast<int>(block.shape(0)) != n_rows || static_cast<int>(block.shape(1)) != n_columns)
            throw std::invalid_argument(
                "the kernel function must return one row per row of its first argument and one "
                "column per row of its second");
        for (int r = 0; r < n_rows; ++r)
            for (int c = 0; c < n_columns; ++c) out[r * kTile + c] = static_cast<T>(block(r, c));
    };
}

// Calls f with the KernelSource<T> behind a Python source, and whether its matrix may be indefinite.
template <class F>
auto with_source(const AnySource& any, F f) {
    if (auto* points = std::get_if<const Points*>(&any)) {
        const Points& p = **points;
        if (p.twice()) {
            PointKernel<double> source(p.kernel, *std::get<1>(p.set), *std::get<1>(p.set));
            return f(source, !p.kernel.positive_definite());
        }
        PointKernel<float> source(p.kernel, *std::get<0>(p.set), *std::get<0>(p.set));
        return f(source, !p.kernel.positive_definite());
    }
    if (auto* matrix = std::get_if<const MatrixSource*>(&any)) {
        const MatrixSource& m = **matrix;
        if (m.twice) return f(MatrixKernel<double>(m.view, m.offset, m.among()), !m.definite);
        return f(MatrixKernel<float>(m.view, m.offset, m.among()), !m.definite);
    }
    const FunctionSource& function = **std::get_if<const FunctionSource*>(&any);
    const auto n = static_cast<Index>(function.diagonal.size());
    if (function.twice)
        return f(
            FunctionKernel<double>(n, n, function.diagonal, function.offset, python_kernel<double>(function)),
            true);
    return f(FunctionKernel<float>(n, n, function.diagonal, function.offset, python_kernel<float>(function)),
             true);
}

inline Index size_of(const AnySource& any) {
    if (auto* points = std::get_if<const Points*>(&any)) return (*points)->n();
    if (auto* matrix = std::get_if<const MatrixSource*>(&any)) return (*matrix)->n();
    return static_cast<Index>((*std::get_if<const FunctionSource*>(&any))->diagonal.size());
}

}  // namespace sodm::bindings

namespace nanobind::detail {

template <>
struct type_caster<sodm::bindings::SourceArgument> {
    NB_TYPE_CASTER(sodm::bindings::SourceArgument, const_name("Points | MatrixSource | FunctionSource"))

    bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
        using namespace sodm::bindings;
        if (isinstance<Points>(source))
            value.any = inst_ptr<Points>(source);
        else if (isinstance<MatrixSource>(source))
            value.any = inst_ptr<MatrixSource>(source);
        else if (isinstance<FunctionSource>(source))
            value.any = inst_ptr<FunctionSource>(source);
        else
            return false;
        return true;
    }
};

}  // namespace nanobind::detail
