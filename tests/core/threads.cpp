// The thread pool: every task once, exceptions come back, a monitor can stop it.
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/parallel.hpp"
#include "base/subnormals.hpp"
#include "check.hpp"

using namespace sodm;

namespace {

void every_task_runs_once() {
    for (int n_threads : {1, 2, 3, 7}) {
        Threads threads(n_threads);
        CHECK(threads.count() == n_threads);
        // The same team again and again, with more and fewer tasks than threads, and none at all.
        for (std::size_t n : {0u, 1u, 2u, 5u, 1000u, 3u, 0u, 64u}) {
            std::vector<int> runs(n, 0);
            std::atomic<bool> worker_in_range{true};
            threads.run(n, [&](std::size_t k, int worker) {
                ++runs[k];
                if (worker < 0 || worker >= n_threads) worker_in_range = false;
            });
            for (int r : runs) CHECK(r == 1);
            CHECK(worker_in_range);
        }
    }
    CHECK(Threads(0).count() == 1);
    CHECK(Threads(-3).count() == 1);
}

void first_exception_is_rethrown_and_the_team_lives_on() {
    for (int n_threads : {1, 4}) {
        Threads threads(n_threads);
        for (std::size_t bad : {0u, 17u, 99u}) {
            std::string message;
            try {
                threads.run(100, [&](std::size_t k, int) {
                    if (k == bad) throw std::runtime_error("task " + std::to_string(k));
                });
            } catch (const std::runtime_error& error) {
                message = error.what();
            }
            CHECK(message == "task " + std::to_string(bad));
            std::atomic<int> done{0};
            threads.run(50, [&](std::size_t, int) { ++done; });
            CHECK(done == 50);
        }
        // All tasks fail: one exception comes back, and no task after the failure is needed.
        CHECK(test::throws<std::logic_error>(
            [&] { threads.run(1000, [](std::size_t, int) { throw std::logic_error("no"); }); }));
    }
}

void a_team_inside_a_team() {
    Threads outer(3);
    std::vector<std::size_t> sums(20, 0);
    outer.run(sums.size(), [&](std::size_t k, int) {
        Threads inner(2);
        std::vector<std::size_t> part(k + 1, 0);
        inner.run(part.size(), [&](std::size_t i, int) { part[i] = i; });
        for (std::size_t v : part) sums[k] += v;
    });
    for (std::size_t k = 0; k < sums.size(); ++k) CHECK(sums[k] == k * (k + 1) / 2);
}

void teams_side_by_side() {
    std::vector<std::thread> callers;
    std::vector<int> done(4, 0);
    for (std::size_t c = 0; c < done.size(); ++c)
        callers.emplace_back([&, c] {
            Threads threads(2);
            std::vector<int> runs(300, 0);
            threads.run(runs.size(), [&](std::size_t k, int) { ++runs[k]; });
            for (int r : runs) done[c] += r;
        });
    for (auto& caller : callers) caller.join();
    for (int d : done) CHECK(d == 300);
}

struct CountingMonitor : Monitor {
    int polls = 0;
    void poll() override { ++polls; }
};

struct FailingMonitor : Monitor {
    std::atomic<bool> polled{false};
    void poll() override {
        polled = true;
        throw std::runtime_error("poll says no");
    }
};

void monitor_polls_on_the_calling_thread_and_stops() {
    for (int n_threads : {1, 4}) {
        CountingMonitor monitor;
        Threads threads(n_threads, &monitor);
        threads.run(100, [](std::size_t, int) {});
        CHECK(monitor.polls <= 2);  // at most every 50 ms, however many tasks there are

        // A stop asked for by a task, on whatever thread it runs, ends the loop early.
        std::atomic<int> ran{0};
        CHECK(test::throws<Interrupted>([&] {
            threads.run(1'000'000, [&](std::size_t k, int) {
                ++ran;
                if (k == 10) monitor.request_stop();
            });
        }));
        CHECK(ran < 1'000'000);
        // The request stays: the next loop does not start.
        CHECK(test::throws<Interrupted>([&] { threads.run(5, [](std::size_t, int) {}); }));

        FailingMonitor failing;
        Threads others(n_threads, &failing);
        // The other threads hold on to their first task, so that the calling one is sure to get one.
        CHECK(test::throws<std::runtime_error>([&] {
            others.run(5, [&](std::size_t, int) {
                while (!failing.polled) std::this_thread::yield();
            });
        }));
    }
}

struct LateMonitor : Monitor {
    std::atomic<bool> ready{false};
    void poll() override {
        if (ready) throw std::runtime_error("a signal");
    }
};

// The calling thread has no task left while another works on: it still sees a signal, and the task ends.
void a_waiting_caller_still_polls() {
    for (int n_threads : {2, 3, 8}) {
        LateMonitor monitor;
        Threads threads(n_threads, &monitor);
        std::atomic<bool> others_work{false};
        std::string message;
        try {
            threads.run(static_cast<std::size_t>(n_threads), [&](std::size_t, int worker) {
                if (worker == 0) {
                    while (!others_work) std::this_thread::yield();
                    monitor.ready = true;
                    return;
                }
                others_work = true;
                while (true) {
                    threads.check(worker);
                    std::this_thread::yield();
                }
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        CHECK(message == "a signal");
    }
}

// A task that fails ends the long tasks beside it, without any monitor.
void a_failure_ends_the_tasks_beside_it() {
    Threads threads(3);
    std::atomic<int> working{0};
    CHECK(test::throws<std::logic_error>([&] {
        threads.run(3, [&](std::size_t k, int worker) {
            ++working;
            while (working < 3) std::this_thread::yield();
            if (k == 2) throw std::logic_error("no");
            while (true) {
                threads.check(worker);
                std::this_thread::yield();
            }
        });
    }));
    int done = 0;
    threads.run(1, [&](std::size_t, int) { ++done; });
    CHECK(done == 1);
}

void thread_counts_follow_the_convention() {
    const int all = resolve_threads(-1);
    CHECK(all >= 1);
    CHECK(resolve_threads(1) == 1);
    CHECK(resolve_threads(5) == 5);
    CHECK(resolve_threads(0) == 1);
    CHECK(resolve_threads(-2) == (all > 1 ? all - 1 : 1));
    CHECK(resolve_threads(-1000) == 1);
}

// All threads do what the one does that has the tasks: else the result would depend on who took which.
void subnormals_are_flushed_by_all_or_none() {
    for (int n_threads : {1, 3}) {
        Threads threads(n_threads);
        const auto kept = [&] {
            std::vector<float> halves(300);
            threads.run(halves.size(), [&](std::size_t k, int) {
                volatile float least = 1.1754944e-38f;  // the compiler is not to know
                halves[k] = least / 2;
            });
            int nonzero = 0;
            for (float half : halves) nonzero += half != 0;
            return nonzero;
        };
        CHECK(kept() == 300);
        {
            const FlushSubnormals flushed;
            CHECK(kept() == 0);
        }
        CHECK(kept() == 300);
    }
}

}  // namespace

int main() {
    every_task_runs_once();
    first_exception_is_rethrown_and_the_team_lives_on();
    a_team_inside_a_team();
    teams_side_by_side();
    monitor_polls_on_the_calling_thread_and_stops();
    a_waiting_caller_still_polls();
    a_failure_ends_the_tasks_beside_it();
    thread_counts_follow_the_convention();
    subnormals_are_flushed_by_all_or_none();
    return test::failures();
}
