#include "linear/active_newton.hpp"

#include <cmath>
#include <numeric>
#include <optional>

#include "base/linalg.hpp"
#include "base/random.hpp"
#include "linear/line_search.hpp"
#include "linear/packed_triangle.hpp"
#include "linear/row_factor.hpp"
#include "linear/row_values.hpp"

namespace sodm {

namespace {

constexpr int kMaxProducts = 500;          // of one system
constexpr double kUsualProducts = 60;      // a system without a factor takes about so many
constexpr int kTooManyProducts = 40;       // with a fresh factor: its precision is too low
constexpr Index kLargestFactor = 4096;     // rows or features
constexpr int kSweepsOfFew = 5;            // every so many-th sweep is one of all rows
constexpr double kSweptEnough = 1e-3;      // of the low corner of the dead zone: steps of a sweep of all rows
constexpr double kFactorMemory = 1 << 29;  // bytes of all factors

double norm_of(const std::vector<double>& v) {
    return std::sqrt(dot(v.data(), v.data(), static_cast<Index>(v.size())));
}

}  // namespace

struct ActiveNewton::Impl {
    virtual ~Impl() = default;
    virtual double sweep(int n_sweeps, Threads& threads) = 0;
    virtual bool sweeps_pay() const = 0;
    virtual std::vector<double> gradient_at_zero(Threads& threads) = 0;
    virtual void look(const std::vector<int>& problems, Threads& threads) = 0;
    virtual double step(const std::vector<int>& problems, const double* goal, Threads& threads) = 0;
    virtual void begin_with_factors_of(const Impl& other) = 0;
    virtual void factor(Threads& threads) = 0;

    struct Problem {
        std::vector<double> w, gradient, direction;
        std::vector<double> residual;  // -gradient - H direction
        std::vector<double> margin;
        std::vector<std::int8_t> side;  // of the dead zone, see MarginState
        std::vector<Index> active;      // the rows in play
        std::vector<double> h;          // their second derivatives
        double objective = 0, norm = 0, length = 0;
    };
    std::vector<Problem> problems;
    Index width = 0;
};

namespace {

template <class T>
class Newton final : public ActiveNewton::Impl {
  public:
    Newton(const LinearRows& rows, const OdmLoss& loss, const std::vector<std::int32_t>& positive,
           const double* offset, const double* w, const double* basis)
        : rows_(rows),
          loss_(loss),
          positive_(positive),
          offset_(offset),
          list_(rows),
          made_(positive.size()) {
        width = rows.width();
        problems.resize(positive.size());
        const std::size_t n = static_cast<std::size_t>(rows.view.n);
        for (std::size_t j = 0; j < problems.size(); ++j) {
            Problem& p = problems[j];
            p.w.assign(w + static_cast<Index>(j) * width, w + static_cast<Index>(j + 1) * width);
            p.margin.assign(n, 0.0);
            p.side.assign(n, kInside);
        }
        if (basis) basis_.emplace(basis, width);
    }

    bool sweeps_pay() const override { return !basis_ && !factor_pays(rows_.view.n, problems.size()); }

    double sweep(int n_sweeps, Threads& threads) override {
        const std::vector<double> norms = linear_squared_norms(rows_, threads);
        std::vector<double> taken(problems.size());
        threads.run(problems.size(), [&](std::size_t j, int worker) {
            taken[j] = sweep_one(j, n_sweeps, norms, Watch(threads, worker));
        });
        double rows = 0;
        for (const double t : taken) rows += t;
        return rows / static_cast<double>(taken.size()) / static_cast<double>(rows_.view.n);
    }

    // Margins and the gradient in one go over the rows.
    void look(const std::vector<int>& which, Threads& threads) override {
        std::vector<Index> every(static_cast<std::size_t>(rows_.view.n));
        std::iota(every.begin(), every.end(), Index(0));
        each(which, threads, [&](std::size_t k, const Crew& crew) {
            const int j = which[k];
            Problem& p = at(j);
            p.gradient = p.w;
            add_by(
                every, p.w,
                [&](Index i, double f) {
                    double& m = p.margin[static_cast<std::size_t>(i)];
                    m = sign(j, i) * f + offset(j, i);
                    return slope(j, i);
                },
                p.gradient.data(), crew);
            weigh(j);
        });
    }

