#include "tools/slowcore/session.h"

#include <fmt/format.h>

#include <cmath>

#include "apps/mete/terminal.h"
#include "base/clock.h"
#include "base/error.h"
#include "tools/slowcore/command.h"
#include "tools/slowcore/control/real_time_limit.h"
#include "tools/slowcore/probe.h"

namespace mete::slowcore {
namespace {

constexpr double kPromise = 0.01;  // promised error, relative to the requested speed
constexpr double kAim = 0.004;     // less than the promise, which must hold later too; a guess
constexpr int kWindows = 20;       // 0.5 s for a median and its spread; a guess
// This value is a guess: one step is exact except for noise, and more rounds would not help.
constexpr int kRounds = 8;

class Session {
 public:
  Session(const Options& options, Signals& signals, const cli::Context& context)
      : options_(options),
        context_(context),
        pace_(options.pace()),
        signals_(signals),
        slower_(options.core, pace_, options.phases()) {}

  Outcome Run() {
    Calibrate();
    cli::PrintNote(context_, fmt::format("core {} is slow now: {:.4f} of its speed", options_.core,
                                         outcome_.start.median));
    slower_.Set(Slower::Mode::kPhases);
    const Account before = slower_.account();
    const int64_t start = NowNs();
    Hold();
    outcome_.seconds = double(NowNs() - start) * 1e-9;
    outcome_.account = Difference(slower_.account(), before);
    slower_.Set(Slower::Mode::kSlow);
    outcome_.end = ProbeSlowed();
    return outcome_;
  }

 private:
  static Account Difference(const Account& a, const Account& b) {
    return {a.slow_ns - b.slow_ns, a.lost_ns - b.lost_ns, a.held_ns - b.held_ns, a.cpu_ns - b.cpu_ns,
            a.periods - b.periods};
  }

  void Calibrate() {
    outcome_.free_share = Summarize(Probe(options_.core, FreeCore(pace_), kWindows, signals_)).median;
    slower_.Set(Slower::Mode::kSlow);
    for (int round = 0; round < kRounds; ++round) {
      outcome_.start = ProbeSlowed();
      if (std::abs(outcome_.start.median / pace_.speed - 1) <= kAim) break;
      outcome_.overhead_ns = NextOverheadNs(outcome_.overhead_ns, pace_, outcome_.start.median);
      slower_.SetOverheadNs(outcome_.overhead_ns);
    }
  }

  Spread ProbeSlowed() {
    std::vector<double> speeds = Probe(options_.core, SlowedCore(pace_), kWindows, signals_);
    for (double& speed : speeds) speed /= outcome_.free_share;
    return Summarize(std::move(speeds));
  }

  void Hold() {
    if (options_.command) outcome_.exit_code = RunCommand(*options_.command, signals_);
    else if (options_.seconds) HoldFor(int64_t(*options_.seconds * 1e9));
    else
      while (signals_.Wait(std::nullopt).value_or(SIGCHLD) == SIGCHLD) {}
  }

  void HoldFor(int64_t ns) {
    const int64_t end = NowNs() + ns;
    for (int64_t now = NowNs(); now < end; now = NowNs())
      if (signals_.Wait(end - now).value_or(SIGCHLD) != SIGCHLD)
        Fail(Code::kCancelled, "slowcore", "interrupted before its time was over");
  }

  const Options& options_;
  const cli::Context& context_;
  const Pace pace_;
  Signals& signals_;
  Slower slower_;
  Outcome outcome_;
};

}  // namespace

bool Near(double speed, double asked) { return std::abs(speed / asked - 1) <= kPromise; }

Outcome RunSession(const Options& options, Signals& signals, const cli::Context& context) {
  Check(options);
  CheckRealTimeShare(options.pace());
  return Session(options, signals, context).Run();
}

}  // namespace mete::slowcore
