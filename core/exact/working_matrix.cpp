#include "exact/working_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/linalg.hpp"
#include "kernel/products.hpp"

namespace sodm {

namespace {

constexpr int kMaxCg = 300;
constexpr Index kPool = 4096;     // rows the landmarks are searched in
constexpr Index kLocalRank = 64;  // landmarks where the spectrum is flat
// Rows that have left the active set are few if they are less than this share of the working set: evaluating
// their kernel values again is then less work than a product with the whole matrix, also of many features.
constexpr Index kFew = 64;

// Factoring the system of m rows costs as much as about m / 100 products with a Nystrom preconditioner, whose
// values come from memory (86 and 10 billion multiplications a second on two cores). A step that has taken so
// many is factored, and so are all after it: that is not much slower than the better way, whichever it is. On
// a level that has taken half as many again, a fourth of them is enough.
constexpr Index kRowsPerProduct = 100;
constexpr Index kOfLevel = 3, kOfStep = 2;  // halves of it
constexpr Index kShortest = 4;
constexpr Index kLeastProducts = 8;
// Of more rows than this a factor takes seconds, and steps on which rows still come and go by the hundred
// need a new one each: there the step itself must have taken so many.
constexpr Index kDear = 8000;
// Where no more than this share has come and gone since the last step, the next ones will do with the factor.
constexpr Index kSettled = 32;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// More landmarks save conjugate gradient steps of n^2, and cost n rank^2.
Index rank_for(Index n) { return std::min<Index>({n / 3, static_cast<Index>(6.5 * std::sqrt(n)), 600}); }

}  // namespace

// --------------------------------------------------------------------------------------------- DenseMatrix

template <class T>
DenseMatrix<T>::DenseMatrix(const KernelSource<T>& source, const std::vector<Index>& rows,
                            bool maybe_indefinite, Threads& threads)
    : n_(static_cast<Index>(rows.size())),
      maybe_indefinite_(maybe_indefinite),
      threads_(threads),
      k_(at(n_ * n_)) {
    const Subset all{rows.data(), n_};
    kernel_block(source, all, all, k_.data(), n_, threads);
}

template <class T>
void DenseMatrix<T>::multiply(const std::vector<const Values*>& x, std::vector<Values>& y) {
    y.resize(x.size());
    for (std::size_t v = 0; v < x.size(); ++v) {
        y[v].resize(at(n_));
        for (Index i = 0; i < n_; ++i) y[v][at(i)] = dot(k_.data() + i * n_, x[v]->data(), n_);
    }
}

template <class T>
bool DenseMatrix<T>::solve(const std::vector<Step*>& steps, double shift) {
    for (Step* step : steps) {
        std::vector<Index> active;
        for (Index i = 0; i < n_; ++i)
            if (step->inverse_d[at(i)] > 0) active.push_back(i);
        const auto m = static_cast<Index>(active.size());
        Values matrix(at(m * m)), b(at(m));
        double trace = 0, jitter = 0;
        while (true) {
            for (Index r = 0; r < m; ++r) {
                const double* row = k_.data() + active[at(r)] * n_;
                for (Index c = 0; c <= r; ++c) matrix[at(r * m + c)] = row[active[at(c)]];
                if (jitter == 0) trace += row[active[at(r)]];
                matrix[at(r * m + r)] += 1 / step->inverse_d[at(active[at(r)])] + shift + jitter;
                b[at(r)] = step->target[at(active[at(r)])];
            }
            if (cholesky(matrix.data(), m, threads_)) break;
            if (maybe_indefinite_) return false;
            jitter = std::max({4 * jitter, static_cast<double>(std::numeric_limits<T>::epsilon()) * trace,
                               std::numeric_limits<double>::min()});
            if (!(jitter < std::numeric_limits<double>::max())) throw std::invalid_argument(kNotFinite);
        }
        cholesky_solve(matrix.data(), m, b.data());
        std::fill(step->x.begin(), step->x.end(), 0.0);
        for (Index r = 0; r < m; ++r) step->x[at(active[at(r)])] = b[at(r)];
    }
    std::vector<const Values*> x;
    std::vector<Values> kx;
    for (Step* step : steps) x.push_back(&step->x);
    multiply(x, kx);
    for (std::size_t v = 0; v < steps.size(); ++v) steps[v]->kx = std::move(kx[v]);
    return true;
}

template <class T>
void DenseMatrix<T>::relax(Machine& machine, const OdmLoss& loss, double shift, HeldBias*) {
    Values change(at(n_), 0.0);
    if (!relax_block(machine, loss, shift, 0, static_cast<int>(n_), k_.data(), n_, 3, change.data())) return;
    std::vector<Values> f;
    multiply({&machine.a}, f);
    for (std::size_t i = 0; i < machine.size(); ++i) machine.f[i] = f[0][i] + shift * machine.a[i];
    machine.add_base(machine.f);
}

// ----------------------------------------------------------------------------------------- IterativeMatrix

template <class T>
void IterativeMatrix<T>::begin_level(bool packed, bool wide) {
    packed_ = packed;
    wide_ = wide;
    was_hard_ |= factors();
    own_.clear();
}

template <class T>
void IterativeMatrix<T>::assign(const std::vector<Index>& rows) {
    gram_.assign(rows, packed_, wide_);
    const Index rank = rank_for(gram_.size());
    factor_.choose(gram_.rows(), local_ ? std::min(rank, kLocalRank) : rank, kPool, seed_, wide_);
    factor_.set_rows(gram_.rows(), 0);
    residuals_.clear();
    for (Own& own : own_) {
        own.nystrom.reset();
        own.factor.reset();
        own.singular = false;
        own.active.clear();
    }
    take_residuals();
}

// K - F'F on the tiles of the diagonal.
template <class T>
void IterativeMatrix<T>::take_residuals() {
    if (!local_) return;
    const SimdOps<T>& ops = simd<T>();
    const Index rank = factor_.rank(), known = static_cast<Index>(residuals_.size()), tiles = factor_.tiles();
    residuals_.resize(at(tiles));
    std::vector<Workspace<T>> work(at(threads_.count()));
    std::vector<Buffer<T>> room(at(threads_.count()));
    threads_.run(at(tiles - known), [&](std::size_t k, int worker) {
        const Index t = known + static_cast<Index>(k);
        Buffer<T>& own = residuals_[at(t)];
        own.resize(at(kTile * kTile));
        const T* kernel = gram_.diagonal_tile(t, work[at(worker)], room[at(worker)]);
        const T* f = factor_.tile(t);
        const Index count = std::min<Index>(kTile, gram_.size() - t * kTile);
        for (int p = 0; p < kTile; p += kPanel<T>)
            ops.pair_dense(Pairing::product, f, 1, kTile, kTile, static_cast<int>(rank), f + p, kTile,
                           own.data() + p, kTile, false);
        for (Index r = 0; r < kTile; ++r)
            for (Index c = 0; c < kTile; ++c)
                own[at(r * kTile + c)] =
                    r < count && c < count ? kernel[r * kTile + c] - own[at(r * kTile + c)] : T(0);
    });
}

template <class T>
void IterativeMatrix<T>::append(const std::vector<Index>& rows) {
    const Index before = gram_.size();
    gram_.append(rows);
    factor_.set_rows(gram_.rows(), before);
    residuals_.resize(std::min(residuals_.size(), at(before / kTile)));
    take_residuals();
}

template <class T>
void IterativeMatrix<T>::multiply(const std::vector<const Values*>& x, std::vector<Values>& y) {
    multiply(x, std::vector<char>(x.size() * at(gram_.tile_rows()), 1), y);
}

// The same for some tiles of each product; the other values of y are kept.
template <class T>
void IterativeMatrix<T>::multiply(const std::vector<const Values*>& x, const std::vector<char>& wanted,
                                  std::vector<Values>& y) {
    const std::size_t n = at(gram_.size());
    Values in, out;
    y.resize(x.size());
    for (std::size_t v = 0; v < x.size(); ++v) {
        y[v].resize(n, 0.0);
        in.insert(in.end(), x[v]->begin(), x[v]->end());
        out.insert(out.end(), y[v].begin(), y[v].end());
    }
    gram_.apply(in.data(), static_cast<int>(x.size()), out.data(), wanted.data());
    for (std::size_t v = 0; v < x.size(); ++v)
        y[v].assign(out.begin() + static_cast<Index>(v * n), out.begin() + static_cast<Index>((v + 1) * n));
}

// K x of where the steps start. Where x is the machine's own a but for the rows that have left A, that is
// K a, which the machine has as f, less the product of those rows: of few of them next to nothing.
template <class T>
void IterativeMatrix<T>::start_products(const std::vector<Step*>& steps, double shift) {
    const Index n = gram_.size();
    std::vector<const Values*> unknown;
    std::vector<Step*> owners;
    for (Step* step : steps) {
        const Machine& machine = *step->machine;
        std::vector<Index> left;
        Values by;
        for (Index i = 0; i < n && step->goes_on; ++i)
            if (step->inverse_d[at(i)] == 0 && machine.a[at(i)] != 0) {
                left.push_back(gram_.rows()[at(i)]);
                by.push_back(machine.a[at(i)]);
            }
        if (!step->goes_on || machine.relaxed || static_cast<Index>(left.size()) * kFew > n) {
            unknown.push_back(&step->x);
            owners.push_back(step);
            continue;
        }
        step->kx.resize(at(n));
        for (std::size_t i = 0; i < at(n); ++i)
            step->kx[i] = machine.f[i] - shift * machine.a[i] - machine.base_at(i);
        if (left.empty()) continue;
        Values out(at(n));
        kernel_apply(source_, Subset{left.data(), static_cast<Index>(left.size())},
                     Subset{gram_.rows().data(), n}, by.data(), 1, out.data(), threads_);
        for (std::size_t i = 0; i < at(n); ++i) step->kx[i] -= out[i];
    }
    if (unknown.empty()) return;
    std::vector<Values> products;
    multiply(unknown, products);
    for (std::size_t v = 0; v < owners.size(); ++v) owners[v]->kx = std::move(products[v]);
}

// Conjugate gradients bring K x up to date where there are active rows; `active` says of each tile whether it
// has any, and the others are looked at once, at the end. So is all of K x where the start was far away: the
// rounding of its product, which may be a thousand times larger, is in all that was added to it.
template <class T>
struct IterativeMatrix<T>::Run {
    Step* step;
    Values d, inverse, r, z, p;
    std::vector<char> active;
    double rz = 0;
    double value =
        0;  // of the system's dual, t'x - 1/2 x'(K + D)x = 1/2 x'(t + r): grows towards the optimum's
    NystromPreconditioner<T>* nystrom = nullptr;
    const ActiveFactor<T>* factor = nullptr;  // instead of it
    int products = 0, patience = kMaxCg;      // after so many the system is factored

