// A new thread inherits the cores of the thread that makes it. A thread that a processor has pinned to one
// core must not hand this core down: the functions here start threads on the cores that the maker had before.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <concepts>
#include <utility>

namespace mete {

// Pins the calling thread to one core for the object's life.
class PinnedTo {
 public:
  // `core` -1, or a core that the kernel refuses: the thread stays where it is.
  explicit PinnedTo(int core) {
    if (core < 0 || core >= CPU_SETSIZE) return;
    if (pthread_getaffinity_np(pthread_self(), sizeof before_, &before_) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pinned_ = pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
    if (pinned_ && !first_) first_ = this;
  }
  ~PinnedTo() {
    if (first_ == this) first_ = nullptr;
    if (pinned_) pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
  }
  PinnedTo(const PinnedTo&) = delete;
  PinnedTo& operator=(const PinnedTo&) = delete;

  // Returns the cores of the calling thread as they were before any object of this class pinned it.
  static cpu_set_t CoresBefore() {
    if (first_) return first_->before_;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    (void)pthread_getaffinity_np(pthread_self(), sizeof cores, &cores);
    return cores;
  }

 private:
  inline static thread_local const PinnedTo* first_ = nullptr;
  cpu_set_t before_;
  bool pinned_ = false;
};

// A function for a new thread: gives the thread these cores and calls `f`.
template <class F>
struct OnCores {
  cpu_set_t cores;
  F f;

  template <class... A>
  requires std::invocable<F&, A...>
  auto operator()(A&&... arguments) {
    if (CPU_COUNT(&cores) > 0) (void)pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);
    return f(std::forward<A>(arguments)...);
  }
};

// Returns a function for a new thread: it gives the thread the cores that the caller of Unpinned() has when
// nothing pins it, and calls `f`.
template <class F>
OnCores<F> Unpinned(F f) {
  return {PinnedTo::CoresBefore(), std::move(f)};
}

}  // namespace mete
