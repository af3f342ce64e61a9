#include "base/memory.hpp"

namespace sodm {

namespace {
thread_local SpareMemory* in_use = nullptr;
}

SpareMemory::~SpareMemory() {
    for (Block& block : blocks_) free_aligned(block.data);
}

SpareMemory::Use::Use(SpareMemory& spare) : before_(in_use) { in_use = &spare; }

SpareMemory::Use::~Use() { in_use = before_; }

void* SpareMemory::take(std::size_t& bytes) {
    if (!in_use) return nullptr;
    for (Block& block : in_use->blocks_)
        if (block.data && block.bytes >= bytes && block.bytes / 2 <= bytes) {
            bytes = block.bytes;
            return std::exchange(block.data, nullptr);
        }
    return nullptr;
}

bool SpareMemory::keep(void* data, std::size_t bytes) {
    if (!in_use) return false;
    Block* smallest = in_use->blocks_;
    for (Block& block : in_use->blocks_) {
        if (!block.data) {
            block = {data, bytes};
            return true;
        }
        if (block.bytes < smallest->bytes) smallest = &block;
    }
    if (smallest->bytes >= bytes) return false;
    free_aligned(smallest->data);
    *smallest = {data, bytes};
    return true;
}

}  // namespace sodm
