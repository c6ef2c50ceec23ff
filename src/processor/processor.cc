#include "processor/processor.h"

#include <pthread.h>

namespace mete {

void Ready::Run(std::span<const ConstView> inputs, std::span<const View> outputs, const RunOptions& options) {
  Start(inputs, outputs, options);
  Wait();
}

AdoptedThread::AdoptedThread(const Processor& processor) {
  const int core = processor.CallerCore();
  if (core < 0 || pthread_getaffinity_np(pthread_self(), sizeof saved_, &saved_) != 0) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  pinned_ = pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
}

AdoptedThread::~AdoptedThread() {
  if (pinned_) pthread_setaffinity_np(pthread_self(), sizeof saved_, &saved_);
}

}  // namespace mete
