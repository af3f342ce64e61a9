// The linear machine: the fused pass against sums by the definition, in every form and instruction set; the
// sequential loops; any number of threads.
#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "linear/ball_cover.hpp"
#include "linear/dual_sweep.hpp"
#include "linear/linear_pass.hpp"
#include "linear/row_values.hpp"
#include "linear/svrg_steps.hpp"
#include "points.hpp"

using namespace sodm;
using namespace sodm::test;

namespace {

constexpr Form kForms[] = {Form::rows,  Form::columns, Form::single_rows,
                           Form::csr32, Form::csr64,   Form::single_csr32};
const OdmLoss kLoss = OdmLoss::of_scale(1.0, 0.4, 0.3);

// Rows with labels 0, 1, 2 and weights, some of them zero.
struct Rows {
    Data data;
    std::vector<std::int32_t> label;
    std::vector<double> weight;
    double bias;

    Rows(Index n, Index features, double density, double bias_)
        : data(n, features, density, 3, 2.0, -1.0), label(at(n)), weight(at(n)), bias(bias_) {
        for (Index i = 0; i < n; ++i) {
            label[at(i)] = static_cast<std::int32_t>((i * 7) % 3);
            weight[at(i)] = static_cast<double>(i % 5) / 2;
        }
    }
    LinearRows linear(Form form) const { return {data.view(form), label.data(), weight.data(), bias}; }
    double feature(Index i, Index k) const {
        return k < data.features ? data.rows[at(i * data.features + k)] : bias;
    }
    Index width() const { return data.features + (bias != 0 ? 1 : 0); }
    double decide(Index i, const double* w) const {
        double f = 0;
        for (Index k = 0; k < width(); ++k) f += w[k] * feature(i, k);
        return f;
    }
};

std::vector<double> some_weights(Index n, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0.0, 0.5);
    std::vector<double> w(at(n));
    for (double& v : w) v = normal(random);
    return w;
}

// The derivative of OdmLoss::slope for a row of weight 1.
double curvature(double m) {
    return m < 1 - kLoss.theta ? 1 / kLoss.low : m > 1 + kLoss.theta ? 1 / kLoss.high : 0.0;
}

void pass_is_the_sum(const Rows& rows, Form form, Curvature kind, const std::string& where) {
    const LinearRows linear = rows.linear(form);
    const Index d = rows.width();
    const double coarse = linear.view.single && kind == Curvature::gram ? 1e-4 : 1e-9;
    LinearPass pass(linear, 3, kind);
    Threads threads(3);
    for (unsigned round = 0; round < 3; ++round) {  // later rounds add only what has changed
        const std::vector<int> problems = round < 2 ? std::vector<int>{0, 1, 2} : std::vector<int>{2, 0};
        const std::vector<std::int32_t> positive(problems.begin(), problems.end());
        const auto w = some_weights(d * static_cast<Index>(problems.size()), 10 + round);
        const auto v = some_weights(d * static_cast<Index>(problems.size()), 20 + round);
        const PassSums sums = pass.evaluate(kLoss, problems, positive.data(), w.data(), threads);
        const auto product = pass.times(kLoss, problems, v.data(), threads);
        for (std::size_t j = 0; j < problems.size(); ++j) {
            double loss = 0;
            std::vector<double> gradient(at(d)), times(at(d)), gram(at(d * d));
            for (Index i = 0; i < rows.data.n; ++i) {
                const double y = rows.label[at(i)] == positive[j] ? 1.0 : -1.0;
                const double m = y * rows.decide(i, w.data() + static_cast<Index>(j) * d);
                const double s = rows.weight[at(i)], h = s * curvature(m);
                loss += 2 * kLoss.primal(m, s);
                const double along = rows.decide(i, v.data() + static_cast<Index>(j) * d);
                for (Index k = 0; k < d; ++k) {
                    gradient[at(k)] += kLoss.slope(m, s) * y * rows.feature(i, k);
                    times[at(k)] += h * along * rows.feature(i, k);
                    for (Index c = 0; c < d; ++c)
                        gram[at(k * d + c)] += h * rows.feature(i, k) * rows.feature(i, c);
                }
            }
            CHECK_NEAR(sums.loss[j], loss, 1e-9, where);
            for (Index k = 0; k < d; ++k) {
                const std::size_t e = j * at(d) + at(k);
                CHECK_NEAR(sums.gradient[e], gradient[at(k)], 1e-9, where);
                CHECK_NEAR(product[e], times[at(k)], 1e-9, where);
                if (kind == Curvature::diagonal)
                    CHECK_NEAR(sums.curvature[e], gram[at(k * d + k)], 1e-9, where);
                if (kind == Curvature::gram || kind == Curvature::gram_in_double)
                    for (Index c = 0; c < d; ++c)
                        CHECK_NEAR(sums.curvature[e * at(d) + at(c)], gram[at(k * d + c)], coarse, where);
            }
        }
    }
}

