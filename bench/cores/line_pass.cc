// Measures the time that a cache line takes from one core to another. Two virtual cores may share a
// third-level cache now and be on different dies a minute later, because the host moves them. An experiment
// that divides layers between two cores measures this time too, to know the placement in each round. The
// program prints {"cores": [0, 1], "ns": 27.3}: the time of one direction, the shortest of many batches,
// because other threads only make it longer (a core that tools/slowcore makes slow is free for some 100 us at
// a time). Exit status: 0 success, 1 a core is not available, 2 usage.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>

namespace {

// A batch takes 32 us if the cores are far from each other, all batches 5 ms.
constexpr int kBatches = 160, kPasses = 100;

int CoreOf(const char* text) {
  int core = -1;
  const char* end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, core);
  if (error == std::errc() && at == end && core >= 0 && core < CPU_SETSIZE) return core;
  std::fprintf(stderr, "line_pass: error: [core] got '%s', expected a number below %d\n", text, CPU_SETSIZE);
  std::exit(2);
}

void PinTo(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  const int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  if (error == 0) return;
  std::fprintf(stderr, "line_pass: error: [core %d] cannot run there: %s; try one of this process's\n", core,
               std::strerror(error));
  std::_Exit(1);
}

// Two cores write a number in turns, each after it has seen the number of the other.
class Line {
 public:
  void Await(int number) const {
    while (number_.load(std::memory_order_acquire) != number) {}
  }
  void Write(int number) { number_.store(number, std::memory_order_release); }

 private:
  alignas(128) std::atomic<int> number_ = 0;  // alone in a pair of lines: some processors prefetch pairs
};

double PassNs(int here, int there) {
  Line line;
  std::thread other([&] {
    PinTo(there);
    for (int i = 0; i < kBatches * kPasses; ++i) {
      line.Await(2 * i + 1);
      line.Write(2 * i + 2);
    }
  });
  PinTo(here);
  double least = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = batch * kPasses; i < (batch + 1) * kPasses; ++i) {
      line.Write(2 * i + 1);
      line.Await(2 * i + 2);
    }
    least = std::min(
        least, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
                   (2 * kPasses));
  }
  other.join();
  return least;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr,
                 "usage: line_pass CORE CORE\nhow many nanoseconds a cache line takes from one to the other, "
                 "as JSON\n");
    return 2;
  }
  const int here = CoreOf(words[1]), there = CoreOf(words[2]);
  if (here == there) {
    std::fprintf(stderr, "line_pass: error: [cores] got %d twice, expected two\n", here);
    return 2;
  }
  std::printf("{\"cores\": [%d, %d], \"ns\": %.1f}\n", here, there, PassNs(here, there));
  return 0;
}