    // -(1-theta) / low * X'y of each problem; X'y = 2 (sum of its class) - (sum of all rows), weights
    // included.
    std::vector<double> gradient_at_zero(Threads& threads) override {
        const std::size_t k = problems.size(), d = static_cast<std::size_t>(width);
        std::vector<std::vector<double>> of_class(k + 1);  // and of rows of no problem's class
        std::vector<std::vector<Index>> members(k + 1);
        for (Index i = 0; i < rows_.view.n; ++i) {
            const auto found = std::find(positive_.begin(), positive_.end(), rows_.label[i]);
            members[static_cast<std::size_t>(found - positive_.begin())].push_back(i);
        }
        std::vector<double> all(d, 0.0), norms(k);
        for (std::size_t c = 0; c <= k; ++c) {
            std::vector<double> weight;
            for (const Index i : members[c]) weight.push_back(rows_.row_weight(i));
            of_class[c].assign(d, 0.0);
            list_.add(members[c], weight.data(), of_class[c].data(), Crew(threads));
            for (std::size_t e = 0; e < d; ++e) all[e] += of_class[c][e];
        }
        for (std::size_t j = 0; j < k; ++j) {
            for (std::size_t e = 0; e < d; ++e) of_class[j][e] = 2 * of_class[j][e] - all[e];
            if (basis_) basis_->solve_lower(of_class[j].data());
            norms[j] = (1 - loss_.theta) / loss_.low * norm_of(of_class[j]);
        }
        return norms;
    }

    double step(const std::vector<int>& which, const double* goal, Threads& threads) override {
        std::vector<double> products(which.size(), 0.0);
        share_first_factor(which, threads);
        each(which, threads,
             [&](std::size_t k, const Crew& crew) { products[k] = find_direction(which[k], goal[k], crew); });
        std::vector<double> directions;
        for (const int j : which)
            directions.insert(directions.end(), at(j).direction.begin(), at(j).direction.end());
        std::vector<double> along = decide(which, directions, threads);
        each(which, threads, [&](std::size_t k, const Crew& crew) {
            move(which[k], along.data() + static_cast<Index>(k) * rows_.view.n, crew);
        });
        double cost = 0;
        for (const double p : products) cost += p;
        return 1 + cost / static_cast<double>(which.size());
    }

    void begin_with_factors_of(const ActiveNewton::Impl& other) override {
        const auto* same = dynamic_cast<const Newton*>(&other);
        if (!same || same->width != width || same->problems.size() != problems.size()) return;
        for (std::size_t j = 0; j < made_.size(); ++j) {
            const Made& theirs = same->made_[j];
            if (theirs.factor && !theirs.factor->by_rows())
                made_[j] = {theirs.factor, {}, theirs.in_double, theirs.hard};
        }
    }

    void factor(Threads& threads) override {
        std::vector<int> every(problems.size());
        std::iota(every.begin(), every.end(), 0);
        if (!factor_fits(rows_.view.n)) return;
        each(every, threads, [&](std::size_t j, const Crew& crew) {
            if (j > 0 && problems[j].side == problems[0].side) return;  // the same matrix
            made_[j] = {make_factor(problems[j], false, crew), problems[j].side};
        });
        for (std::size_t j = 1; j < made_.size(); ++j)
            if (!made_[j].factor) made_[j] = made_[0];
    }

  private:
    // A factor, and where each row was when it was made; of other rows, where `side` is empty.
    struct Made {
        std::shared_ptr<const RowFactor<T>> factor;
        std::vector<std::int8_t> side;
        bool in_double = false;  // single precision was not enough
        bool hard = false;       // nor were as many products as a factor costs
    };

    Problem& at(int j) { return problems[static_cast<std::size_t>(j)]; }
    double sign(int j, Index i) const {
        return rows_.label[i] == positive_[static_cast<std::size_t>(j)] ? 1.0 : -1.0;
    }
    double offset(int j, Index i) const { return offset_ ? offset_[j * rows_.view.n + i] : 0.0; }

