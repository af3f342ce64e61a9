#include "base/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/subnormals.hpp"

#ifdef __linux__
#include <sched.h>
#endif

namespace sodm {

namespace {
// How often a thread that waits for the others looks whether the caller wants to stop.
constexpr std::chrono::milliseconds kAwake(20);
// More threads than this are a slip of the hand, and no work here has so many tasks worth one.
constexpr int kMostThreads = 1024;

// Looks at a condition for some microseconds before a thread goes to sleep: passes of small blocks hand out
// work so often that waking up would take longer than the work.
template <class Condition>
void spin_until(const Condition& condition) {
    for (int k = 0; k < 2000 && !condition(); ++k) pause_briefly();
}

long long now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

void Monitor::skip_poll() { last_poll_ns_ = now_ns(); }

void Monitor::check() {
    if (stop_requested()) throw Interrupted();
    const long long now = now_ns();
    if (now - last_poll_ns_ < 50'000'000) return;
    last_poll_ns_ = now;
    poll();
    if (stop_requested()) throw Interrupted();
}

struct Threads::Team {
    std::mutex mutex;
    std::condition_variable wake, idle;
    std::vector<std::thread> threads;
    const std::function<void(std::size_t, int)>* task = nullptr;
    std::size_t n_tasks = 0;
    FloatMode mode = 0;  // of the thread that has the tasks, for all
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error;
    std::atomic<unsigned long> round{0};
    std::atomic<int> busy{0};
    std::atomic<bool> quit{false};

    // Takes tasks until none is left; only the coordinating thread (worker 0) polls the monitor.
    void work(int worker, const Threads& threads) {
        try {
            while (!failed.load(std::memory_order_relaxed)) {
                const std::size_t k = next.fetch_add(1, std::memory_order_relaxed);
                if (k >= n_tasks) return;
                threads.check(worker);
                (*task)(k, worker);
            }
        } catch (...) {
            std::lock_guard<std::mutex> lock(mutex);
            fail();
        }
    }

    // Remembers the exception being handled, the first one only. The mutex must be held.
    void fail() {
        if (!error) error = std::current_exception();
        failed = true;
    }

    // Waits until the other threads are idle. A signal may come while they have long tasks and this thread,
    // the only one that can see it, has none left: so it goes on looking.
    void wait_until_idle(Monitor* monitor) {
        spin_until([&] { return busy == 0; });
        std::unique_lock<std::mutex> lock(mutex);
        while (!idle.wait_for(lock, kAwake, [&] { return busy == 0; })) {
            if (!monitor || failed) continue;
            lock.unlock();
            try {
                monitor->check();
                lock.lock();
            } catch (...) {
                lock.lock();
                fail();
            }
        }
    }

    void loop(int worker, const Threads& threads) {
        unsigned long seen = 0;
        while (true) {
            spin_until([&] { return quit || round != seen; });
            std::unique_lock<std::mutex> lock(mutex);
            wake.wait(lock, [&] { return quit || round != seen; });
            if (quit) return;
            seen = round;
            set_float_mode(mode);
            lock.unlock();
            work(worker, threads);
            lock.lock();
            if (--busy == 0) idle.notify_one();
        }
    }
};

Threads::Threads(int n_threads, Monitor* monitor) : count_(1), monitor_(monitor), team_(new Team) {
    const int wanted = std::min(n_threads, kMostThreads);
    try {
        for (; count_ < wanted; ++count_)
            team_->threads.emplace_back([this, w = count_] { team_->loop(w, *this); });
    } catch (const std::exception&) {
        // The system gives no more threads (a limit of a container, memory): those that there are do the
        // work, with the same result. To let this through would end the process: they are running.
    }
}

Threads::~Threads() {
    {
        std::lock_guard<std::mutex> lock(team_->mutex);
        team_->quit = true;
    }
    team_->wake.notify_all();
    for (auto& thread : team_->threads) thread.join();
}

void Threads::check(int worker) const {
    if (team_->failed.load(std::memory_order_relaxed)) throw Interrupted();
    if (!monitor_) return;
    if (worker == 0)
        monitor_->check();
    else if (monitor_->stop_requested())
        throw Interrupted();
}

void Threads::run(std::size_t n, const std::function<void(std::size_t, int)>& task) {
    if (count_ == 1 || n <= 1) {
        for (std::size_t k = 0; k < n; ++k) {
            check(0);
            task(k, 0);
        }
        return;
    }
    Team& team = *team_;
    {
        std::lock_guard<std::mutex> lock(team.mutex);
        team.task = &task;
        team.n_tasks = n;
        team.mode = float_mode();
        team.next = 0;
        team.failed = false;
        team.error = nullptr;
        team.busy = count_ - 1;
        ++team.round;
    }
    team.wake.notify_all();
    team.work(0, *this);
    team.wait_until_idle(monitor_);
    if (team.error) {
        std::exception_ptr error = team.error;
        team.error = nullptr;
        team.failed = false;  // the team lives on
        std::rethrow_exception(error);
    }
}

namespace {

int available_cores() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));  // reads files
}

}  // namespace

int resolve_threads(int requested) {
    if (requested > 0) return requested;
    if (requested == 0) return 1;
    return std::max(1, available_cores() + 1 + requested);
}

}  // namespace sodm
