// CHECK(condition) notes a failure and goes on; main ends with `return failures();`.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

namespace sodm::test {

inline int& failure_count() {
    static int count = 0;
    return count;
}

inline bool check(bool holds, const char* what, const char* file, int line, const std::string& detail = "") {
    if (!holds && ++failure_count() <= 20)
        std::fprintf(stderr, "%s:%d: %s does not hold %s\n", file, line, what, detail.c_str());
    return holds;
}

inline int failures() {
    if (failure_count()) std::fprintf(stderr, "%d checks failed\n", failure_count());
    return failure_count() ? 1 : 0;
}

inline bool near(double a, double b, double tolerance) {
    return std::fabs(a - b) <= tolerance * std::fmax(1.0, std::fabs(b));
}

template <class Error, class F>
bool throws(F f) {
    try {
        f();
    } catch (const Error&) {
        return true;
    }
    return false;
}

}  // namespace sodm::test

#define CHECK(condition) sodm::test::check((condition), #condition, __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tolerance, where)                                                           \
    do { /* the message is made only when it is needed: some tests check millions of values */       \
        const double a_ = (a), b_ = (b);                                                             \
        if (!sodm::test::near(a_, b_, (tolerance)))                                                  \
            sodm::test::check(                                                                       \
                false, #a " near " #b, __FILE__, __LINE__,                                           \
                "(" + std::to_string(a_) + " against " + std::to_string(b_) + ", " + (where) + ")"); \
    } while (false)
