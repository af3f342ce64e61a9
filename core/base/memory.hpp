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
    ~Buffer() { free_aligned(data_); }

    // Makes room for n elements; the contents are lost.
    void resize(std::size_t n) {
        if (n <= capacity_) {
            size_ = n;
            return;
        }
        free_aligned(data_);
        data_ = nullptr;
        size_ = capacity_ = 0;
        const std::size_t align = n * sizeof(T) >= (std::size_t(4) << 20) ? std::size_t(2) << 20 : 64;
        const std::size_t bytes = (n * sizeof(T) + align - 1) / align * align;
        data_ = static_cast<T*>(allocate_aligned(align, bytes));
        if (!data_) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (align > 64) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
        size_ = capacity_ = n;
    }
    void assign(std::size_t n, T value) {
        resize(n);
        for (std::size_t i = 0; i < n; ++i) data_[i] = value;
    }
    void release() {
        free_aligned(data_);
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
