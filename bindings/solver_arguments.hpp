// What both solvers of the exact machine are told besides the problem, and what both give.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "exact/solve.hpp"

namespace sodm::bindings {

// A loss by its name ("odm", "targets" or "hinge") and numbers.
struct LossNumbers {
    std::string name;
    double lam, upsilon, theta;

    bool hinge() const { return name == "hinge"; }
    HingeLoss as_hinge(double total_weight) const { return HingeLoss(lam, total_weight); }
    OdmLoss as_odm(double total_weight) const {
        return name == "targets" ? OdmLoss::of_targets(lam, upsilon, theta, total_weight)
                                 : OdmLoss(lam, upsilon, theta, total_weight);
    }
};

// How to solve; the stop token is kept alive by the Python object.
struct SolveOptions {
    std::string method;
    double tol, aim, violation;  // an aim of 0 is none
    int max_iter;
    std::size_t cache_bytes;
    std::uint64_t seed;
    int n_threads;
    std::optional<nb::callable> progress;
    const StopToken* stop;

    // As the core takes it: not to outlive this object.
    Options for_core() const {
        Options options;
        options.tol = tol;
        options.aim = aim > 0 ? std::min(aim, tol) : tol;
        options.violation = violation;
        options.max_iter = max_iter;
        options.cache_bytes = cache_bytes;
        options.seed = seed;
        if (progress)
            options.progress = [this](const Progress& p) {
                nb::gil_scoped_acquire gil;
                nb::dict record;
                record["stage"] = p.stage;
                record["rows"] = p.rows;
                record["iteration"] = p.iteration;
                record["gap"] = p.gap;
                record["violation"] = p.violation;
                (*progress)(record);
            };
        return options;
    }
};

inline double sum_of(const Vector& values) {
    double total = 0;
    for (std::size_t i = 0; i < values.shape(0); ++i) total += values(i);
    return total;
}

template <class T>
auto copy_out(const std::vector<T>& values, std::initializer_list<std::size_t> shape) {
    std::vector<T> copy = values;
    return to_numpy(std::move(copy), shape);
}

// A member of R::solution as an array, one entry for each machine.
template <class R, class S, class T>
auto each(std::vector<T> S::* member) {
    return [member](const R& r) {
        const std::vector<T>& values = r.solution.*member;
        return copy_out(values, {values.size()});
    };
}

// What every solution has. R has `solution`, `evaluations` and `kernel_seconds`.
template <class R>
nb::class_<R> bind_result(nb::module_& m, const char* name) {
    using S = decltype(R::solution);
    const auto policy = nb::rv_policy::automatic;
    return nb::class_<R>(m, name)
        .def_prop_ro("objective", each<R>(&S::objective), policy)
        .def_prop_ro("gap", each<R>(&S::gap), policy)
        .def_prop_ro("violation", each<R>(&S::violation), policy)
        .def_prop_ro("iterations", each<R>(&S::iterations), policy)
        .def_prop_ro(
            "converged",
            [](const R& r) {
                const std::vector<int> flags(r.solution.converged.begin(), r.solution.converged.end());
                return copy_out(flags, {flags.size()});
            },
            policy)
        .def_prop_ro("method", [](const R& r) { return r.solution.method; })
        .def_ro("evaluations", &R::evaluations)
        .def_ro("kernel_seconds", &R::kernel_seconds);
}

}  // namespace sodm::bindings