    // The duality gap that the residual stands for.
    double gap() const {
        double sum = 0;
        for (std::size_t i = 0; i < r.size(); ++i) sum += r[i] * r[i] * inverse[i];
        return sum / 2;
    }
};

template <class T>
typename IterativeMatrix<T>::Own& IterativeMatrix<T>::own(const Run& run) {
    if (own_.size() <= run.step->number) own_.resize(run.step->number + 1);
    return own_[run.step->number];
}

// How many rows have come and gone since the machine's last system.
template <class T>
Index IterativeMatrix<T>::Own::follow(const Values& d) {
    active.resize(d.size(), 0);  // rows that were appended are new
    Index changed = 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
        changed += (active[i] != 0) != (d[i] > 0);
        active[i] = d[i] > 0;
    }
    return changed;
}

// The preconditioner that a machine begins with: Nystrom, or where that has been too weak a factor.
template <class T>
void IterativeMatrix<T>::precondition(Run& run) {
    Own& mine = own(run);
    const Index changed = mine.follow(run.d);
    const bool may_factor = can_factor(gram_.size()) && !mine.singular;
    const Index active = std::count_if(run.d.begin(), run.d.end(), [](double d) { return d > 0; });
    const bool dear = active > kDear && changed * kSettled > active &&
                      !(mine.factor && mine.factor->suits(gram_, run.d.data()));
    if (may_factor && mine.hard && !dear) return factor(run);
    use_nystrom(run);
    if (!may_factor) return;
    const Index worth = std::max(kLeastProducts, active / kRowsPerProduct);
    const Index left = kOfLevel * worth / kOfStep - mine.products;
    run.patience = static_cast<int>(dear ? worth : std::clamp(left, worth / kShortest, worth));
}

