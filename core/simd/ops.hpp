// The inner loops of the core, one table per instruction set, chosen once at run time.
//
// All of them work on *tiles*: small dense blocks of kernel values, row-major, whose columns come in panels
// of kPanel<T> lanes. A panel holds the features of that many points, feature by feature:
// panel[k * ld + lane] is feature k of point `lane`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/kernel_function.hpp"

namespace sodm {

template <class T>
constexpr int kPanel = 128 / static_cast<int>(sizeof(T));  // 32 floats or 16 doubles: two AVX-512 registers

// What is summed over the features of a pair (x, z).
enum class Pairing { product, squared_difference, absolute_difference };

template <class T>
struct SimdOps {
    const char* name;

    // out[r * ldo + lane] = (accumulate ? out : 0) + sum_k pair(x[r * row_step + k * feature_step],
    //                                                          panel[k * ldp + lane])
    // For products this is the micro-kernel of a matrix multiplication, and used as one.
    void (*pair_dense)(Pairing pairing, const T* x, std::ptrdiff_t row_step, std::ptrdiff_t feature_step,
                       int rows, int features, const T* panel, std::ptrdiff_t ldp, T* out, std::ptrdiff_t ldo,
                       bool accumulate);

    // The same for sparse rows r = 0..rows-1 with entries ptr[r] <= e < ptr[r + 1], against a dense panel
    // with ldp = kPanel. For differences only the correction to the panel's own norm is summed: pair(x, z) -
    // pair(0, z), because absent features contribute pair(0, z).
    void (*pair_sparse)(Pairing pairing, const T* value, const std::int32_t* feature, const std::int64_t* ptr,
                        int rows, const T* panel, T* out, std::ptrdiff_t ldo);

    // tile[r][c] = k(x_r, z_c) from the pair sums. x_norm and z_norm are added to the sums first where the
    // kernel needs it (see PointSet); lanes is a multiple of kPanel.
    void (*transform)(const KernelFunction& kernel, bool sums_are_products, T* tile, std::ptrdiff_t ld,
                      int rows, int lanes, const T* x_norm, const T* z_norm);

    // The RBF kernel of dense rows against one panel in one go, sums never leaving the registers: as kernel
    // values, or as their weighted sum y[lane] += sum_r a[r] k(x_r, z_lane). Points and norms as for
    // `transform`.
    void (*rbf_values)(const T* x, std::ptrdiff_t row_step, int rows, int features, const T* panel,
                       const T* x_norm, const T* z_norm, T offset, T* out, std::ptrdiff_t ldo);
    void (*rbf_sum)(const T* x, std::ptrdiff_t row_step, int rows, int features, const T* panel,
                    const T* x_norm, const T* z_norm, T offset, const T* a, T* y);

    // y[c] += sum_r a[r] tile[r][c]
    void (*add_rows)(const T* tile, std::ptrdiff_t ld, int rows, int lanes, const T* a, T* y);

    // z[r] += sum_c tile[r][c] b[c]
    void (*add_columns)(const T* tile, std::ptrdiff_t ld, int rows, int lanes, const T* b, T* z);

    // Both at once: each value of the tile is read from memory one time only.
    void (*add_both)(const T* tile, std::ptrdiff_t ld, int rows, int lanes, const T* a, T* y, const T* b,
                     T* z);

    // The same three with a tile that is packed (kernel/packed_tile.hpp), of the squares of the counts there.
    void (*add_packed_rows)(const std::uint16_t* tile, std::ptrdiff_t ld, int rows, int lanes, const T* a,
                            T* y);
    void (*add_packed_columns)(const std::uint16_t* tile, std::ptrdiff_t ld, int rows, int lanes, const T* b,
                               T* z);
    void (*add_packed_both)(const std::uint16_t* tile, std::ptrdiff_t ld, int rows, int lanes, const T* a,
                            T* y, const T* b, T* z);

    // The same three with a tile of floats, where T are doubles: sums keep the digits that floats would lose.
    void (*add_float_rows)(const float* tile, std::ptrdiff_t ld, int rows, int lanes, const T* a, T* y);
    void (*add_float_columns)(const float* tile, std::ptrdiff_t ld, int rows, int lanes, const T* b, T* z);
    void (*add_float_both)(const float* tile, std::ptrdiff_t ld, int rows, int lanes, const T* a, T* y,
                           const T* b, T* z);

    // out[r][c] = root of (tile[r][c] - base) / step, rounded; false if that is no number of two bytes
    // somewhere.
    bool (*pack)(const T* tile, std::ptrdiff_t ld, int rows, int columns, T base, T inverse_step,
                 std::uint16_t* out);

    // y[i] += s * x[i], a row of kernel values onto margins kept in double.
    void (*add_scaled)(const T* x, double s, double* y, std::ptrdiff_t n);

    // |x - z|^2
    double (*squared_distance)(const T* x, const T* z, std::ptrdiff_t n);
};

template <class T>
const SimdOps<T>& simd();
template <>
const SimdOps<float>& simd<float>();
template <>
const SimdOps<double>& simd<double>();

// Instruction sets this build knows and this machine has, best first; and a way to pin one (tests, reports).
const char* simd_name();
bool simd_select(const char* name);

}  // namespace sodm
