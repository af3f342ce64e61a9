#include "linear/linear_pass.hpp"

#include <algorithm>
#include <cstring>

namespace sodm {

namespace {

constexpr int kPanelRows = 128;     // rows of a panel: two panels and the Gram sums stay in the nearest cache
constexpr int kTileRows = 32;       // rows looked at together where rows are wide
constexpr int kNarrow = 48;         // up to this many features rows are turned into panels
constexpr Index kFloatRows = 4096;  // products summed in single precision before they move on to double
constexpr std::size_t kMaxTasks = 64;

Index round_up(Index n, Index to) { return (n + to - 1) / to * to; }

double curvature_of(const MarginLoss& loss, std::int8_t state) {
    return state == kBelow ? 1.0 : state == kAbove ? loss.upsilon : 0.0;
}

// The upper triangle of sum_r h_r x_r x_r', fed row by row or panel by panel, H the precision of the
// products.
template <class H>
class GramSum {
  public:
    // For rows turned into panels.
    struct Narrow {
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
    struct Wide {
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
        void add_row(H h, Fill fill, double* total, Index width) {
            H* x = rows.data() + filled * ld;
            H* hx = scaled.data() + filled * ld;
            std::fill_n(x, ld, H(0));
            fill(x);
            for (Index k = 0; k < ld; ++k) hx[k] = h * x[k];
            if (++filled == kPanelRows) flush(total, width);
        }
        void flush(double* total, Index width) {
            const SimdOps<H>& ops = simd<H>();
            for (Index c = 0; c < ld; c += kPanel<H>)  // columns c.., rows 0..c: the upper triangle
                ops.pair_dense(Pairing::product, scaled.data(), 1, ld,
                               static_cast<int>(std::min(c + kPanel<H>, width)), filled, rows.data() + c, ld,
                               sums.data() + c, ld, true);
            pending += filled;
            filled = 0;
            if (pending >= kFloatRows) move_on(total, width);
        }
        void move_on(double* total, Index width) {
            for (Index j = 0; j < width; ++j)
                for (Index k = j; k < width; ++k)
                    total[j * width + k] += static_cast<double>(sums[j * ld + k]);
            std::fill_n(sums.data(), sums.size(), H(0));
            pending = 0;
        }
    };
};

// What one task sums.
struct Part {
    std::vector<double> loss, gradient, curvature;
};

// Turns rows first.. into a panel, with the constant feature last and zeros wherever there is no row or
// feature.
template <class T>
void load_panel(const LinearRows& rows, Index first, int n, Index features, T* panel) {
    const RowsView& view = rows.view;
    const T* values = static_cast<const T*>(view.values);
    const Index d = view.features;
    if (view.sparse) {
        std::fill_n(panel, features * kPanelRows, T(0));
        const RowReader<T> reader(rows);
        for (int r = 0; r < n; ++r)
            reader.entries(first + r,
                           [&](Index k, double x) { panel[k * kPanelRows + r] += static_cast<T>(x); });
    } else {
        if (view.feature_stride == 1)
            linear_simd<T>().turn(values + first * view.row_stride, view.row_stride, n, static_cast<int>(d),
                                  panel, kPanelRows);
        else
            for (Index k = 0; k < d; ++k)
                for (int r = 0; r < n; ++r)
                    panel[k * kPanelRows + r] =
                        values[(first + r) * view.row_stride + k * view.feature_stride];
        if (n < kPanelRows)
            for (Index k = 0; k < d; ++k)
                std::fill(panel + k * kPanelRows + n, panel + (k + 1) * kPanelRows, T(0));
        for (Index k = d; k < features; ++k) std::fill_n(panel + k * kPanelRows, kPanelRows, T(0));
    }
    if (rows.bias != 0.0) std::fill_n(panel + d * kPanelRows, n, static_cast<T>(rows.bias));
}

// Whether a Gram matrix of sparse rows is cheaper entry by entry than from rows written out in full.
bool scatter_pays(const RowsView& view) {
    if (!view.sparse || view.n == 0) return false;
    const double per_row =
        static_cast<double>(view.start(view.n) - view.start(0)) / static_cast<double>(view.n);
    const double width = static_cast<double>(view.features);
    return per_row * per_row < width * width / 8;
}

}  // namespace

// ------------------------------------------------------------------------------------------------ the pass
struct LinearPass::Impl {
    virtual ~Impl() = default;
    virtual PassSums evaluate(const MarginLoss& loss, const std::vector<int>& problems,
                              const std::int32_t* positive, const double* w, Threads& threads) = 0;
    virtual std::vector<double> times(const MarginLoss& loss, const std::vector<int>& problems,
                                      const double* v, Threads& threads) const = 0;
};

namespace {

// Rows of a wide problem as the tile loop wants them: in place, or copied together when features are strided.
template <class T>
class TileRows {
  public:
    explicit TileRows(const LinearRows& rows)
        : rows_(rows), strided_(!rows.view.sparse && rows.view.feature_stride != 1) {
        if (strided_) copy_.resize(static_cast<std::size_t>(kTileRows * rows.view.features));
    }
    // A reader of the rows first..first+n-1; row numbers given to it are relative to offset().
    RowReader<T> load(Index first, int n) {
        if (!strided_) {
            offset_ = 0;
            return RowReader<T>(rows_);
        }
        const RowsView& view = rows_.view;
        const T* values = static_cast<const T*>(view.values);
        for (Index k = 0; k < view.features; ++k)
            for (int r = 0; r < n; ++r)
                copy_[r * view.features + k] =
                    values[(first + r) * view.row_stride + k * view.feature_stride];
        LinearRows tile = rows_;
        tile.view.values = copy_.data();
        tile.view.row_stride = view.features;
        tile.view.feature_stride = 1;
        offset_ = first;
        return RowReader<T>(tile);
    }
    Index offset() const { return offset_; }

