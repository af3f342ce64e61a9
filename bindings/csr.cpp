// The check of sparse matrices.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "arrays.hpp"
#include "base/csr_check.hpp"
#include "module.hpp"

namespace sodm::bindings {

namespace {

template <class I>
using Indices = nb::ndarray<const I, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class I>
std::pair<std::string, bool> check(Indices<I> indptr, Indices<I> indices, Index columns) {
    if (indptr.shape(0) < 1)
        throw std::invalid_argument("indptr must have one entry more than there are rows");
    nb::gil_scoped_release nogil;
    CsrCheck found = check_csr(indptr.data(), static_cast<Index>(indptr.shape(0)) - 1, indices.data(),
                               static_cast<Index>(indices.shape(0)), columns);
    return {std::move(found.fault), found.ascending};
}

}  // namespace

void bind_csr(nb::module_& m) {
    const char* words =
        "What is wrong with these parts of a CSR matrix, '' if nothing, and whether indices ascend.";
    m.def("check_csr", &check<std::int32_t>, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("columns"), words);
    m.def("check_csr", &check<std::int64_t>, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("columns"));
}

}  // namespace sodm::bindings