    // f(place in which, who works) for each problem: side by side, and those that are left when all threads
    // have had as many one after the other, with all threads.
    template <class F>
    void each(const std::vector<int>& which, Threads& threads, F f) {
        const std::size_t team = static_cast<std::size_t>(threads.count());
        const std::size_t rest = which.size() % team;
        threads.run(which.size() - rest, [&](std::size_t k, int worker) {
            Threads alone(1);
            f(k, Crew(threads, worker, alone));
        });
        for (std::size_t k = which.size() - rest; k < which.size(); ++k) f(k, Crew(threads));
    }

    // <v, x_i> for all rows. Sparse rows one problem after the other, so that v stays near.
    std::vector<double> decide(const std::vector<int>& which, std::vector<double> v, Threads& threads) const {
        const Index n = rows_.view.n, k = static_cast<Index>(which.size());
        std::vector<double> out(static_cast<std::size_t>(k * n));
        const Index together = rows_.view.sparse ? 1 : k;
        if (basis_)
            for (Index j = 0; j < k; ++j) basis_->solve_upper(v.data() + j * width);
        for (Index j = 0; j < k; j += together)
            linear_decisions(rows_, static_cast<int>(together), v.data() + j * width, out.data() + j * n,
                             threads);
        return out;
    }

    // out += sum_r coefficient[r] x_{list[r]}
    void add(const std::vector<Index>& list, const double* coefficient, double* out, const Crew& crew) const {
        in_basis(out, [&](double* sum) { list_.add(list, coefficient, sum, crew); });
    }
    // out += sum_r by(r, <x_r, v>) x_r
    template <class By>
    void add_by(const std::vector<Index>& list, std::vector<double> v, By by, double* out,
                const Crew& crew) const {
        if (basis_) basis_->solve_upper(v.data());
        in_basis(out, [&](double* sum) { list_.add_by(list, v.data(), by, sum, crew); });
    }
    // What `sum` adds in the basis of the rows, added to out in that of w.
    template <class Sum>
    void in_basis(double* out, Sum sum) const {
        if (!basis_) return sum(out);
        std::vector<double> all(static_cast<std::size_t>(width), 0.0);
        sum(all.data());
        basis_->solve_lower(all.data());
        for (Index k = 0; k < width; ++k) out[k] += all[static_cast<std::size_t>(k)];
    }

    std::int8_t side_of(double m) const {
        return m < 1 - loss_.theta ? kBelow : m > 1 + loss_.theta ? kAbove : kInside;
    }
    // primal'' where the row was
    double curvature(const Problem& p, Index i) const {
        const std::int8_t side = p.side[static_cast<std::size_t>(i)];
        return side == kInside ? 0.0 : rows_.row_weight(i) / (side == kBelow ? loss_.low : loss_.high);
    }
    // The loss's derivative by f, times that of p by the loss.
    double slope(int j, Index i) const {
        const Problem& p = problems[static_cast<std::size_t>(j)];
        const double m = p.margin[static_cast<std::size_t>(i)], s = rows_.row_weight(i);
        const double below = std::min(m - (1 - loss_.theta), 0.0),
                     above = std::max(m - (1 + loss_.theta), 0.0);
        return s > 0.0 ? s * (below / loss_.low + above / loss_.high) * sign(j, i) : 0.0;
    }

    // From the margins and the gradient: sides, rows in play, p.
    void weigh(int j) {
        Problem& p = at(j);
        const double low = 1 - loss_.theta, high = 1 + loss_.theta;
        p.active.clear();
        p.h.clear();
        double total = 0;
        for (Index i = 0; i < rows_.view.n; ++i) {
            const double m = p.margin[static_cast<std::size_t>(i)], s = rows_.row_weight(i);
            const std::int8_t side = side_of(m);
            p.side[static_cast<std::size_t>(i)] = side;
            if (side == kInside || s <= 0.0) continue;
            const double h = s / (side == kBelow ? loss_.low : loss_.high),
                         past = m - (side == kBelow ? low : high);
            p.active.push_back(i);
            p.h.push_back(h);
            total += h * past * past;
        }
        p.objective = 0.5 * (dot(p.w.data(), p.w.data(), width) + total);
        p.norm = norm_of(p.gradient);
    }