void passes(const std::string& set) {
    for (Index features : {1, 5, 18, 60})
        for (Index n : {1, 17, 300}) {
            const Rows rows(n, features, 0.4, features == 5 ? 0.0 : 1.5);
            for (Form form : kForms)
                for (Curvature kind :
                     {Curvature::none, Curvature::gram, Curvature::gram_in_double, Curvature::diagonal})
                    pass_is_the_sum(rows, form, kind,
                                    set + " " + name(form) + " " + std::to_string(features));
        }
}

void threads_do_not_matter() {
    const Rows rows(5000, 18, 1.0, 1.0);
    const LinearRows linear = rows.linear(Form::single_rows);
    const auto w = some_weights(rows.width(), 1);
    const std::int32_t positive = 1;
    PassSums first;
    for (int count : {1, 2, 5}) {
        Threads threads(count);
        LinearPass pass(linear, 1, Curvature::gram);
        const PassSums sums = pass.evaluate(kLoss, {0}, &positive, w.data(), threads);
        if (count == 1) first = sums;
        CHECK(sums.loss == first.loss && sums.gradient == first.gradient &&
              sums.curvature == first.curvature);
    }
}

void smaller_passes() {
    const Rows rows(333, 9, 0.5, 2.0);
    const auto w = some_weights(2 * rows.width(), 4);
    for (Form form : kForms) {
        const LinearRows linear = rows.linear(form);
        Threads threads(2);
        std::vector<double> decisions(at(2 * 333));
        linear_decisions(linear, 2, w.data(), decisions.data(), threads);
        const auto norms = linear_squared_norms(linear, threads);
        CHECK(linear_finite(linear.view, threads));
        for (Index i = 0; i < 333; ++i) {
            double norm = 0;
            for (Index k = 0; k < rows.width(); ++k) norm += rows.feature(i, k) * rows.feature(i, k);
            CHECK_NEAR(norms[at(i)], norm, 1e-12, name(form));
            for (Index j = 0; j < 2; ++j)
                CHECK_NEAR(decisions[at(j * 333 + i)], rows.decide(i, w.data() + j * rows.width()), 1e-12,
                           name(form));
        }
    }
}

// Coordinate descent ends where the optimality conditions hold, and w is what the duals say.
template <class Loss>
void sweeps_converge(const Loss& loss) {
    const Rows rows(60, 6, 0.7, 1.0);
    for (Form form : {Form::rows, Form::single_rows, Form::csr32, Form::csr64}) {
        const LinearRows linear = rows.linear(form);
        Threads threads(1);
        const auto norms = linear_squared_norms(linear, threads);
        std::vector<Index> order(60);
        std::iota(order.begin(), order.end(), 0);
        std::vector<double> duals(60, 0.0), w(at(rows.width()), 0.0);
        const std::int32_t positive = 1;
        double violation = 1;
        std::mt19937 random(5);
        for (int sweep = 0; sweep < 5000 && violation > 1e-11; ++sweep) {
            std::shuffle(order.begin(), order.end(), random);
            violation = dual_sweep(linear, loss, 1, &positive, norms.data(), order.data(), 60, duals.data(),
                                   w.data(), nullptr)[0];
        }
        CHECK(violation <= 1e-11);
        std::vector<double> sum(w.size());
        for (Index i = 0; i < 60; ++i) {
            const double y = rows.label[at(i)] == positive ? 1.0 : -1.0, s = rows.weight[at(i)];
            const double m = y * rows.decide(i, w.data()), g = duals[at(i)];
            for (Index k = 0; k < rows.width(); ++k) sum[at(k)] += y * g * rows.feature(i, k);
            if (s == 0)
                CHECK(g == 0);
            else
                CHECK(loss.feasible(g, s) == g && loss.violation(m, g, s, norms[at(i)]) < 1e-8);
        }
        const auto again = weights_of_duals(linear, 1, &positive, duals.data(), nullptr);
        for (std::size_t k = 0; k < w.size(); ++k) {
            CHECK_NEAR(w[k], sum[k], 1e-9, name(form));
            CHECK_NEAR(again[k], sum[k], 1e-12, name(form));
        }
    }
}