  private:
    const LinearRows& rows_;
    const bool strided_;
    Buffer<T> copy_;
    Index offset_ = 0;
};

// T: the rows' own precision; H: the precision of the Gram products.
template <class T, class H>
class Pass final : public LinearPass::Impl {
  public:
    Pass(const LinearRows& rows, int n_problems, Curvature curvature)
        : rows_(rows),
          width_(rows.width()),
          gram_(curvature == Curvature::gram || curvature == Curvature::gram_in_double),
          diagonal_(curvature == Curvature::diagonal),
          narrow_(!diagonal_ && width_ <= kNarrow && (gram_ || !rows.view.sparse)),
          scatter_(gram_ && !narrow_ && scatter_pays(rows.view)),
          state_(static_cast<std::size_t>(n_problems) * static_cast<std::size_t>(rows.view.n), kInside),
          total_(gram_ ? static_cast<std::size_t>(n_problems * width_ * width_) : 0, 0.0) {}

    PassSums evaluate(const MarginLoss& loss, const std::vector<int>& problems, const std::int32_t* positive,
                      const double* w, Threads& threads) override {
        const Job job{loss, problems, positive, w};
        const std::size_t k = problems.size(), d = static_cast<std::size_t>(width_);
        const int tile = narrow_ ? kPanelRows : kTileRows;
        const Index n_tiles = (rows_.view.n + tile - 1) / tile;
        const std::size_t n_tasks = task_count(k, n_tiles);
        std::vector<Part> parts(n_tasks);
        std::vector<Workspace> work(static_cast<std::size_t>(threads.count()));
        threads.run(n_tasks, [&](std::size_t t, int worker) {
            const Index from = n_tiles * static_cast<Index>(t) / static_cast<Index>(n_tasks) * tile;
            const Index to = n_tiles * static_cast<Index>(t + 1) / static_cast<Index>(n_tasks) * tile;
            Part& part = parts[t];
            part.loss.assign(k, 0.0);
            part.gradient.assign(k * d, 0.0);
            if (diagonal_) part.curvature.assign(k * d, 0.0);
            if (gram_) part.curvature.assign(k * d * d, 0.0);
            if (narrow_)
                run_narrow(job, from, std::min(to, rows_.view.n), work[static_cast<std::size_t>(worker)],
                           part);
            else
                run_wide(job, from, std::min(to, rows_.view.n), work[static_cast<std::size_t>(worker)], part);
        });
        return add_up(job, parts);
    }

