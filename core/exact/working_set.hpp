// Which rows of a level are solved together: those that matter to some machine, and those that may soon.
#pragma once

#include <vector>

#include "exact/newton_machine.hpp"

namespace sodm {

class WorkingSet {
  public:
    explicit WorkingSet(Index n) : is_member_(static_cast<std::size_t>(n), 0) {}

    // Adds rows: those outside the dead zone of some machine, and those nearest to its edge, an eighth as
    // many again. Returns the new ones; a set that is mostly dead weight is made anew.
    std::vector<Index> extend(const std::vector<Machine>& machines, const OdmLoss& loss);
    // Adds all rows; returns the new ones.
    std::vector<Index> take_all();

    const std::vector<Index>& members() const { return members_; }
    std::vector<Index> others() const;

    // The machines on the members alone, and back.
    std::vector<Machine> gather(const std::vector<Machine>& machines) const;
    void scatter(const std::vector<Machine>& local, std::vector<Machine>& machines) const;

  private:
    std::vector<Index> members_;
    std::vector<char> is_member_;
};

}  // namespace sodm
