// The parsers of text files.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

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

template <class T>
using Array = nb::ndarray<nb::numpy, T>;
using AnyIndices = nb::ndarray<nb::numpy>;  // int32 or int64

// Nothing, or line, column and message.
using Error = std::optional<std::tuple<Index, Index, std::string>>;

Error error_of(const TextError& error) {
    if (!error.line) return std::nullopt;
    return std::make_tuple(error.line, error.column, error.message);
}

template <class Parser>
Error feed(Parser& parser, Bytes block, int n_threads) {
    with_threads(n_threads, [&](Threads& threads) {
        parser.feed(reinterpret_cast<const char*>(block.data()), block.size(), threads);
    });
    return error_of(parser.error());
}

template <class Parser>
Error finish(Parser& parser, int n_threads) {
    with_threads(n_threads, [&](Threads& threads) { parser.finish(threads); });
    return error_of(parser.error());
}

template <class Parser>
std::vector<std::string> label_names(const Parser& parser) {
    return {parser.label_names().begin(), parser.label_names().end()};
}

// An array whose elements are not set to anything yet.
template <class T>
Array<T> empty(std::initializer_list<std::size_t> shape) {
    std::size_t n = 1;
    for (const std::size_t side : shape) n *= side;
    T* data = new T[n];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Array<T>(data, shape, owner);
}

using CsrRows = std::tuple<Array<double>, AnyIndices, AnyIndices, Array<std::int32_t>>;

template <class I>
CsrRows take_rows(LibsvmParser& parser, int n_threads) {
    const std::size_t n = parser.rows(), m = parser.values();
    auto label = empty<std::int32_t>({n});
    auto indptr = empty<I>({n + 1}), indices = empty<I>({m});
    auto value = empty<double>({m});
    with_threads(n_threads, [&](Threads& threads) {
        parser.take(label.data(), indptr.data(), indices.data(), value.data(), threads);
    });
    return {value, AnyIndices(indices), AnyIndices(indptr), label};
}

CsrRows take_csr(LibsvmParser& parser, bool wide, int n_threads) {
    return wide ? take_rows<std::int64_t>(parser, n_threads) : take_rows<std::int32_t>(parser, n_threads);
}

std::tuple<Array<double>, Array<std::int32_t>> take_dense(CsvParser& parser, int n_threads) {
    const std::size_t n = parser.rows(), d = parser.features();
    auto label = empty<std::int32_t>({n});
    auto value = empty<double>({n, d});
    with_threads(n_threads, [&](Threads& threads) { parser.take(label.data(), value.data(), threads); });
    return {value, label};
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
