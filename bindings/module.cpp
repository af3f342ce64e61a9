#include "module.hpp"

#include <nanobind/nanobind.h>

#include "base/parallel.hpp"
#include "simd/ops.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of sodm.";
    // An interpreter that ends after Ctrl-C may still hold frames with our objects: nothing a user could
    // mend, and not what should follow the one line that says what happened.
    nb::set_leak_warnings(false);
    m.def("resolve_threads", &sodm::resolve_threads, nb::arg("n_jobs"),
          "Threads to use for n_jobs (-1: all cores).");
    m.def("simd_name", &sodm::simd_name, "The instruction set in use.");
    m.def("simd_select", &sodm::simd_select, nb::arg("name"),
          "Pin an instruction set; False if it is not to be had.");
    sodm::bindings::bind_monitor(m);
    sodm::bindings::bind_kernels(m);
    sodm::bindings::bind_linear(m);
    sodm::bindings::bind_fold(m);
    sodm::bindings::bind_partition(m);
    sodm::bindings::bind_solve(m);
    sodm::bindings::bind_pairs(m);
    sodm::bindings::bind_paths(m);
    sodm::bindings::bind_data(m);
    sodm::bindings::bind_csr(m);
    sodm::bindings::bind_shapley(m);
}