    std::vector<double> times(const MarginLoss& loss, const std::vector<int>& problems, const double* v,
                              Threads& threads) const override {
        const std::size_t k = problems.size(), d = static_cast<std::size_t>(width_);
        const Index n_tiles = (rows_.view.n + kTileRows - 1) / kTileRows;
        const std::size_t n_tasks = task_count(k, n_tiles);
        std::vector<std::vector<double>> parts(n_tasks);
        threads.run(n_tasks, [&](std::size_t t, int) {
            const Index from = n_tiles * static_cast<Index>(t) / static_cast<Index>(n_tasks) * kTileRows;
            const Index to = std::min(
                rows_.view.n, n_tiles * static_cast<Index>(t + 1) / static_cast<Index>(n_tasks) * kTileRows);
            std::vector<double>& out = parts[t];
            out.assign(k * d, 0.0);
            TileRows<T> tile(rows_);
            for (Index first = from; first < to; first += kTileRows) {
                const int n = static_cast<int>(std::min<Index>(kTileRows, to - first));
                const RowReader<T> reader = tile.load(first, n);
                for (std::size_t j = 0; j < k; ++j) {
                    const std::int8_t* state = state_of(problems[j]);
                    for (Index i = first; i < first + n; ++i) {
                        const double h = curvature_of(loss, state[i]) * rows_.row_weight(i);
                        if (h == 0.0) continue;
                        const Index row = i - tile.offset();
                        reader.add(h * reader.dot(row, v + j * d), row, out.data() + j * d);
                    }
                }
            }
        });
        std::vector<double> sum(k * d, 0.0);
        for (const auto& part : parts)
            for (std::size_t e = 0; e < k * d; ++e) sum[e] += part[e];
        return sum;
    }

  private:
    struct Job {
        const MarginLoss& loss;
        const std::vector<int>& problems;
        const std::int32_t* positive;
        const double* w;
    };
    struct Workspace {
        alignas(64) double decision[kPanelRows], slope[kPanelRows];
        alignas(64) H change[kPanelRows];
        Buffer<T> panel;
        Buffer<H> panel_in_h;
        std::vector<double> slots;
        std::vector<typename GramSum<H>::Narrow> narrow;
        std::vector<typename GramSum<H>::Wide> wide;
    };

    // From the decisions of a tile to the losses, slopes and changes of curvature of problem j.
    int lose(const Job& job, std::size_t j, Index first, int n, int lanes, Workspace& work, Part& part) {
        int changed = 0;
        part.loss[j] +=
            linear_simd<H>().lose(job.loss, n, lanes, work.decision, rows_.label + first, job.positive[j],
                                  rows_.weight ? rows_.weight + first : nullptr,
                                  state_of(job.problems[j]) + first, work.slope, work.change, &changed);
        return changed;
    }

    const std::int8_t* state_of(int problem) const { return state_.data() + problem * rows_.view.n; }
    std::int8_t* state_of(int problem) { return state_.data() + problem * rows_.view.n; }

    // Enough tasks to keep many cores busy, few enough that adding up what they made is a small part of the
    // work.
    std::size_t task_count(std::size_t k, Index n_tiles) const {
        const double d = static_cast<double>(width_), n = static_cast<double>(rows_.view.n);
        const double stored = rows_.view.sparse && !narrow_
                                  ? static_cast<double>(rows_.view.start(rows_.view.n) - rows_.view.start(0))
                                  : n * d;
        const double sums = static_cast<double>(k) * (gram_ ? d * d : 2 * d);
        const double work =
            static_cast<double>(k) * (gram_ ? stored * stored / std::max(n, 1.0) / 8 : 4 * stored);
        double tasks = std::min(static_cast<double>(kMaxTasks), work / (16 * sums));
        tasks = std::min(tasks, 5e8 / (8 * sums));
        return static_cast<std::size_t>(std::max(1.0, std::min(tasks, static_cast<double>(n_tiles))));
    }

