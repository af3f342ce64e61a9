// Lets a solver on a worker thread, with a team of its own, ask whether to stop.
#pragma once

#include "base/parallel.hpp"

namespace sodm {

class Relay : public Monitor {
  public:
    Relay(const Threads& threads, int worker) : threads_(threads), worker_(worker) {}
    void poll() override { threads_.check(worker_); }

  private:
    const Threads& threads_;
    int worker_;
};

}  // namespace sodm