    // To the smallest p along the direction.
    void move(int j, double* along, const Crew& crew) {
        Problem& p = at(j);
        for (Index i = 0; i < rows_.view.n; ++i) along[i] *= sign(j, i);
        const double wd = dot(p.w.data(), p.direction.data(), width),
                     dd = dot(p.direction.data(), p.direction.data(), width);
        p.length = line_search(loss_, rows_.weight, p.margin.data(), along, rows_.view.n, wd, dd, crew);
        for (Index k = 0; k < width; ++k)
            p.w[static_cast<std::size_t>(k)] += p.length * p.direction[static_cast<std::size_t>(k)];
        // Along d the gradient changes by length H d, and by what rows that change sides have done otherwise.
        // The conjugate gradients have left a residual of H d = -gradient.
        for (std::size_t k = 0; k < p.w.size(); ++k)
            p.gradient[k] -= p.length * (p.gradient[k] + p.residual[k]);
        std::vector<Index> changed;
        std::vector<double> by;
        for (Index i = 0; i < rows_.view.n; ++i) {
            const double before = slope(j, i) + p.length * curvature(p, i) * along[i] * sign(j, i);
            p.margin[static_cast<std::size_t>(i)] += p.length * along[i];
            if (side_of(p.margin[static_cast<std::size_t>(i)]) == p.side[static_cast<std::size_t>(i)])
                continue;
            changed.push_back(i);
            by.push_back(slope(j, i) - before);
        }
        add(changed, by.data(), p.gradient.data(), crew);
        weigh(j);
    }

    // ------------------------------------------------------------------------------------------ systems

    // Whether there may be a factor for so many rows in play.
    bool factor_fits(Index n_active) const {
        const Index size = std::min(n_active, width);
        const double memory = static_cast<double>(size) * static_cast<double>(size) * 2;  // half of floats
        return !rows_.view.sparse && !basis_ && size <= kLargestFactor &&
               memory * static_cast<double>(problems.size()) <= kFactorMemory;
    }

    // What it costs, in products that do without it.
    double products_of_factor(Index n_active) const {
        return factor_cost(n_active, width) / (2 * static_cast<double>(n_active * width));
    }

    // Whether a factor that serves so many problems costs less than the products that would do without it.
    bool factor_pays(Index n_active, std::size_t shared_by) const {
        return factor_fits(n_active) &&
               products_of_factor(n_active) <= kUsualProducts * static_cast<double>(shared_by);
    }

    std::shared_ptr<const RowFactor<T>> make_factor(const Problem& p, bool in_double,
                                                    const Crew& crew) const {
        const float* gram = gram_.empty() ? nullptr : gram_.data();
        return std::make_shared<RowFactor<T>>(list_, width, rows_.bias, p.active, p.h, gram, rows_.view.n,
                                              in_double, crew);
    }

    // At w = 0 all rows are in play, on the same side, in every problem: one matrix.
    void share_first_factor(const std::vector<int>& which, Threads& threads) {
        const Crew crew(threads);
        const Index n = rows_.view.n;
        for (const int j : which) {
            const Made& made = made_[static_cast<std::size_t>(j)];
            if (made.factor || at(j).side != at(which[0]).side) return;
        }
        if (at(which[0]).active.empty() ||
            !factor_pays(static_cast<Index>(at(which[0]).active.size()), which.size()))
            return;
        // Rows fewer than features: all products of rows, once, serve every later factor.
        if (gram_.empty() && n < width && n <= kLargestFactor)
            gram_ = row_gram(list_, n, width, rows_.bias, crew);
        const auto factor = make_factor(at(which[0]), false, crew);
        for (const int j : which) made_[static_cast<std::size_t>(j)] = {factor, at(j).side, false, false};
    }