    void run_narrow(const Job& job, Index from, Index to, Workspace& work, Part& part) {
        const std::size_t k = job.problems.size(), d = static_cast<std::size_t>(width_);
        const Index features = round_up(width_, kGramBlock);
        const LinearOps<T>& ops = linear_simd<T>();
        work.panel.resize(static_cast<std::size_t>(features * kPanelRows));
        work.slots.assign(k * d * kSlots, 0.0);
        work.narrow.resize(gram_ ? k : 0);
        for (auto& sum : work.narrow) sum.reset(width_);
        for (Index first = from; first < to; first += kPanelRows) {
            const int n = static_cast<int>(std::min<Index>(kPanelRows, to - first));
            const int lanes = static_cast<int>(round_up(n, kLaneGroup));
            load_panel(rows_, first, n, features, work.panel.data());
            const H* panel_in_h = nullptr;
            // Where the next panel's rows are, and their second half; the pass over the present one fetches
            // them. Sparse rows are not read this way: their present panel, which is near already, stands in.
            const Index bytes = kPanelRows * rows_.view.row_stride * static_cast<Index>(sizeof(T));
            const char* next = reinterpret_cast<const char*>(work.panel.data());
            if (!rows_.view.sparse)
                next = static_cast<const char*>(rows_.view.values) + (first / kPanelRows + 1) * bytes;
            const char* second = rows_.view.sparse ? next : next + bytes / 2;
            for (std::size_t j = 0; j < k; ++j) {
                ops.decide(work.panel.data(), kPanelRows, static_cast<int>(width_), lanes, job.w + j * d,
                           work.decision, next);
                const int changed = lose(job, j, first, n, lanes, work, part);
                ops.add_gradient(work.panel.data(), kPanelRows, static_cast<int>(width_), lanes, work.slope,
                                 work.slots.data() + j * d * kSlots, second);
                if (!changed || !gram_) continue;
                if (!panel_in_h) panel_in_h = as_h(work, features);
                double* total = part.curvature.data() + j * d * d;
                // Collecting a lane costs about `features` moves, leaving one in the panel features^2 / 32
                // products.
                if (changed * (features + 32) > lanes * features) {
                    work.narrow[j].add_panel(panel_in_h, work.change, lanes, total, width_);
                } else {
                    for (int r = 0; r < n; ++r)
                        if (work.change[r] != H(0))
                            work.narrow[j].add_lane(panel_in_h, r, work.change[r], total, width_);
                }
            }
        }
        for (std::size_t j = 0; j < k; ++j) {
            if (gram_) {
                double* total = part.curvature.data() + j * d * d;
                work.narrow[j].flush(total, width_);
                if (work.narrow[j].pending) work.narrow[j].move_on(total, width_);
            }
            for (std::size_t f = 0; f < d; ++f) {
                const double* s = work.slots.data() + (j * d + f) * kSlots;
                part.gradient[j * d + f] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
            }
        }
    }

    // The panel in the precision of the Gram products.
    static const H* as_h(Workspace& work, Index features) {
        if constexpr (std::is_same_v<T, H>) {
            (void)features;
            return work.panel.data();
        } else {
            work.panel_in_h.resize(static_cast<std::size_t>(features * kPanelRows));
            std::copy_n(work.panel.data(), features * kPanelRows, work.panel_in_h.data());
            return work.panel_in_h.data();
        }
    }

    void run_wide(const Job& job, Index from, Index to, Workspace& work, Part& part) {
        const std::size_t k = job.problems.size(), d = static_cast<std::size_t>(width_);
        if (gram_ && !scatter_) {
            work.wide.resize(k);
            for (auto& sum : work.wide) sum.reset(width_);
        }
        TileRows<T> tile(rows_);
        for (Index first = from; first < to; first += kTileRows) {
            const int n = static_cast<int>(std::min<Index>(kTileRows, to - first));
            const RowReader<T> reader = tile.load(first, n);
            const Index base = first - tile.offset();
            const int lanes = static_cast<int>(round_up(n, kLaneGroup));
            std::fill(work.decision + n, work.decision + lanes, 0.0);
            for (std::size_t j = 0; j < k; ++j) {
                for (int r = 0; r < n; ++r) work.decision[r] = reader.dot(base + r, job.w + j * d);
                const int changed = lose(job, j, first, n, lanes, work, part);
                double* gradient = part.gradient.data() + j * d;
                for (int r = 0; r < n; ++r)
                    if (work.slope[r] != 0.0) reader.add(work.slope[r], base + r, gradient);
                if (diagonal_) {
                    const std::int8_t* state = state_of(job.problems[j]) + first;
                    for (int r = 0; r < n; ++r)
                        if (state[r] != kInside)
                            reader.add_squares(rows_.row_weight(first + r) * curvature_of(job.loss, state[r]),
                                               base + r, part.curvature.data() + j * d);
                } else if (gram_ && changed) {
                    for (int r = 0; r < n; ++r)
                        if (work.change[r] != H(0))
                            add_to_gram(reader, base + r, work.change[r], work, j, part);
                }
            }
        }
        for (std::size_t j = 0; j < work.wide.size() && gram_ && !scatter_; ++j) {
            double* total = part.curvature.data() + j * d * d;
            work.wide[j].flush(total, width_);
            work.wide[j].move_on(total, width_);
        }
    }

