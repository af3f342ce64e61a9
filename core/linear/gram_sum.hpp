// The upper triangle of sum_r h_r x_r x_r', for rows turned into panels and for rows one by one. H is the
// precision of the products; they are added up in double every few thousand rows.
#pragma once

#include <algorithm>

#include "base/memory.hpp"
#include "linear/linear_rows.hpp"
#include "linear/watch.hpp"
#include "simd/ops.hpp"

namespace sodm {

constexpr int kPanelRows = 128;     // rows of a panel: two panels and the Gram sums stay in the nearest cache
constexpr Index kFloatRows = 4096;  // products summed in single precision before they move on to double

inline Index round_up(Index n, Index to) { return (n + to - 1) / to * to; }

// For rows turned into panels.
template <class H>
struct NarrowGram {
    Buffer<H> panel, scaled, sums;
    H change[kPanelRows];
    int filled = 0;
    Index features = 0, pending = 0;

    void reset(Index width) {
        features = round_up(width, kGramBlock);
        panel.assign(static_cast<std::size_t>(features * kPanelRows), H(0));
        scaled.assign(static_cast<std::size_t>(features * kPanelRows), H(0));
        const Index blocks = features / kGramBlock;
        sums.assign(static_cast<std::size_t>(blocks * (blocks + 1) / 2 * 16 * kGramSlots<H>), H(0));
        filled = 0;
        pending = 0;
    }
    void add_panel(const H* x, const H* h, int lanes, double* total, Index width) {
        linear_simd<H>().add_gram(x, h, kPanelRows, static_cast<int>(features), lanes, scaled.data(),
                                  sums.data());
        pending += lanes;
        if (pending >= kFloatRows) move_on(total, width);
    }
    // Collects single lanes of a panel and adds them a full panel at a time.
    void add_lane(const H* x, int lane, H h, double* total, Index width) {
        for (Index k = 0; k < features; ++k) panel[k * kPanelRows + filled] = x[k * kPanelRows + lane];
        change[filled++] = h;
        if (filled == kPanelRows) flush(total, width);
    }
    void flush(double* total, Index width) {
        const int lanes = static_cast<int>(round_up(filled, kLaneGroup));
        for (int r = filled; r < lanes; ++r) {
            change[r] = H(0);
            for (Index k = 0; k < features; ++k) panel[k * kPanelRows + r] = H(0);
        }
        filled = 0;
        if (lanes) add_panel(panel.data(), change, lanes, total, width);
    }
    void move_on(double* total, Index width) {
        const H* s = sums.data();
        for (Index j = 0; j < features; j += kGramBlock)
            for (Index k = j; k < features; k += kGramBlock)
                for (Index a = j; a < j + kGramBlock; ++a)
                    for (Index c = k; c < k + kGramBlock; ++c, s += kGramSlots<H>) {
                        if (a >= width || c >= width || c < a) continue;
                        double entry = 0;
                        for (int i = 0; i < kGramSlots<H>; ++i) entry += static_cast<double>(s[i]);
                        total[a * width + c] += entry;
                    }
        std::fill_n(sums.data(), sums.size(), H(0));
        pending = 0;
    }
};

// For wide rows: collected row by row and multiplied by the matrix kernel of the core.
template <class H>
struct WideGram {
    Buffer<H> rows, scaled, sums;
    int filled = 0;
    Index ld = 0, pending = 0;

    void reset(Index width) {
        ld = round_up(width, kPanel<H>);
        rows.assign(static_cast<std::size_t>(ld * kPanelRows), H(0));
        scaled.assign(static_cast<std::size_t>(ld * kPanelRows), H(0));
        sums.assign(static_cast<std::size_t>(ld * ld), H(0));
        filled = 0;
        pending = 0;
    }
    template <class Fill>
    void add_row(H h, Fill fill, double* total, Index width, Watch& watch) {
        H* x = rows.data() + filled * ld;
        H* hx = scaled.data() + filled * ld;
        std::fill_n(x, ld, H(0));
        fill(x);
        for (Index k = 0; k < ld; ++k) hx[k] = h * x[k];
        if (++filled == kPanelRows) flush(total, width, watch);
    }
    void flush(double* total, Index width, Watch& watch) {
        const SimdOps<H>& ops = simd<H>();
        for (Index c = 0; c < ld; c += kPanel<H>) {  // columns c.., rows 0..c: the upper triangle
            const Index above = std::min(c + kPanel<H>, width);
            ops.pair_dense(Pairing::product, scaled.data(), 1, ld, static_cast<int>(above), filled,
                           rows.data() + c, ld, sums.data() + c, ld, true);
            watch.did(above * filled * kPanel<H>);
        }
        pending += filled;
        filled = 0;
        if (pending >= kFloatRows) move_on(total, width);
    }
    void move_on(double* total, Index width) {
        for (Index j = 0; j < width; ++j)
            for (Index k = j; k < width; ++k) total[j * width + k] += static_cast<double>(sums[j * ld + k]);
        std::fill_n(sums.data(), sums.size(), H(0));
        pending = 0;
    }
};

}  // namespace sodm
