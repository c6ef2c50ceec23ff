#include "machine/run_meters.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "machine/frequency_policy.h"

namespace mete {
namespace {

// A guess: governors of Linux look at the load each 1 to 10 ms, and a reading takes microseconds.
constexpr int64_t kClocksNs = 5'000'000;

}  // namespace

RunMeters::RunMeters(const Machine& machine, const std::string& root, EnergyClock clock)
    : sysfs_(root), clock_(std::move(clock)) {
  for (const Cluster& cluster : machine.clusters) {
    if (cluster.frequency.policies.empty()) continue;
    const std::string file =
        "sys/devices/system/cpu/cpufreq/" + cluster.frequency.policies[0] + "/scaling_cur_freq";
    if (sysfs_.Readable(file)) clocks_.emplace_back(cluster.name, file);
  }
  if (machine.meters.empty()) return;
  try {
    meter_ = OpenMeter(root, ChooseMeters(machine.meters, {}), clock_);
  } catch (const Error& e) {
    why_no_power_ = e.what();
  }
}

int64_t RunMeters::interval_ns() const {
  return meter_ ? std::min(meter_->poll_ns(), std::max(kClocksNs, meter_->update_ns())) : kClocksNs;
}

void RunMeters::Start() {
  readings_.clear();
  start_ns_ = clock_();
  Read();
}

void RunMeters::Read() {
  Reading reading{clock_() - start_ns_, {}, 0};
  for (const auto& [name, file] : clocks_)
    reading.mhz.push_back(double(sysfs_.Number(file, kMostKhz).value_or(0)) * 1e-3);
  try {
    if (meter_) reading.joules = meter_->Read().joules;
  } catch (const Error& e) {
    why_no_power_ = e.what();
    meter_.reset();
  }
  readings_.push_back(std::move(reading));
}

std::vector<TraceCounter> RunMeters::Counters() const {
  std::vector<TraceCounter> counters;
  for (size_t c = 0; c < clocks_.size(); ++c) {
    TraceCounter counter{"clock of " + clocks_[c].first, "MHz", {}};
    for (const Reading& reading : readings_)
      if (reading.mhz[c] > 0) counter.points.push_back({reading.ns, reading.mhz[c]});
    if (!counter.points.empty()) counters.push_back(std::move(counter));
  }
  if (!meter_) return counters;
  TraceCounter power{"power", "W", {}};
  for (size_t from = 0, to = 1; to < readings_.size(); ++to) {
    const Reading &before = readings_[from], &after = readings_[to];
    if (after.ns - before.ns < meter_->update_ns()) continue;
    power.points.push_back(
        {before.ns, (after.joules - before.joules) / (double(after.ns - before.ns) * 1e-9)});
    from = to;
  }
  if (!power.points.empty()) counters.push_back(std::move(power));
  return counters;
}

void ReadWhile(RunMeters& meters, Clock& clock, const std::function<void()>& run) {
  if (meters.empty()) return run();
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  meters.Start();
  std::thread reader([&] {
    std::unique_lock lock(mutex);
    const auto interval = std::chrono::nanoseconds(meters.interval_ns());
    while (!clock.WaitUntil(changed, lock, clock.Now() + interval, [&] { return done; })) meters.Read();
  });
  const auto end = [&] {
    {
      const std::lock_guard lock(mutex);
      done = true;
    }
    changed.notify_all();
    reader.join();
  };
  try {
    run();
  } catch (...) {
    end();
    throw;
  }
  end();
  meters.Read();
}

}  // namespace mete