void covers_cover() {
    const Rows rows(400, 2, 1.0, 1.0);
    for (Form form : {Form::rows, Form::single_rows, Form::csr32}) {
        const LinearRows linear = rows.linear(form);
        Threads threads(1);
        const auto norms = linear_squared_norms(linear, threads);
        std::vector<double> key;
        std::vector<Index> order(400);
        std::iota(order.begin(), order.end(), 0);
        for (Index i = 0; i < 400; ++i) key.push_back(rows.feature(i, 0));
        const auto centre = ball_cover(linear, norms.data(), key.data(), order.data(), 0.25, nullptr);
        Index centres = 0;
        for (Index i = 0; i < 400; ++i) {
            const Index z = centre[at(i)];
            centres += z == i;
            CHECK(centre[at(z)] == z && rows.label[at(z)] == rows.label[at(i)]);
            CHECK(std::hypot(rows.feature(i, 0) - rows.feature(z, 0),
                             rows.feature(i, 1) - rows.feature(z, 1)) <= 0.25 + 1e-6);
        }
        CHECK(centres > 3 && centres < 300);
    }
}

// Steps of any length, also those that turn z around or take it away, against the formula.
void steps_are_those_of_the_formula() {
    const Rows rows(20, 5, 0.8, 1.0);
    const OdmLoss loss = OdmLoss::of_scale(3.0, 0.4, 0.3);
    for (double step : {0.01, 0.9, 1.0, 1.5, 30.0})
        for (Form form : {Form::rows, Form::csr32}) {
            const LinearRows linear = rows.linear(form);
            const auto anchor = some_weights(rows.width(), 8), mean = some_weights(rows.width(), 9);
            std::vector<double> w = some_weights(rows.width(), 7), expected = w;
            const std::vector<Index> order{3, 11, 3, 7};
            const std::int32_t positive = 2;
            svrg_steps(linear, loss, step, 1, &positive, order.data(), 4, anchor.data(), mean.data(),
                       w.data(), nullptr);
            for (Index i : order) {
                const double y = rows.label[at(i)] == positive ? 1.0 : -1.0, s = rows.weight[at(i)];
                const double delta = loss.slope(y * rows.decide(i, expected.data()), s) -
                                     loss.slope(y * rows.decide(i, anchor.data()), s);
                for (Index k = 0; k < rows.width(); ++k)
                    expected[at(k)] -=
                        step * (expected[at(k)] + delta * y * rows.feature(i, k) + mean[at(k)]);
            }
            for (std::size_t k = 0; k < w.size(); ++k) CHECK_NEAR(w[k], expected[k], 1e-9, name(form));
        }
}

// A step at the anchor itself is a plain gradient step: the two row gradients cancel.
void first_step_is_a_gradient_step() {
    const Rows rows(20, 5, 0.8, 1.0);
    for (Form form : {Form::rows, Form::single_rows, Form::csr32, Form::csr64}) {
        const LinearRows linear = rows.linear(form);
        const auto anchor = some_weights(rows.width(), 8), mean = some_weights(rows.width(), 9);
        std::vector<double> w = anchor;
        const Index order = 7;
        const std::int32_t positive = 2;
        svrg_steps(linear, kLoss, 0.01, 1, &positive, &order, 1, anchor.data(), mean.data(), w.data(),
                   nullptr);
        for (std::size_t k = 0; k < w.size(); ++k)
            CHECK_NEAR(w[k], anchor[k] - 0.01 * (anchor[k] + mean[k]), 1e-12, name(form));
    }
}

}  // namespace

int main() {
    for (const char* set : {"avx512", "avx2", "baseline"})
        if (simd_select(set)) passes(set);
    threads_do_not_matter();
    smaller_passes();
    sweeps_converge(OdmLoss::of_scale(0.2, 0.4, 0.3));
    sweeps_converge(HingeLoss::of_scale(0.2));
    covers_cover();
    first_step_is_a_gradient_step();
    steps_are_those_of_the_formula();
    return failures();
}
