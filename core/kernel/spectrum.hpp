// How fast the spectrum of a Gram matrix falls.
#pragma once

#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

// Whether the spectrum is flat: a fourth of the rows, drawn as landmarks, leave a good part of the others
// unexplained, so that rows have few neighbours and near ones decide. By a fixed sample; a constant that the
// kernel has beside it does not count.
template <class T>
bool has_flat_spectrum(const KernelSource<T>& source, Threads& threads);

}  // namespace sodm