// Rows that were appended since the last time are rows that have come into the machine's system.
template <class T>
void IterativeMatrix<T>::use_nystrom(Run& run) {
    auto& nystrom = own(run).nystrom;
    if (!nystrom) nystrom = std::make_unique<NystromPreconditioner<T>>(factor_, residuals_, threads_);
    nystrom->set(run.inverse.data());
    run.nystrom = nystrom.get();
    run.factor = nullptr;
}

// Conjugate gradients begin anew from where they are, with the system's own factor. Where rounding does not
// let it be factored, they go on as they were.
template <class T>
void IterativeMatrix<T>::factor(Run& run) {
    Own& mine = own(run);
    mine.hard = true;
    if (!mine.factor) mine.factor = std::make_unique<ActiveFactor<T>>(threads_);
    run.patience = kMaxCg;
    run.rz = 0;
    if (mine.factor->update(gram_, run.d.data()) || mine.factor->factor(gram_, run.d.data())) {
        run.factor = mine.factor.get();
        return;
    }
    mine.factor.reset();
    mine.singular = true;
    if (!run.nystrom) use_nystrom(run);
}

template <class T>
void IterativeMatrix<T>::finish_products(std::vector<Run>& runs) {
    std::vector<const Values*> x;
    std::vector<Values> kx;
    std::vector<char> wanted;
    bool any = false;
    for (Run& run : runs) {
        x.push_back(&run.step->x);
        kx.push_back(std::move(run.step->kx));
        for (char active : run.active) {
            wanted.push_back(!active || !run.step->goes_on);
            any |= wanted.back() != 0;
        }
    }
    if (any) multiply(x, wanted, kx);
    for (std::size_t v = 0; v < runs.size(); ++v) runs[v].step->kx = std::move(kx[v]);
}

