#include "tools/slowcore/probe.h"

#include <atomic>
#include <chrono>
#include <future>

#include "base/clock.h"
#include "base/error.h"
#include "tools/slowcore/core.h"

namespace mete::slowcore {
namespace {

// The time limit as a multiple of the windows' length: the probe gives up if about 40 other threads use the
// core. This value is a guess.
constexpr int kPatience = 40;
constexpr int64_t kListenNs = 10'000'000;  // the longest delay until a signal is noticed

std::vector<double> Watch(int core, const GapLimits& limits, int windows, const std::atomic<bool>& stop) {
  PinTo(core);
  std::vector<double> shares;
  CycleCounter counter(limits);
  int64_t last = NowNs();
  const int64_t deadline = last + kPatience * windows * kWindowNs;
  while (int(shares.size()) < windows && last < deadline && !stop.load(std::memory_order_relaxed)) {
    const int64_t now = NowNs();
    counter.Add(now - last);
    last = now;
    if (counter.counted_ns() < kWindowNs) continue;
    shares.push_back(counter.OwnShare());
    counter.StartWindow();
  }
  return shares;
}

}  // namespace

std::vector<double> Probe(int core, const GapLimits& limits, int windows, Signals& signals) {
  std::atomic<bool> stop{false};
  auto watched = std::async(std::launch::async, [&] { return Watch(core, limits, windows, stop); });
  while (watched.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    const std::optional<int> signal = signals.Wait(kListenNs);
    if (signal && *signal != SIGCHLD) stop = true;
  }
  const std::vector<double> shares = watched.get();
  if (stop) Fail(Code::kCancelled, "slowcore", "interrupted while measuring");
  if (int(shares.size()) == windows) return shares;
  Fail(Code::kUnavailable, "--core",
       "core {} has too little time to measure its speed; got {} windows of {} ms in {} s, expected {}; try "
       "when fewer others run there",
       core, shares.size(), kWindowNs / 1'000'000, kPatience * windows * kWindowNs / 1'000'000'000, windows);
}

}  // namespace mete::slowcore
