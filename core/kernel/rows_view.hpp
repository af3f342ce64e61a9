// Rows as a caller has them, looked at in place.
#pragma once

#include <cstdint>

#include "base/memory.hpp"

namespace sodm {

// Rows of a user's array, dense (row stride given) or CSR.
struct RowsView {
    Index n = 0, features = 0;
    bool single = false;  // values are float, else double
    const void* values = nullptr;
    Index row_stride = 0, feature_stride = 1;  // dense only, in elements
    // CSR only
    bool sparse = false;
    bool wide = false;  // indices are int64, else int32
    const void* indices = nullptr;
    const void* indptr = nullptr;

    double value(Index e) const {
        return single ? static_cast<const float*>(values)[e] : static_cast<const double*>(values)[e];
    }
    Index index(Index e) const {
        return wide ? static_cast<const std::int64_t*>(indices)[e]
                    : static_cast<const std::int32_t*>(indices)[e];
    }
    Index start(Index i) const {
        return wide ? static_cast<const std::int64_t*>(indptr)[i]
                    : static_cast<const std::int32_t*>(indptr)[i];
    }
};

}  // namespace sodm
