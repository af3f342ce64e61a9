// Where kernel values come from, as Python hands it in: points, a stored matrix, or a function.
#pragma once

#include <variant>

#include "kernel/function_kernel.hpp"
#include "kernel/matrix_kernel.hpp"
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

inline bool is_double(const AnySource& any) {
    if (auto* points = std::get_if<const Points*>(&any)) return (*points)->twice();
    if (auto* matrix = std::get_if<const MatrixSource*>(&any)) return (*matrix)->twice;
    return std::get<const FunctionSource*>(any)->twice;
}

// The kernel values behind a Python source of this precision.
template <class T>
std::unique_ptr<KernelSource<T>> make_source(const AnySource& any) {
    if (auto* points = std::get_if<const Points*>(&any)) {
        const PointSet<T>& set = *std::get<std::shared_ptr<PointSet<T>>>((*points)->set);
        return std::make_unique<PointKernel<T>>((*points)->kernel, set, set);
    }
    if (auto* matrix = std::get_if<const MatrixSource*>(&any))
        return std::make_unique<MatrixKernel<T>>((*matrix)->view, (*matrix)->offset, (*matrix)->among());
    const FunctionSource& function = *std::get<const FunctionSource*>(any);
    const auto n = static_cast<Index>(function.diagonal.size());
    return std::make_unique<FunctionKernel<T>>(n, n, function.diagonal, function.offset,
                                               python_kernel<T>(function));
}

inline bool maybe_indefinite(const AnySource& any) {
    if (auto* points = std::get_if<const Points*>(&any)) return !(*points)->kernel.positive_definite();
    if (auto* matrix = std::get_if<const MatrixSource*>(&any)) return !(*matrix)->definite;
    return true;
}

// Calls f with the KernelSource<T> behind a Python source, and whether its matrix may be indefinite.
template <class F>
auto with_source(const AnySource& any, F f) {
    if (is_double(any)) return f(*make_source<double>(any), maybe_indefinite(any));
    return f(*make_source<float>(any), maybe_indefinite(any));
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
