// Whether three arrays are a CSR matrix: asked before anything follows its indices into memory.
#pragma once

#include <cstdint>
#include <string>

#include "base/memory.hpp"

namespace sodm {

struct CsrCheck {
    std::string fault;      // what is wrong, in words; empty if nothing is
    bool ascending = true;  // in every row each index is above the one before it: sorted, and none twice
};

// `indptr` has n_rows + 1 entries; `indices` has n_values, as many as there are values. I is int32 or int64.
template <class I>
CsrCheck check_csr(const I* indptr, Index n_rows, const I* indices, Index n_values, Index n_columns);

}  // namespace sodm
