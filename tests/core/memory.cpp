// Spare memory: large blocks come back to the thread that uses it, and to no one else.
#include "base/memory.hpp"

#include <thread>

#include "check.hpp"

using namespace sodm;

namespace {

constexpr std::size_t kLarge = kLargeBlock / sizeof(float);

float* filled_and_given_back(std::size_t n) {
    Buffer<float> block(n);
    for (std::size_t i = 0; i < n; ++i) block[i] = 1.0f;
    return block.data();
}

void blocks_come_back() {
    SpareMemory spare;
    const SpareMemory::Use use(spare);
    float* first = filled_and_given_back(2 * kLarge);
    Buffer<double> again(kLarge);  // as many bytes
    CHECK(static_cast<void*>(again.data()) == first);
    CHECK(again.size() == kLarge);
    Buffer<float> another(2 * kLarge);
    CHECK(another.data() != first);
    again.release();
    Buffer<float> smaller(kLarge + 1);  // of a block that is not twice as large
    CHECK(smaller.data() == first);
    smaller.release();
    Buffer<float> larger(8 * kLarge);
    CHECK(larger.data() != first);
    for (std::size_t i = 0; i < larger.size(); ++i) larger[i] = 2.0f;
}

void blocks_in_use_are_not_given_twice() {
    SpareMemory spare;
    const SpareMemory::Use use(spare);
    Buffer<float> a(kLarge), b(kLarge), c(kLarge), d(kLarge);
    float* last = d.data();
    a.release();
    b.release();
    c.release();  // more than are kept
    Buffer<float> x(kLarge), y(kLarge), z(kLarge);
    CHECK(x.data() != y.data() && y.data() != z.data() && x.data() != z.data());
    CHECK(x.data() != last && y.data() != last && z.data() != last);
}

void only_where_it_is_used() {
    SpareMemory spare;
    float* first;
    {
        const SpareMemory::Use use(spare);
        first = filled_and_given_back(kLarge);
        std::thread([] {
            std::size_t bytes = kLargeBlock;
            CHECK(SpareMemory::take(bytes) == nullptr);
        }).join();
    }
    std::size_t bytes = kLargeBlock;
    CHECK(SpareMemory::take(bytes) == nullptr);
    const SpareMemory::Use use(spare);
    Buffer<float> again(kLarge);
    CHECK(again.data() == first);
}

}  // namespace

int main() {
    blocks_come_back();
    blocks_in_use_are_not_given_twice();
    only_where_it_is_used();
    return test::failures();
}
