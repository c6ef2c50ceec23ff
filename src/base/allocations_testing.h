// Counts the allocations of a test program. The functions here replace those of the C library, so that only
// one file of a program includes this header.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define METE_COUNTS_ALLOCATIONS 0  // these sanitizers have a malloc of their own
#else
#define METE_COUNTS_ALLOCATIONS 1
#endif

namespace mete {

inline std::atomic<bool> counting_allocations{false};
inline std::atomic<int> allocations{0};

// Returns how often `f` allocates, on all threads.
template <class F>
int AllocationsOf(F f) {
  allocations = 0;
  counting_allocations = true;
  f();
  counting_allocations = false;
  return allocations;
}

inline void CountAllocation() {
  if (counting_allocations.load(std::memory_order_relaxed))
    allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace mete

#if METE_COUNTS_ALLOCATIONS
// glibc's own functions under their second names; operator new ends in malloc.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) {
  mete::CountAllocation();
  return __libc_malloc(bytes);
}
void* calloc(size_t n, size_t bytes) {
  mete::CountAllocation();
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, size_t bytes) {
  mete::CountAllocation();
  return __libc_realloc(old, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  mete::CountAllocation();
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  mete::CountAllocation();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  mete::CountAllocation();
  *out = __libc_memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}
}
#endif
