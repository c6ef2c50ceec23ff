#include "tools/slowcore/options.h"

#include <fmt/format.h>

#include "apps/mete/context.h"

namespace mete::slowcore {
namespace {

struct Range {
  double least, most;
  bool Has(double v) const { return v >= least && v <= most; }  // false for NaN
};
// These values are guesses: outside of them, a thread switch (some microseconds) is no longer short compared
// with a busy part or with the other threads' part of a period. The kernel's default leaves real-time threads
// 0.95 of a core.
constexpr Range kSpeeds{0.05, 0.95};
// These values are guesses. With shorter periods, thread switches take the other threads' time. With longer
// ones, waiting for the end of a busy part (0.2 ms) is visible in single layers.
constexpr Range kPeriodsUs{150, 300};
constexpr Range kSeconds{0, 1e6};            // these values are guesses: up to eleven days
constexpr Range kPhaseSeconds{0.001, 1000};  // these values are guesses: a few periods or more
constexpr Range kShares{0.01, 0.99};         // these values are guesses

void CheckRange(const char* flag, const char* what, double value, const Range& range) {
  if (range.Has(value)) return;
  throw cli::UsageError(fmt::format("[{}] {} is out of range; got {}, expected {} to {}", flag, what, value,
                                    range.least, range.most));
}

}  // namespace

std::optional<PhaseSettings> Options::phases() const {
  if (!on_off_s) return std::nullopt;
  return PhaseSettings{*on_off_s, on_share, seed};
}

void AddOptions(CLI::App& app, Options& o) {
  app.description(
      "slowcore --core N --speed F [--for SECONDS | -- COMMAND ARGS...]\n"
      "Makes one core slow for every program on it: a real-time thread is busy there for a part of each "
      "period,\n"
      "so that others get the share of the core that you ask for. It measures what they get and corrects "
      "itself.\n"
      "The core is free again when it ends, however it ends; nothing of the machine is changed.");
  app.footer(
      "Needs the right to real-time priorities: root, CAP_SYS_NICE, or 'ulimit -r' of 1 or more.\n"
      "Without --for and COMMAND it goes on until an interrupt (Ctrl-C). The command is not pinned: do that\n"
      "with the program's own flags or taskset. Caches and memory stay as fast as they are.\n"
      "\n"
      "Exit codes: the command's own where there is one (128 + signal where one ended it), else\n"
      "  0  success\n"
      "  1  failure at run time: no right to real-time priorities, a core without time to measure\n"
      "  2  usage: a bad value, a core that is not there, a kernel's limit on real-time threads\n"
      "  5  cancelled by an interrupt before the time was over\n"
      "\n"
      "Examples:\n"
      "  slowcore --core 1 --speed 0.35                          until Ctrl-C\n"
      "  slowcore --core 1 --speed 0.35 -- mete bench net.onnx --threads 2\n"
      "  slowcore --core 1 --speed 0.5 --on-off 0.05 --for 60    interference at random");
  app.add_option("--core", o.core, "the core to make slow, as the kernel counts them")->required();
  app.add_option("--speed", o.speed,
                 fmt::format("what others get of it, {} to {}", kSpeeds.least, kSpeeds.most))
      ->required();
  app.add_option("--period-us", o.period_us,
                 fmt::format("microseconds from one busy part to the next, {} to {} (200)", kPeriodsUs.least,
                             kPeriodsUs.most));
  app.add_option("--for", o.seconds, "seconds to keep it slow, not counting those to get there");
  app.add_option("--on-off", o.on_off_s, "slow and free in turns of random length; its mean in seconds");
  app.add_option("--on-share", o.on_share, "with --on-off: the share of the time that is slow (0.5)");
  app.add_option("--seed", o.seed, "with --on-off: the same seed gives the same turns (1)");
}

void Check(const Options& o) {
  CheckRange("--speed", "a speed", o.speed, kSpeeds);
  CheckRange("--period-us", "a period", o.period_us, kPeriodsUs);
  if (o.seconds) CheckRange("--for", "a time", *o.seconds, kSeconds);
  if (o.on_off_s) CheckRange("--on-off", "a mean length", *o.on_off_s, kPhaseSeconds);
  CheckRange("--on-share", "a share", o.on_share, kShares);
  if (o.command && o.command->empty())
    throw cli::UsageError("[--] no command; got nothing behind it, expected a program with its arguments");
  if (o.command && o.seconds)
    throw cli::UsageError("[--for] a command ends when it ends; got both, expected one; leave out --for");
}

}  // namespace mete::slowcore