    // Returns how many products with all rows this is worth.
    double find_direction(int j, double goal, const Crew& crew) {
        Problem& p = at(j);
        Made& made = made_[static_cast<std::size_t>(j)];
        const Index m = static_cast<Index>(p.active.size());
        p.direction.assign(static_cast<std::size_t>(width), 0.0);
        if (m == 0) {  // H = I
            for (Index k = 0; k < width; ++k)
                p.direction[static_cast<std::size_t>(k)] = -p.gradient[static_cast<std::size_t>(k)];
            p.residual.assign(static_cast<std::size_t>(width), 0.0);
            return 0;
        }
        // A system that has taken more products than a factor costs is no usual one, and those after it are
        // like it.
        const bool fits = factor_fits(m), pays = factor_pays(m, 1) || (fits && made.hard);
        bool fresh = false;
        int patience = kMaxProducts;
        if (fits && !pays) patience = std::min(patience, static_cast<int>(products_of_factor(m)));
        if (made.factor) {
            const bool others = made.side.empty();
            Index changed = 0;
            if (!others)
                for (std::size_t i = 0; i < p.side.size(); ++i) changed += p.side[i] != made.side[i];
            fresh = changed == 0 && !others;
            // As many products with the old factor as a new one would cost. A row that has changed takes one
            // product at worst, and few products do for all if they are a small part.
            const double size = static_cast<double>(made.factor->size()), d = static_cast<double>(width);
            const double iteration =
                2 * static_cast<double>(m) * d + size * size + (made.factor->by_rows() ? 2 * size * d : 0);
            const double worth =
                std::max(4.0, (gram_.empty() ? 1.0 : 0.25) * factor_cost(m, width) / iteration);
            if (!fresh && pays) patience = static_cast<int>(worth);
            if (static_cast<double>(changed) > 4 * worth && changed > m / 4) made.factor.reset();
        }
        const auto make = [&] {
            made.factor = make_factor(p, made.in_double, crew);
            made.side = p.side;
            fresh = true;
        };
        if (!made.factor && pays) make();
        int products = 0;
        bool solved = solve(p, made, goal, patience, crew, products);
        if (!solved && !fresh && fits) {
            made.hard |= !pays;
            make();
            solved = solve(p, made, goal, kMaxProducts, crew, products);
        }
        const bool doubtful = fresh && !made.factor->in_double();
        if (doubtful && !solved) {  // rounding has cost it too much: what there is of a direction is no start
            made.in_double = true;
            make();
            p.direction.assign(static_cast<std::size_t>(width), 0.0);
            solve(p, made, goal, kMaxProducts, crew, products);
        } else if (doubtful && products > kTooManyProducts) {
            made.in_double = true;  // from the next step on
            made.factor.reset();
        }
        return products * static_cast<double>(m) / static_cast<double>(rows_.view.n);
    }

    // Conjugate gradients for H d = -gradient from the d there is, until the residual is `goal` of the
    // gradient; whether it got there in `limit` products, which are counted.
    bool solve(Problem& p, const Made& made, double goal, int limit, const Crew& crew, int& count) const {
        const std::size_t d = static_cast<std::size_t>(width);
        std::vector<double> z(d), u, product(d), diagonal;
        std::vector<double>& residual = p.residual;
        residual.resize(d);
        const auto times = [&](const std::vector<double>& v) {
            product = v;
            add_by(
                p.active, v, [&](Index r, double f) { return p.h[static_cast<std::size_t>(r)] * f; },
                product.data(), crew);
        };
        if (!made.factor) {
            diagonal.assign(d, 1.0);
            if (!basis_) list_.add_squares(p.active, p.h.data(), diagonal.data(), crew);
        }
        const auto precondition = [&] {
            if (made.factor)
                made.factor->solve(residual.data(), z.data(), crew);
            else
                for (std::size_t k = 0; k < d; ++k) z[k] = residual[k] / diagonal[k];
        };
        for (std::size_t k = 0; k < d; ++k) residual[k] = -p.gradient[k];
        int products = 0;
        if (norm_of(p.direction) > 0) {
            times(p.direction);
            for (std::size_t k = 0; k < d; ++k) residual[k] -= product[k];
            ++products;
        }
        const double bound = goal * p.norm;
        precondition();
        u = z;
        double rho = dot(residual.data(), z.data(), width);
        while (products < limit && norm_of(residual) > bound && rho > 0) {
            times(u);
            ++products;
            const double alpha = rho / dot(u.data(), product.data(), width);
            for (std::size_t k = 0; k < d; ++k) {
                p.direction[k] += alpha * u[k];
                residual[k] -= alpha * product[k];
            }
            if (norm_of(residual) <= bound) break;
            precondition();
            const double before = rho;
            rho = dot(residual.data(), z.data(), width);
            for (std::size_t k = 0; k < d; ++k) u[k] = z[k] + rho / before * u[k];
        }
        count += products;
        return norm_of(residual) <= bound;
    }

    // ------------------------------------------------------------------------------------------- start

