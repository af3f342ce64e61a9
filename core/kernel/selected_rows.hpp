// Some rows of another source, by their numbers there.
#pragma once

#include <utility>
#include <vector>

#include "kernel/kernel_source.hpp"

namespace sodm {

template <class T>
class SelectedRows : public KernelSource<T> {
  public:
    SelectedRows(const KernelSource<T>& whole, std::vector<Index> rows)
        : whole_(whole), rows_(std::move(rows)) {}
    Index rows() const override { return static_cast<Index>(rows_.size()); }
    Index columns() const override { return rows(); }
    double diagonal(Index i) const override { return whole_.diagonal(number(i)); }
    int row_chunk() const override { return whole_.row_chunk(); }
    bool stored() const override { return whole_.stored(); }
    void load_columns(Subset columns, Index first, int count, Workspace<T>& work) const override {
        Index numbers[kTile];
        for (int k = 0; k < count; ++k) numbers[k] = number(columns[first + k]);
        whole_.load_columns(Subset{numbers, count}, 0, count, work);
    }
    void tile(Subset rows, Index first, int count, Workspace<T>& work, T* out) const override {
        const std::vector<Index> numbers = numbers_of(rows, first, count);
        whole_.tile(Subset{numbers.data(), count}, 0, count, work, out);
    }
    bool add_weighted(Subset rows, Index first, int count, Workspace<T>& work, const T* a,
                      T* y) const override {
        const std::vector<Index> numbers = numbers_of(rows, first, count);
        return whole_.add_weighted(Subset{numbers.data(), count}, 0, count, work, a, y);
    }
    Index box_values() const override { return whole_.box_values(); }
    void box(Subset rows, T* out) const override {
        const std::vector<Index> numbers = numbers_of(rows, 0, static_cast<int>(rows.n));
        whole_.box(Subset{numbers.data(), rows.n}, out);
    }
    double far_value() const override { return whole_.far_value(); }
    bool falls_with_distance() const override { return whole_.falls_with_distance(); }
    double beyond_far(const T* box, const T* other) const override { return whole_.beyond_far(box, other); }

  private:
    Index number(Index i) const { return rows_[static_cast<std::size_t>(i)]; }
    std::vector<Index> numbers_of(Subset rows, Index first, int count) const {
        std::vector<Index> numbers(static_cast<std::size_t>(count));
        for (int k = 0; k < count; ++k) numbers[static_cast<std::size_t>(k)] = number(rows[first + k]);
        return numbers;
    }

    const KernelSource<T>& whole_;
    std::vector<Index> rows_;
};

}  // namespace sodm
