// How Python stops the core: Ctrl-C, a token that another thread sets, the end of the program.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

#include "base/parallel.hpp"

namespace nb = nanobind;

namespace sodm::bindings {

// A flag that any Python thread can raise to stop solvers running in others.
class StopToken {
  public:
    void stop() { stopped_.store(true, std::memory_order_relaxed); }
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  private:
    std::atomic<bool> stopped_{false};
};

// Lets Ctrl-C through while the core runs without the GIL.
class PythonMonitor : public Monitor {
  public:
    explicit PythonMonitor(const StopToken* token = nullptr);
    ~PythonMonitor() override;
    void poll() override;

  private:
    const StopToken* token_;
};

}  // namespace sodm::bindings
