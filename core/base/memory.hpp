// Aligned storage for tiles and panels, and a view of a subset of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef _WIN32
#include <malloc.h>
#endif

namespace sodm {

using Index = std::int64_t;

// Windows has no aligned_alloc, and wants what it has instead to be freed by its own function.
inline void* allocate_aligned(std::size_t align, std::size_t bytes) {
#ifdef _WIN32
    return _aligned_malloc(bytes, align);
#else
    return std::aligned_alloc(align, bytes);
#endif
}
inline void free_aligned(void* data) {
#ifdef _WIN32
    _aligned_free(data);
#else
    std::free(data);
#endif
}

constexpr std::size_t kLargeBlock = std::size_t(4) << 20, kHugePage = std::size_t(2) << 20;

// Large blocks that a thread gives back while it uses this are kept, a few of them, for the next that it asks
// for: the system clears the pages of a new block, which takes as long as filling it. For the same work done
// many times over.
class SpareMemory {
  public:
    SpareMemory() = default;
    SpareMemory(const SpareMemory&) = delete;
    SpareMemory& operator=(const SpareMemory&) = delete;
    ~SpareMemory();

    // The thread that makes one uses the memory while it lives.
    class Use {
      public:
        explicit Use(SpareMemory& spare);
        ~Use();
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

      private:
        SpareMemory* before_;
    };

    // A block of this thread's spare ones with at least so many bytes, `bytes` then being its own; or null.
    static void* take(std::size_t& bytes);
    // Whether the block is kept; else the caller has to free it.
    static bool keep(void* data, std::size_t bytes);

  private:
    struct Block {
        void* data;
        std::size_t bytes;
    };
    static constexpr int kBlocks = 2;
    Block blocks_[kBlocks] = {};
};

// An uninitialised array aligned for vector loads. Large ones ask for huge pages: first touch is what makes a
// gigabyte of kernel values slow to fill.
template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(std::size_t n) { resize(n); }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { release(); }

    // Makes room for n elements; the contents are lost.
    void resize(std::size_t n) {
        if (n <= capacity_) {
            size_ = n;
            return;
        }
        release();
        const bool large = n * sizeof(T) >= kLargeBlock;
        const std::size_t align = large ? kHugePage : 64;
        std::size_t bytes = (n * sizeof(T) + align - 1) / align * align;
        if (large) data_ = static_cast<T*>(SpareMemory::take(bytes));
        if (!data_) {
            data_ = static_cast<T*>(allocate_aligned(align, bytes));
            if (!data_) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
            if (large) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
        }
        size_ = n;
        capacity_ = large ? bytes / sizeof(T) : n;
    }
    void assign(std::size_t n, T value) {
        resize(n);
        for (std::size_t i = 0; i < n; ++i) data_[i] = value;
    }
    void release() {
        const std::size_t bytes = capacity_ * sizeof(T);
        if (bytes < kLargeBlock || !SpareMemory::keep(data_, bytes)) free_aligned(data_);
        data_ = nullptr;
        size_ = capacity_ = 0;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

  private:
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

// Row numbers: an explicit list, or 0..n-1 when there is none.
struct Subset {
    const Index* list = nullptr;
    Index n = 0;

    static Subset all(Index n) { return {nullptr, n}; }
    Index operator[](Index k) const { return list ? list[k] : k; }
};

}  // namespace sodm