    // Returns how many rows were taken.
    double sweep_one(std::size_t j, int n_sweeps, const std::vector<double>& norms, Watch watch) {
        const RowReader<T>& reader = list_.reader();
        Problem& p = problems[j];
        std::vector<Index> every, order;
        for (Index i = 0; i < rows_.view.n; ++i)
            if (rows_.row_weight(i) > 0) every.push_back(i);
        std::vector<double> g(static_cast<std::size_t>(rows_.view.n), 0.0);
        std::fill(p.w.begin(), p.w.end(), 0.0);
        Random random(j + 1);
        double taken = 0;
        for (int sweep = 0; sweep < n_sweeps; ++sweep) {
            if (sweep % kSweepsOfFew == 0) order = every;
            random.shuffle(order);
            taken += static_cast<double>(order.size());
            std::size_t kept = 0;
            double largest = 0;
            for (std::size_t t = 0; t < order.size(); ++t) {
                if (t + kRowsAhead < order.size()) reader.prefetch(order[t + kRowsAhead]);
                const Index i = order[t];
                const std::size_t row = static_cast<std::size_t>(i);
                const double y = sign(static_cast<int>(j), i), q = norms[row];
                const double m = y * reader.dot(i, p.w.data()) + offset(static_cast<int>(j), i);
                const double target = loss_.prox(q * g[row] - m, q, rows_.row_weight(i)),
                             change = target - g[row];
                watch.did(2 * reader.size(i));
                if (change != 0.0) {
                    largest = std::max(largest, loss_.moved(g[row], target, q, rows_.row_weight(i)));
                    g[row] = target;
                    reader.add(change * y, i, p.w.data());
                }
                if (target != 0.0 || change != 0.0) order[kept++] = i;
            }
            order.resize(kept);
            if (sweep % kSweepsOfFew == 0 && largest <= kSweptEnough * (1 - loss_.theta)) break;
        }
        return taken;
    }

    const LinearRows& rows_;
    const OdmLoss loss_;
    const std::vector<std::int32_t> positive_;
    const double* offset_;
    const RowList<T> list_;
    std::optional<PackedTriangle<T>> basis_;
    std::vector<Made> made_;
    std::vector<float> gram_;  // of all rows, where they are fewer than the features
};

}  // namespace

ActiveNewton::ActiveNewton(const LinearRows& rows, const OdmLoss& loss,
                           const std::vector<std::int32_t>& positive, const double* offset, const double* w,
                           const double* basis) {
    if (rows.view.single)
        impl_ = std::make_unique<Newton<float>>(rows, loss, positive, offset, w, basis);
    else
        impl_ = std::make_unique<Newton<double>>(rows, loss, positive, offset, w, basis);
}
ActiveNewton::~ActiveNewton() = default;

double ActiveNewton::sweep(int n_sweeps, Threads& threads) { return impl_->sweep(n_sweeps, threads); }
bool ActiveNewton::sweeps_pay() const { return impl_->sweeps_pay(); }
void ActiveNewton::look(const std::vector<int>& problems, Threads& threads) {
    impl_->look(problems, threads);
}
std::vector<double> ActiveNewton::gradient_at_zero(Threads& threads) {
    return impl_->gradient_at_zero(threads);
}
double ActiveNewton::step(const std::vector<int>& problems, const double* goal, Threads& threads) {
    return impl_->step(problems, goal, threads);
}
void ActiveNewton::begin_with_factors_of(const ActiveNewton& other) {
    impl_->begin_with_factors_of(*other.impl_);
}
void ActiveNewton::factor(Threads& threads) { impl_->factor(threads); }
int ActiveNewton::n_problems() const { return static_cast<int>(impl_->problems.size()); }
Index ActiveNewton::width() const { return impl_->width; }
const double* ActiveNewton::w(int j) const { return impl_->problems[static_cast<std::size_t>(j)].w.data(); }
double ActiveNewton::objective(int j) const { return impl_->problems[static_cast<std::size_t>(j)].objective; }
double ActiveNewton::gradient_norm(int j) const { return impl_->problems[static_cast<std::size_t>(j)].norm; }
double ActiveNewton::length(int j) const { return impl_->problems[static_cast<std::size_t>(j)].length; }

}  // namespace sodm
