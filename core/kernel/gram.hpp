// The Gram matrix of a growing list of rows: the symmetric product, each pair evaluated once, and kept where
// there is memory for it.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "kernel/far_rows.hpp"
#include "kernel/kernel_source.hpp"
#include "kernel/packed_tile.hpp"
#include "kernel/tile_pool.hpp"

namespace sodm {

// Only one triangle exists, in tiles of kTile x kTile. Tile rows are stored as long as they fit the memory
// limit and evaluated again in every product where they do not: the product is the same, only its speed
// differs. A tile whose values are all the same (of rows far apart, zero) is that one value: with rows in
// neighbourhood order and a narrow kernel that is nearly all of them, most of them known without evaluation.
//
// It may be packed: then tiles beside the diagonal are those of a matrix of rounded values, kept in two bytes
// (packed_tile.hpp), whether they are stored or not.
template <class T>
class GramMatrix {
  public:
    GramMatrix(const KernelSource<T>& source, std::size_t cache_bytes, Threads& threads);

    // Forgets everything and starts over with these rows; packed, if the source's values allow it. `wide`:
    // products are summed in double, whatever the precision of the values.
    void assign(const std::vector<Index>& rows, bool packed = false, bool wide = false);
    // Adds rows at the end; what is stored stays.
    void append(const std::vector<Index>& rows);

    const std::vector<Index>& rows() const { return rows_; }
    Index size() const { return static_cast<Index>(rows_.size()); }
    bool fully_stored() const { return stored_ == tile_rows(); }

    // y[v * n + i] = sum_j k(i, j) x[v * n + j] for v < n_vectors. `wanted` may say of each vector and tile
    // of rows (n_vectors x tile_rows()) whether its y is asked for; the others are left as they are. Tiles
    // that no wanted y needs, or whose x are zeros, are not looked at.
    void apply(const double* x, int n_vectors, double* y, const char* wanted = nullptr);
    Index tile_rows() const { return (size() + kTile - 1) / kTile; }

    // The tile of rows i * kTile.. with themselves, row stride kTile; `room` is used if it is not stored.
    const T* diagonal_tile(Index i, Workspace<T>& work, Buffer<T>& room) const;

    // out[r * stride + c] = k(rows[r], columns[c]) of positions in the list; `lower`: for tiles of rows not
    // before the columns' alone.
    void copy(const std::vector<Index>& rows, const std::vector<Index>& columns, bool lower, T* out,
              Index stride) const;

    // One pass of block coordinate steps: for each block of kTile rows in turn, solve(first, count, diagonal
    // block (row stride kTile), change) looks at f there, changes what it wants, brings f of the block up to
    // date and returns in `change` how much each coefficient moved; f of the others is then brought up to
    // date too. gram_relax.cpp.
    using BlockStep = std::function<void(Index first, int count, const T* block, T* change)>;
    void relax(double* f, const BlockStep& solve);

  private:
    template <class A>
    void apply_as(const double* x, int n_vectors, double* y, const char* wanted);
    static constexpr std::size_t kTileValues = static_cast<std::size_t>(kTile) * kTile;
    class Pass;       // of block coordinate steps
    struct PassPlan;  // its tasks, which all passes over the same rows have in common

    // The tiles (j, i), j <= i, of tile row i: k(rows of j, columns of i).
    struct TileRow {
        std::vector<TileValues<T>> kept;  // tile j, if it is stored
        std::vector<char> constant;       // whether it has one value only
        std::vector<T> value;             // which
        bool looked_at = false;           // which are constant is known, not of far rows alone

        void reset(Index tiles) {
            kept.assign(static_cast<std::size_t>(tiles), TileValues<T>());
            constant.assign(static_cast<std::size_t>(tiles), 0);
            value.assign(static_cast<std::size_t>(tiles), T(0));
        }
        void set_constant(std::size_t tile, T only) {
            constant[tile] = 1;
            value[tile] = only;
        }
    };

    int height(Index tile_row) const {
        return static_cast<int>(std::min<Index>(kTile, size() - tile_row * kTile));
    }
    void evaluate_tile(Index j, Workspace<T>& work, T* out) const;
    TileValues<T> as_kept(Index j, Index i, Workspace<T>& work) const;
    bool is_constant(Index j, Index i, const T* tile) const;
    void store_missing();
    void store(Index i, int worker, Workspace<T>& work);
    void forget(Index i);
    void begin(Index i);
    double near(double value) const;
    void look_at_all();

    const KernelSource<T>& source_;
    std::size_t cache_bytes_, stored_bytes_ = 0;
    Threads& threads_;
    std::vector<Index> rows_;
    FarRows<T> far_;
    std::vector<TileRow> tiles_;
    Packing<T> packing_;
    TilePool<T> pool_;
    TilePool<std::uint16_t> packed_pool_;
    Index stored_ = 0;  // tile rows 0..stored_-1 are kept
    bool wide_ = false;
    double scale_ = 0;                      // largest k(x, x)
    std::shared_ptr<const PassPlan> plan_;  // once there was a pass over these rows
};

}  // namespace sodm
