#include "tools/slowcore/control/real_time_limit.h"

#include <cmath>
#include <fstream>
#include <optional>

#include "base/error.h"

namespace mete::slowcore {
namespace {

struct Limit {
  int64_t runtime_us = -1;  // -1: no limit
  int64_t period_us = 1'000'000;

  double share() const {
    return runtime_us < 0 || period_us <= 0 ? 1 : double(runtime_us) / double(period_us);
  }
};

void ReadNumber(const std::string& path, int64_t& number) {
  std::ifstream file(path);
  int64_t n = 0;
  if (file >> n) number = n;
}

Limit ReadLimit(const std::string& root) {
  const std::string folder = (root.empty() || root.back() == '/' ? root : root + "/") + "proc/sys/kernel/";
  Limit limit;
  ReadNumber(folder + "sched_rt_runtime_us", limit.runtime_us);
  ReadNumber(folder + "sched_rt_period_us", limit.period_us);
  return limit;
}

}  // namespace

double RealTimeShare(const std::string& root) { return ReadLimit(root).share(); }

void CheckRealTimeShare(const Pace& pace, const std::string& root) {
  const Limit limit = ReadLimit(root);
  const double busy = 1 - pace.speed;
  const double needed_us = std::ceil(busy * double(limit.period_us));
  if (busy <= limit.share() + 1e-9) return;  // rounding: 1 - 0.05 must pass the default limit of 0.95
  Fail(Code::kFailedPrecondition, "--speed",
       "the kernel gives real-time threads less of a core than this needs; got sched_rt_runtime_us {} of {}, "
       "expected {:.0f} or more, or -1; try a speed of {:.2f} or more, or sysctl "
       "kernel.sched_rt_runtime_us={:.0f}",
       limit.runtime_us, limit.period_us, needed_us, std::ceil((1 - limit.share()) * 100) / 100, needed_us);
}

}  // namespace mete::slowcore
