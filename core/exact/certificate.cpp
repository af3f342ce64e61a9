#include "exact/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernel/gram.hpp"
#include "kernel/products.hpp"

namespace sodm {

namespace {

constexpr Index kSeen = 512;      // support vectors whose margins are computed anew
constexpr Index kNotMany = 2048;  // up to so many, all of them
constexpr double kSafety = 4.0;   // errors are taken to be so much larger than the largest that was seen
constexpr double kDoubleUnit = 0x1p-53;

using Values = std::vector<double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

template <class Loss>
class Certifier {
  public:
    Certifier(const ExactValues& exact, const Rounding& rounding, const FoundMachine& machine,
              const Loss& loss, Threads& threads)
        : exact_(exact), machine_(machine), loss_(loss), threads_(threads), spread_(at(machine.n)) {
        double total = 0, by_p = 0, by_q = 0;
        for (Index i = 0; i < machine.n; ++i) {
            if (machine.duals[i] == 0) continue;
            const double size = std::fabs(machine.duals[i]);
            support_.push_back(i);
            coefficients_.push_back(machine.signs[i] * machine.duals[i]);
            total += size;
            by_p += size * rounding.p[at(i)];
            by_q += size * rounding.q[at(i)];
        }
        // The bound of rounding.hpp, in units of u, for sums with these coefficients.
        for (std::size_t i = 0; i < spread_.size(); ++i)
            spread_[i] = rounding.pair * by_p * rounding.p[i] +
                         rounding.point * (total * rounding.q[i] + by_q) + rounding.one * total;
    }

    Certificate run(double tol) {
        Values errors(at(machine_.n));
        for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = machine_.unit * spread_[i];
        const Certificate at_once = bound(errors);
        if (at_once.gap <= tol) return at_once;
        std::vector<Index> seen;
        const auto count = static_cast<Index>(support_.size());
        const Index step = count <= kNotMany ? 1 : (count + kSeen - 1) / kSeen;
        for (Index k = 0; k < count; k += step) seen.push_back(support_[at(k)]);
        const Values anew = step == 1 ? values_of_support() : values(seen);
        double off = 0;
        for (std::size_t k = 0; k < seen.size(); ++k) {
            const double size = std::max(machine_.unit * spread_[at(seen[k])], 1e-300);
            off = std::max(off, std::fabs(machine_.decision[seen[k]] - anew[k]) / size);
        }
        for (std::size_t i = 0; i < errors.size(); ++i)
            errors[i] = (kDoubleUnit + kSafety * off * machine_.unit) * spread_[i];
        take(seen, anew, errors);
        const Certificate first = bound(errors);
        if (first.gap <= tol) return first;
        std::vector<Index> rest;
        for (Index i = 0; i < machine_.n; ++i)
            if (errors[at(i)] > kDoubleUnit * spread_[at(i)] && counts(i, errors[at(i)])) rest.push_back(i);
        take(rest, values(rest), errors);
        return bound(errors);
    }

  private:
    Values values(const std::vector<Index>& rows) const {
        Values out(rows.size());
        kernel_apply(exact_(), Subset{support_.data(), static_cast<Index>(support_.size())},
                     Subset{rows.data(), static_cast<Index>(rows.size())}, coefficients_.data(), 1,
                     out.data(), threads_);
        return out;
    }

    // Of all support vectors, each pair of them evaluated once.
    Values values_of_support() const {
        Values out(support_.size());
        GramMatrix<double> gram(exact_(), 0, threads_);
        gram.assign(support_);
        gram.apply(coefficients_.data(), 1, out.data());
        return out;
    }

    void take(const std::vector<Index>& rows, const Values& anew, Values& errors) {
        for (std::size_t k = 0; k < rows.size(); ++k) {
            machine_.decision[rows[k]] = anew[k];
            errors[at(rows[k])] = kDoubleUnit * spread_[at(rows[k])];
        }
    }

    double margin(Index i) const { return machine_.signs[i] * machine_.decision[i]; }

    // Whether a row has a dual, or may have a loss.
    bool counts(Index i, double error) const {
        const double m = margin(i), s = machine_.weights[i];
        return machine_.duals[i] != 0 || loss_.lift(m - error, s) != 0 || loss_.lift(m + error, s) != 0;
    }

    Certificate bound(const Values& errors) const {
        Certificate out;
        double young = 0;
        for (Index i = 0; i < machine_.n; ++i) {
            const double m = margin(i), g = machine_.duals[i], s = machine_.weights[i], e = errors[at(i)];
            young += std::max(loss_.young(m - e, g, s), loss_.young(m + e, g, s));
            out.objective += g * m / 2 + loss_.primal(m, s);
            out.violation = std::max(out.violation, loss_.violation(m, g, s, machine_.diagonal[i]));
        }
        out.gap = young / std::max(std::fabs(out.objective), 1e-300);
        return out;
    }

    const ExactValues& exact_;
    FoundMachine machine_;
    const Loss& loss_;
    Threads& threads_;
    std::vector<Index> support_;
    Values coefficients_, spread_;
};

}  // namespace

template <class Loss>
Certificate certify(const ExactValues& exact, const Rounding& rounding, const FoundMachine& machine,
                    const Loss& loss, double tol, Threads& threads) {
    return Certifier<Loss>(exact, rounding, machine, loss, threads).run(tol);
}

template Certificate certify(const ExactValues&, const Rounding&, const FoundMachine&, const OdmLoss&, double,
                             Threads&);
template Certificate certify(const ExactValues&, const Rounding&, const FoundMachine&, const HingeLoss&,
                             double, Threads&);

}  // namespace sodm