    void add_to_gram(const RowReader<T>& reader, Index row, H h, Workspace& work, std::size_t j, Part& part) {
        double* total = part.curvature.data() + j * static_cast<std::size_t>(width_ * width_);
        const Index d = rows_.view.features;
        if (!scatter_) {
            work.wide[j].add_row(
                h,
                [&](H* x) {
                    reader.entries(row, [&](Index k, double value) { x[k] += static_cast<H>(value); });
                    if (rows_.bias != 0.0) x[d] = static_cast<H>(rows_.bias);
                },
                total, width_);
            return;
        }
        // Both halves get their share: the entries of a row come in any order.
        reader.entries(row, [&](Index a, double xa) {
            double* line = total + a * width_;
            const double hx = static_cast<double>(h) * xa;
            reader.entries(row, [&](Index c, double xc) { line[c] += hx * xc; });
            if (rows_.bias != 0.0) line[d] += hx * rows_.bias;
        });
        if (rows_.bias != 0.0) total[d * width_ + d] += static_cast<double>(h) * rows_.bias * rows_.bias;
    }

    PassSums add_up(const Job& job, const std::vector<Part>& parts) {
        const std::size_t k = job.problems.size(), d = static_cast<std::size_t>(width_);
        PassSums sums;
        sums.loss.assign(k, 0.0);
        sums.gradient.assign(k * d, 0.0);
        if (diagonal_) sums.curvature.assign(k * d, 0.0);
        for (const Part& part : parts) {
            for (std::size_t j = 0; j < k; ++j) sums.loss[j] += part.loss[j];
            for (std::size_t e = 0; e < k * d; ++e) sums.gradient[e] += part.gradient[e];
            if (diagonal_)
                for (std::size_t e = 0; e < k * d; ++e) sums.curvature[e] += part.curvature[e];
            for (std::size_t j = 0; gram_ && j < k; ++j) {
                double* total = total_.data() + static_cast<std::size_t>(job.problems[j]) * d * d;
                for (std::size_t e = 0; e < d * d; ++e) total[e] += part.curvature[j * d * d + e];
            }
        }
        if (gram_) {
            sums.curvature.resize(k * d * d);
            for (std::size_t j = 0; j < k; ++j) {
                const double* total = total_.data() + static_cast<std::size_t>(job.problems[j]) * d * d;
                double* out = sums.curvature.data() + j * d * d;
                for (std::size_t a = 0; a < d; ++a)
                    for (std::size_t c = a; c < d; ++c) out[a * d + c] = out[c * d + a] = total[a * d + c];
            }
        }
        return sums;
    }

