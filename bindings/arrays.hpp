// From NumPy arrays to the core's views, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "kernel/rows_view.hpp"
#include "monitor.hpp"

namespace nb = nanobind;

namespace sodm::bindings {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IndexVector = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline bool is_single(const AnyArray& a) {
    if (a.dtype() == nb::dtype<float>()) return true;
    if (a.dtype() == nb::dtype<double>()) return false;
    throw std::invalid_argument("expected an array of float32 or float64");
}

inline RowsView dense_view(const AnyArray& x) {
    if (x.ndim() != 2) throw std::invalid_argument("expected a two-dimensional array");
    RowsView view;
    view.n = static_cast<Index>(x.shape(0));
    view.features = static_cast<Index>(x.shape(1));
    view.single = is_single(x);
    view.values = x.data();
    view.row_stride = x.stride(0);
    view.feature_stride = x.stride(1);
    return view;
}

inline RowsView csr_view(const AnyArray& data, const AnyArray& indices, const AnyArray& indptr,
                         Index features) {
    const bool wide = indices.dtype() == nb::dtype<std::int64_t>();
    if (indices.dtype() != indptr.dtype() || (!wide && indices.dtype() != nb::dtype<std::int32_t>()))
        throw std::invalid_argument("indices and indptr must both be int32 or both be int64");
    RowsView view;
    view.n = static_cast<Index>(indptr.shape(0)) - 1;
    view.features = features;
    view.single = is_single(data);
    view.values = data.data();
    view.sparse = true;
    view.wide = wide;
    view.indices = indices.data();
    view.indptr = indptr.data();
    return view;
}

// A new NumPy array that owns a copy-free vector.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape, owner);
}

// The same of a buffer, which nobody has filled with zeros first.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(Buffer<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* kept = new Buffer<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape, owner);
}

}  // namespace sodm::bindings
