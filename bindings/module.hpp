// The parts of the extension module, one file each.
#pragma once

#include <nanobind/nanobind.h>

namespace sodm::bindings {

void bind_monitor(nanobind::module_& m);
void bind_kernels(nanobind::module_& m);
void bind_linear(nanobind::module_& m);
void bind_partition(nanobind::module_& m);
void bind_fold(nanobind::module_& m);
void bind_solve(nanobind::module_& m);
void bind_pairs(nanobind::module_& m);
void bind_paths(nanobind::module_& m);
void bind_data(nanobind::module_& m);
void bind_csr(nanobind::module_& m);
void bind_shapley(nanobind::module_& m);

}  // namespace sodm::bindings
