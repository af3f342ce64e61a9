// The coreset of CSVRG. Rows must have unit feature stride, or be CSR.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "linear/linear_rows.hpp"

namespace sodm {

// Every row joins the first centre of its own class within `radius`, or becomes a centre. `key` is any
// function of a row that changes by no more than the distance between rows: only centres with a key within
// radius are looked at. Returns, for each row, the row number of its centre.
std::vector<Index> ball_cover(const LinearRows& rows, const double* squared_norm, const double* key,
                              const Index* order, double radius, Monitor* monitor);

}  // namespace sodm
