// The parsers of text files.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "module.hpp"
#include "text/csv_parser.hpp"
#include "text/libsvm_parser.hpp"

namespace sodm::bindings {

namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class F>
void with_threads(int n_threads, F work) {
    nb::gil_scoped_release nogil;
    PythonMonitor monitor;
    Threads threads(n_threads, &monitor);
    work(threads);
}

// None, or (line, column, message).
nb::object error_of(const TextError& error) {
    if (!error.line) return nb::none();
    return nb::make_tuple(error.line, error.column, error.message);
}

template <class Parser>
nb::object feed(Parser& parser, Bytes block, int n_threads) {
    with_threads(n_threads, [&](Threads& threads) {
        parser.feed(reinterpret_cast<const char*>(block.data()), block.size(), threads);
    });
    return error_of(parser.error());
}

template <class Parser>
nb::object finish(Parser& parser, int n_threads) {
    with_threads(n_threads, [&](Threads& threads) { parser.finish(threads); });
    return error_of(parser.error());
}

template <class Parser>
std::vector<std::string> label_names(const Parser& parser) {
    return {parser.label_names().begin(), parser.label_names().end()};
}

// An array of n elements that are not set to anything yet.
template <class T>
T* empty(std::size_t n, nb::object& array, std::initializer_list<std::size_t> shape) {
    T* data = new T[n];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    array = nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
    return data;
}

template <class I>
nb::tuple take_rows(LibsvmParser& parser, int n_threads) {
    const std::size_t n = parser.rows(), m = parser.values();
    nb::object labels, indptr, indices, data;
    auto* label = empty<std::int32_t>(n, labels, {n});
    auto* row = empty<I>(n + 1, indptr, {n + 1});
    auto* index = empty<I>(m, indices, {m});
    auto* value = empty<double>(m, data, {m});
    with_threads(n_threads, [&](Threads& threads) { parser.take(label, row, index, value, threads); });
    return nb::make_tuple(data, indices, indptr, labels);
}

nb::tuple take_csr(LibsvmParser& parser, bool wide, int n_threads) {
    return wide ? take_rows<std::int64_t>(parser, n_threads) : take_rows<std::int32_t>(parser, n_threads);
}

nb::tuple take_dense(CsvParser& parser, int n_threads) {
    const std::size_t n = parser.rows(), d = parser.features();
    nb::object labels, data;
    auto* label = empty<std::int32_t>(n, labels, {n});
    auto* value = empty<double>(n * d, data, {n, d});
    with_threads(n_threads, [&](Threads& threads) { parser.take(label, value, threads); });
    return nb::make_tuple(data, labels);
}

}  // namespace

void bind_data(nb::module_& m) {
    nb::class_<LibsvmParser>(m, "LibsvmParser")
        .def(
            "__init__",
            [](LibsvmParser* self, bool zero_based, Index features) {
                new (self) LibsvmParser(LibsvmOptions{zero_based, features});
            },
            nb::arg("zero_based") = false, nb::arg("features") = -1)
        .def("feed", &feed<LibsvmParser>, nb::arg("block"), nb::arg("n_threads") = 1,
             "Parse a block of the text; None, or the first error as (line, column, message).")
        .def("finish", &finish<LibsvmParser>, nb::arg("n_threads") = 1)
        .def("take", &take_csr, nb::arg("wide"), nb::arg("n_threads") = 1,
             "data, indices, indptr and label numbers; leaves the parser empty.")
        .def_prop_ro("label_names", &label_names<LibsvmParser>)
        .def_prop_ro("open_ended", &LibsvmParser::open_ended)
        .def_prop_ro("rows", &LibsvmParser::rows)
        .def_prop_ro("values", &LibsvmParser::values)
        .def_prop_ro("features", &LibsvmParser::features);

    nb::class_<CsvParser>(m, "CsvParser")
        .def(
            "__init__",
            [](CsvParser* self, char separator, Index columns, Index label_column, Index lines_before,
               std::vector<std::string> names) {
                new (self)
                    CsvParser(CsvOptions{separator, columns, label_column, lines_before, std::move(names)});
            },
            nb::arg("separator"), nb::arg("columns"), nb::arg("label_column"), nb::arg("lines_before"),
            nb::arg("names"))
        .def("feed", &feed<CsvParser>, nb::arg("block"), nb::arg("n_threads") = 1)
        .def("finish", &finish<CsvParser>, nb::arg("n_threads") = 1)
        .def("take", &take_dense, nb::arg("n_threads") = 1,
             "Values by row and column, and label numbers; leaves the parser empty.")
        .def_prop_ro("label_names", &label_names<CsvParser>)
        .def_prop_ro("open_ended", &CsvParser::open_ended)
        .def_prop_ro("rows", &CsvParser::rows);
}

}  // namespace sodm::bindings