    const LinearRows& rows_;
    const Index width_;
    const bool gram_, diagonal_, narrow_, scatter_;
    std::vector<std::int8_t> state_;
    std::vector<double> total_;  // the Gram matrices as of the last evaluation, upper triangles
};

}  // namespace

LinearPass::LinearPass(const LinearRows& rows, int n_problems, Curvature curvature) {
    if (!rows.view.single)
        impl_ = std::make_unique<Pass<double, double>>(rows, n_problems, curvature);
    else if (curvature == Curvature::gram_in_double)
        impl_ = std::make_unique<Pass<float, double>>(rows, n_problems, curvature);
    else
        impl_ = std::make_unique<Pass<float, float>>(rows, n_problems, curvature);
}
LinearPass::~LinearPass() = default;

PassSums LinearPass::evaluate(const MarginLoss& loss, const std::vector<int>& problems,
                              const std::int32_t* positive, const double* w, Threads& threads) {
    return impl_->evaluate(loss, problems, positive, w, threads);
}

std::vector<double> LinearPass::times(const MarginLoss& loss, const std::vector<int>& problems,
                                      const double* v, Threads& threads) const {
    return impl_->times(loss, problems, v, threads);
}

// ------------------------------------------------------------------------------------------ smaller passes
namespace {

// f(reader, i) for every row, in tasks.
template <class T, class F>
void for_rows(const LinearRows& rows, Threads& threads, F f) {
    const Index n = rows.view.n, n_tiles = (n + kTileRows - 1) / kTileRows;
    const Index n_tasks = std::max<Index>(1, std::min<Index>(kMaxTasks, n_tiles / 16));
    threads.run(static_cast<std::size_t>(n_tasks), [&](std::size_t t, int) {
        const Index from = n_tiles * static_cast<Index>(t) / n_tasks * kTileRows;
        const Index to = std::min(n, n_tiles * static_cast<Index>(t + 1) / n_tasks * kTileRows);
        TileRows<T> tile(rows);
        for (Index first = from; first < to; first += kTileRows) {
            const int count = static_cast<int>(std::min<Index>(kTileRows, to - first));
            const RowReader<T> reader = tile.load(first, count);
            for (Index i = first; i < first + count; ++i) f(reader, i - tile.offset(), i);
        }
    });
}

template <class T>
bool all_finite(const RowsView& view, Threads& threads) {
    const T* values = static_cast<const T*>(view.values);
    // As one long line where there are no gaps, else line by line along whichever stride is one.
    const bool by_row = view.sparse || view.feature_stride == 1 || view.row_stride != 1;
    Index lines = by_row ? view.n : view.features, length = by_row ? view.features : view.n,
          line_stride = by_row ? view.row_stride : view.feature_stride;
    const Index step = view.sparse ? 1 : by_row ? view.feature_stride : view.row_stride;
    if (view.sparse) {
        lines = 1;
        length = view.start(view.n);
    } else if (step == 1 && line_stride == length) {
        length *= lines;
        lines = 1;
    }
    const Index piece = Index(1) << 16;  // values of a task
    const Index pieces = std::max<Index>(1, (length + piece - 1) / piece);
    const Index group = std::max<Index>(1, piece / std::max<Index>(1, length));  // short lines go together
    const Index n_tasks = (lines + group - 1) / group * pieces;
    std::vector<char> ok(static_cast<std::size_t>(n_tasks), 1);
    threads.run(static_cast<std::size_t>(n_tasks), [&](std::size_t t, int) {
        const Index first = static_cast<Index>(t) / pieces * group,
                    begin = static_cast<Index>(t) % pieces * piece;
        const Index end = std::min(length, begin + piece);
        bool fine = true;
        for (Index line = first; line < std::min(lines, first + group); ++line) {
            const T* x = values + line * line_stride;
            if (step == 1) {
                fine = fine && linear_simd<T>().finite(x + begin, end - begin);
            } else {
                for (Index k = begin; k < end; ++k) fine = fine && x[k * step] - x[k * step] == T(0);
            }
        }
        ok[t] = fine;
    });
    return std::all_of(ok.begin(), ok.end(), [](char c) { return c != 0; });
}

}  // namespace

void linear_decisions(const LinearRows& rows, int n_problems, const double* w, double* decisions,
                      Threads& threads) {
    const Index n = rows.view.n, width = rows.width();
    auto run = [&](auto zero) {
        for_rows<decltype(zero)>(rows, threads, [&](const auto& reader, Index row, Index i) {
            for (int j = 0; j < n_problems; ++j) decisions[j * n + i] = reader.dot(row, w + j * width);
        });
    };
    rows.view.single ? run(0.0f) : run(0.0);
}

bool linear_finite(const RowsView& view, Threads& threads) {
    return view.single ? all_finite<float>(view, threads) : all_finite<double>(view, threads);
}

std::vector<double> linear_squared_norms(const LinearRows& rows, Threads& threads) {
    std::vector<double> norms(static_cast<std::size_t>(rows.view.n));
    auto run = [&](auto zero) {
        for_rows<decltype(zero)>(rows, threads, [&](const auto& reader, Index row, Index i) {
            norms[static_cast<std::size_t>(i)] = reader.squared_norm(row);
        });
    };
    rows.view.single ? run(0.0f) : run(0.0);
    return norms;
}

}  // namespace sodm
