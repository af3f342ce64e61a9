// Room for tiles of kernel values.
#pragma once

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/memory.hpp"

namespace sodm {

// Tiles are cut from large blocks of memory that ask for huge pages: cleared small page by small page, new
// memory takes as long as filling it with values. Each worker has a run of free tiles of its own, one huge
// page of them, and comes back for the next. Where a tile lies says nothing about what is in it, so that
// results do not depend on who was first.
template <class T>
class TilePool {
  public:
    TilePool(std::size_t values, int workers)
        : values_(values),
          run_(std::max<std::size_t>(1, kHugePage / (values * sizeof(T)))),
          runs_(static_cast<std::size_t>(workers)) {}

    // A tile for this worker; its contents mean nothing.
    T* take(int worker) {
        std::vector<T*>& run = runs_[static_cast<std::size_t>(worker)];
        if (run.empty()) refill(run);
        T* tile = run.back();
        run.pop_back();
        return tile;
    }

    // A tile that is not needed any more; not while workers take some.
    void give_back(T* tile) { returned_.push_back(tile); }

    // All tiles are free again, and their memory is kept for them.
    void clear() {
        for (auto& run : runs_) run.clear();
        returned_.clear();
        block_ = used_ = 0;
    }

  private:
    static constexpr std::size_t kSmallest = std::size_t(32) << 20, kLargest = std::size_t(256) << 20;

    void refill(std::vector<T*>& run) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!returned_.empty()) {
            const std::size_t count = std::min(run_, returned_.size());
            run.assign(returned_.end() - static_cast<std::ptrdiff_t>(count), returned_.end());
            returned_.resize(returned_.size() - count);
            return;
        }
        while (block_ < blocks_.size() && used_ + run_ * values_ > blocks_[block_].size()) {
            ++block_;
            used_ = 0;
        }
        if (block_ == blocks_.size()) {
            std::size_t all = 0;
            for (const Buffer<T>& block : blocks_) all += block.size() * sizeof(T);
            const std::size_t bytes = std::clamp(all, kSmallest, kLargest);
            blocks_.emplace_back(std::max(run_ * values_, bytes / sizeof(T)));
        }
        // The last of a run is taken first: from the front of the memory to its end.
        for (std::size_t k = run_; k-- > 0;) run.push_back(blocks_[block_].data() + used_ + k * values_);
        used_ += run_ * values_;
    }

    std::size_t values_;  // of a tile
    std::size_t run_;     // tiles of a run
    std::vector<Buffer<T>> blocks_;
    std::size_t block_ = 0, used_ = 0;  // where the next run begins
    std::vector<std::vector<T*>> runs_;
    std::vector<T*> returned_;
    std::mutex mutex_;
};

}  // namespace sodm
