// Points as Python holds them: a prepared PointSet in one of the two precisions.
#pragma once

#include <memory>
#include <variant>

#include "arrays.hpp"
#include "kernel/point_kernel.hpp"
#include "kernel/rounding.hpp"

namespace sodm::bindings {

struct Points {
    KernelFunction kernel;
    std::variant<std::shared_ptr<PointSet<float>>, std::shared_ptr<PointSet<double>>> set;
    mutable std::shared_ptr<const Rounding> known_rounding;  // once it was asked for, with the GIL held

    static Points make(const RowsView& view, const KernelFunction& kernel, bool twice, const Points* like,
                       int n_threads) {
        constexpr Index kFewValues = 1 << 18;  // laid out before a second thread is awake
        Points points{kernel, {}, {}};
        nb::gil_scoped_release nogil;
        const Index values = view.sparse ? view.start(view.n) - view.start(0) : view.n * view.features;
        Threads threads(values < kFewValues ? 1 : n_threads);
        auto build = [&](auto zero) {
            using T = decltype(zero);
            using Set = std::shared_ptr<PointSet<T>>;
            if (!like) return std::make_shared<PointSet<T>>(view, kernel, &threads);
            return std::make_shared<PointSet<T>>(view, kernel, std::get<Set>(like->set)->layout, &threads);
        };
        if (twice)
            points.set = build(0.0);
        else
            points.set = build(0.0f);
        return points;
    }
    const Rounding& rounding() const {
        if (!known_rounding)
            known_rounding = std::make_shared<const Rounding>(
                std::visit([&](const auto& own) { return sodm::rounding(*own, kernel); }, set));
        return *known_rounding;
    }
    bool twice() const { return set.index() == 1; }
    bool sparse() const {
        return std::visit([](const auto& s) { return s->layout.sparse; }, set);
    }
    Index n() const {
        return std::visit([](const auto& s) { return s->n; }, set);
    }
};

}  // namespace sodm::bindings
