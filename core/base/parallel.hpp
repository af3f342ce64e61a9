// Threads for the core: a small pool and a parallel loop over numbered tasks.
//
// Every algorithm cuts its work into tasks by problem size alone, never by the number of threads, and adds
// up what the tasks made in task order. So the number of threads never changes a result.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>

namespace sodm {

// Thrown inside the core when its caller asked it to stop.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

// What a thread does that looks at a condition again and again.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// How a caller watches and stops long work. `poll` runs on the thread that called the core, some twenty times
// a second at most, while that thread works and while it waits for the others; it may throw. `stop` may be
// set from any thread.
class Monitor {
  public:
    virtual ~Monitor() = default;
    virtual void poll() {}

    void request_stop() { stop_.store(true, std::memory_order_relaxed); }
    bool stop_requested() const { return stop_.load(std::memory_order_relaxed); }

    // Called by the coordinating thread now and then: polls at most every 50 ms, throws if asked to stop.
    void check();

  protected:
    // As if it had polled just now: for those who know that there is nothing to see yet.
    void skip_poll();

  private:
    std::atomic<bool> stop_{false};
    long long last_poll_ns_ = 0;
};

// A fixed team of threads. The calling thread works too, so Threads(1) starts no thread at all.
class Threads {
  public:
    explicit Threads(int n_threads, Monitor* monitor = nullptr);
    ~Threads();
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    int count() const { return count_; }
    Monitor* monitor() const { return monitor_; }

    // Runs task(k, worker) for k = 0..n-1, worker < count(). Tasks are handed out in order; the first
    // exception is rethrown here once all threads are idle again.
    void run(std::size_t n, const std::function<void(std::size_t task, int worker)>& task);

    // For tasks that last: call now and then from inside; throws when the caller wants to stop, or when
    // another task has failed.
    void check(int worker) const;

  private:
    struct Team;
    int count_;
    Monitor* monitor_;
    std::unique_ptr<Team> team_;
};

// The number of threads to use for a request in scikit-learn's convention (-1: all cores this process may
// use).
int resolve_threads(int requested);

}  // namespace sodm
