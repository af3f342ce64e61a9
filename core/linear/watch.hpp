// Looks whether the caller wants to stop, in loops that last: often enough for Ctrl-C, seldom enough to cost
// nothing.
#pragma once

#include "base/memory.hpp"
#include "base/parallel.hpp"

namespace sodm {

class Watch {
  public:
    // Inside a task of a team of threads.
    Watch(const Threads& threads, int worker) : threads_(&threads), worker_(worker) {}
    // In a loop of one thread; no monitor: nobody wants to stop it.
    explicit Watch(Monitor* monitor) : monitor_(monitor) {}

    // Tells of so many multiply-adds done; throws when the caller wants to stop.
    void did(Index work) {
        done_ += work;
        if (done_ < kBetweenLooks) return;
        done_ = 0;
        if (threads_) threads_->check(worker_);
        if (monitor_) monitor_->check();
    }

  private:
    static constexpr Index kBetweenLooks = Index(1) << 20;  // under a millisecond of work

    const Threads* threads_ = nullptr;
    Monitor* monitor_ = nullptr;
    int worker_ = 0;
    Index done_ = 0;
};

}  // namespace sodm