template <class T>
bool IterativeMatrix<T>::solve(const std::vector<Step*>& steps, double shift) {
    const Index n = gram_.size();
    std::vector<Run> runs(steps.size());
    std::vector<Run*> running;
    start_products(steps, shift);
    for (std::size_t v = 0; v < steps.size(); ++v) {
        Run& run = runs[v];
        run.step = steps[v];
        run.active.assign(at(gram_.tile_rows()), 0);
        for (Values* values : {&run.d, &run.inverse, &run.r, &run.z, &run.p}) values->assign(at(n), 0.0);
        for (std::size_t i = 0; i < run.d.size(); ++i)
            if (run.step->inverse_d[i] > 0) {
                run.d[i] = 1 / run.step->inverse_d[i] + shift;
                run.inverse[i] = 1 / run.d[i];
                run.active[i / at(kTile)] = 1;
                const double t = run.step->target[i], x = run.step->x[i];
                run.r[i] = t - run.step->kx[i] - run.d[i] * x;
                run.value += 0.5 * x * (t + run.r[i]);
            }
        precondition(run);
        running.push_back(&run);
    }
    std::vector<Values> out;
    for (int iteration = 0; iteration < kMaxCg; ++iteration) {
        std::vector<Run*> still;
        std::vector<const Values*> in;
        std::vector<char> wanted;
        for (Run* run : running) {
            if (run->gap() <= run->step->cg_target + run->step->cg_share * run->value) continue;
            if (run->products >= run->patience) factor(*run);
            if (run->factor)
                run->factor->apply(run->r.data(), n, run->z.data());
            else
                run->nystrom->apply(run->r.data(), run->z.data());
            const double rz = dot(run->r.data(), run->z.data(), n);
            if (!(rz > 0)) continue;
            const double beta = run->rz > 0 ? rz / run->rz : 0.0;
            for (std::size_t i = 0; i < run->p.size(); ++i) run->p[i] = run->z[i] + beta * run->p[i];
            run->rz = rz;
            still.push_back(run);
            in.push_back(&run->p);
            wanted.insert(wanted.end(), run->active.begin(), run->active.end());
        }
        running = still;
        if (running.empty()) break;
        multiply(in, wanted, out);
        bool iterates = false;
        for (Run* run : running) {
            if (run->factor) continue;
            ++run->products;
            ++own(*run).products;
            iterates = true;
        }
        products_ += iterates;
        for (std::size_t v = 0; v < running.size(); ++v) {
            Run& run = *running[v];
            const Values& kp = out[v];
            double curvature = 0;
            for (std::size_t i = 0; i < kp.size(); ++i) curvature += run.p[i] * (kp[i] + run.d[i] * run.p[i]);
            if (!(curvature > 0)) {
                if (maybe_indefinite_) return false;
                run.r.assign(at(n), 0.0);  // no further: the next look finds nothing left to do
                continue;
            }
            const double length = run.rz / curvature;
            run.value += 0.5 * length * run.rz;
            for (std::size_t i = 0; i < kp.size(); ++i) {
                if (!run.active[i / at(kTile)]) continue;
                run.step->kx[i] += length * kp[i];
                if (run.inverse[i] == 0) continue;
                run.step->x[i] += length * run.p[i];
                run.r[i] -= length * (kp[i] + run.d[i] * run.p[i]);
            }
        }
    }
    finish_products(runs);
    return true;
}

template <class T>
void IterativeMatrix<T>::relax(Machine& machine, const OdmLoss& loss, double shift, HeldBias* bias) {
    constexpr int kSweeps = 10;
    machine.relaxed = true;
    Buffer<T> without(bias ? at(kTile * kTile) : 0);  // the block less the constant
    gram_.relax(machine.f.data(), [&](Index first, int count, const T* block, T* change) {
        if (bias) {
            const auto constant = static_cast<T>(bias->scale());
            std::transform(block, block + kTile * count, without.data(), [&](T k) { return k - constant; });
            relax_block(machine, loss, shift, first, count, without.data(), kTile, kSweeps, change,
                        bias->scale(), bias->raise());
            bias->add(std::accumulate(change, change + count, 0.0));
        } else {
            relax_block(machine, loss, shift, first, count, block, kTile, kSweeps, change);
        }
    });
}

template class DenseMatrix<float>;
template class DenseMatrix<double>;
template class IterativeMatrix<float>;
template class IterativeMatrix<double>;

}  // namespace sodm
