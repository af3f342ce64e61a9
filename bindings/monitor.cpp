#include "monitor.hpp"

#include <chrono>
#include <thread>

#include "module.hpp"

namespace sodm::bindings {

namespace {

using std::chrono::milliseconds;

std::atomic<int> running{0};         // calls into the core, of all threads
std::atomic<bool> at_an_end{false};  // the interpreter is about to be taken down

// Whether Ctrl-C has ended the program while this thread, not the main one, was at work. Signals reach the
// main thread only; when that has died of one, the threads that are left have nobody to work for. The GIL
// must be held.
bool main_thread_was_interrupted() {
    const nb::module_ threading = nb::module_::import_("threading");
    // While it waits for the workers of thread pools the main thread counts as alive; no public name tells.
    const bool ending = nb::cast<bool>(nb::getattr(threading, "_SHUTTING_DOWN", nb::bool_(false)));
    if (!ending && nb::cast<bool>(threading.attr("main_thread")().attr("is_alive")())) return false;
    const nb::object last = nb::getattr(nb::module_::import_("sys"), "last_type", nb::none());
    return last.ptr() == PyExc_KeyboardInterrupt;
}

// Called when the program ends. Threads that Python does not wait for (daemons, and before 3.12 those whose
// `join` was interrupted) would come back from the core into an interpreter that is no more, which ends the
// process by abort: they are stopped, and have a moment to leave.
void end_running_calls() {
    constexpr milliseconds kStep(10), kLongest(2000), kToLeave(200);
    at_an_end = true;
    if (running == 0) return;
    nb::gil_scoped_release nogil;
    for (milliseconds waited(0); running > 0 && waited < kLongest; waited += kStep)
        std::this_thread::sleep_for(kStep);
    std::this_thread::sleep_for(kToLeave);
}

}  // namespace

PythonMonitor::PythonMonitor(const StopToken* token) : token_(token) {
    ++running;
    skip_poll();  // the interpreter has just looked
    if (token_ && token_->stopped()) request_stop();
}

PythonMonitor::~PythonMonitor() { --running; }

void PythonMonitor::poll() {
    if (token_ && token_->stopped()) throw Interrupted();
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (main_thread_was_interrupted()) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        throw nb::python_error();
    }
    if (at_an_end) throw Interrupted();
}

void bind_monitor(nb::module_& m) {
    nb::exception<Interrupted>(m, "Interrupted");
    nb::class_<StopToken>(m, "StopToken")
        .def(nb::init<>())
        .def("stop", &StopToken::stop, "Ask every solver that was given this token to stop soon.")
        .def_prop_ro("stopped", &StopToken::stopped);
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end_running_calls));
}

}  // namespace sodm::bindings
