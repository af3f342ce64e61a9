// Folding of repeated rows, and rows that are taken from others.
#include "kernel/fold.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "arrays.hpp"
#include "kernel/take_rows.hpp"
#include "module.hpp"

namespace sodm::bindings {

namespace {

auto fold(const RowsView& view, IndexVector labels, int n_threads) {
    if (static_cast<Index>(labels.shape(0)) != view.n)
        throw std::invalid_argument("one label per row is needed");
    Folding folding;
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        folding = fold_rows(view, labels.data(), threads);
    }
    const std::size_t kept = folding.first.size(), n = folding.group.size();
    return std::make_pair(to_numpy(std::move(folding.first), {kept}),
                          to_numpy(std::move(folding.group), {n}));
}

auto hashes(const RowsView& view, int n_threads, std::optional<IndexVector> labels) {
    if (labels && static_cast<Index>(labels->shape(0)) != view.n)
        throw std::invalid_argument("one label per row is needed");
    std::vector<std::uint64_t> values;
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        values = hash_rows(view, labels ? labels->data() : nullptr, threads);
    }
    const std::size_t n = values.size();
    return to_numpy(std::move(values), {n});
}

template <class T>
nb::ndarray<nb::numpy> take(const RowsView& view, IndexVector index, int n_threads) {
    const std::size_t n = index.shape(0), features = static_cast<std::size_t>(view.features);
    Buffer<T> out(std::max<std::size_t>(1, n * features));
    {
        nb::gil_scoped_release nogil;
        PythonMonitor monitor;
        Threads threads(n_threads, &monitor);
        take_rows(static_cast<const char*>(view.values), features * sizeof(T), index.data(),
                  static_cast<Index>(n), reinterpret_cast<char*>(out.data()), threads);
    }
    return nb::ndarray<nb::numpy>(to_numpy(std::move(out), {n, features}));
}

nb::ndarray<nb::numpy> take(AnyArray x, IndexVector index, int n_threads) {
    const RowsView view = dense_view(x);
    if (view.feature_stride != 1 || view.row_stride != view.features)
        throw std::invalid_argument("an array in C order is needed");
    for (std::size_t k = 0; k < index.shape(0); ++k)
        if (index(k) < 0 || index(k) >= view.n)
            throw std::invalid_argument("rows must be numbers of rows of the array");
    return view.single ? take<float>(view, index, n_threads) : take<double>(view, index, n_threads);
}

}  // namespace

void bind_fold(nb::module_& m) {
    m.def(
        "fold_dense",
        [](AnyArray x, IndexVector labels, int n_threads) { return fold(dense_view(x), labels, n_threads); },
        nb::arg("x"), nb::arg("labels"), nb::arg("n_threads") = 1);
    m.def(
        "fold_csr",
        [](AnyArray data, AnyArray indices, AnyArray indptr, Index features, IndexVector labels,
           int n_threads) { return fold(csr_view(data, indices, indptr, features), labels, n_threads); },
        nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("features"), nb::arg("labels"),
        nb::arg("n_threads") = 1);
    m.def(
        "take_rows", [](AnyArray x, IndexVector index, int n_threads) { return take(x, index, n_threads); },
        nb::arg("x"), nb::arg("index"), nb::arg("n_threads") = 1, "x[index] of an array in C order.");
    m.def(
        "hash_dense",
        [](AnyArray x, int n_threads, std::optional<IndexVector> labels) {
            return hashes(dense_view(x), n_threads, labels);
        },
        nb::arg("x"), nb::arg("n_threads") = 1, nb::arg("labels") = nb::none());
    m.def(
        "hash_csr",
        [](AnyArray data, AnyArray indices, AnyArray indptr, Index features, int n_threads,
           std::optional<IndexVector> labels) {
            return hashes(csr_view(data, indices, indptr, features), n_threads, labels);
        },
        nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("features"), nb::arg("n_threads") = 1,
        nb::arg("labels") = nb::none());
}

}  // namespace sodm::bindings
