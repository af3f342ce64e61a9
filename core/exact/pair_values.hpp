// The kernel values of pairs of classes, where many pairs share the rows of each class.
//
// Values within a class are evaluated once and kept for all pairs of that class; those between two classes
// are wanted by one pair only, which evaluates them itself. So no value is evaluated twice, and of the matrix
// of all rows only the blocks on its diagonal are in memory.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "kernel/kernel_source.hpp"

namespace sodm {

template <class T>
class PairValues {
  public:
    // of_class: the rows of each class; they must live as long as this.
    PairValues(const KernelSource<T>& source, const std::vector<std::vector<Index>>& of_class,
               Threads& threads);

    // The symmetric matrix of the rows of class c, then those of class d.
    void fill(Index c, Index d, Buffer<T>& out, Threads& threads) const;

  private:
    const KernelSource<T>& source_;
    const std::vector<std::vector<Index>>& of_class_;
    std::vector<Buffer<T>> within_;
};

}  // namespace sodm
