#include "tools/slowcore/report.h"

#include <fmt/format.h>

#include "apps/mete/terminal.h"

namespace mete::slowcore {
namespace {

using cli::Json;

// The least share of processor time in the time that the thread held the core. This value is a guess:
// interrupts and the host of a virtual machine take the rest. Below it another thread had the core.
constexpr double kLeastCpuOfHeld = 0.95;

double Ratio(int64_t a, int64_t b) { return b > 0 ? double(a) / double(b) : 0; }

double SpeedByOwnClock(const Account& a) { return 1 - Ratio(a.lost_ns, a.slow_ns); }
double BusyUs(const Account& a) { return Ratio(a.held_ns, a.periods) * 1e-3; }
double SlowShare(const Outcome& r) {
  return r.seconds > 0 ? double(r.account.slow_ns) * 1e-9 / r.seconds : 0;
}

Json SpeedJson(const Spread& s) {
  return {{"median", s.median}, {"mad", s.mad}, {"min", s.least}, {"max", s.most}, {"windows", s.count}};
}

Json OutcomeJson(const Options& o, const Outcome& r) {
  Json json{{"core", o.core},
            {"asked", o.speed},
            {"speed", r.end.median},
            {"within_1_percent", Near(r.end.median, o.speed)},
            {"speed_before", SpeedJson(r.start)},
            {"speed_after", SpeedJson(r.end)},
            {"period_us", o.period_us},
            {"overhead_us", r.overhead_ns * 1e-3},
            {"free_share", r.free_share},
            {"seconds", r.seconds},
            {"periods", r.account.periods},
            {"speed_by_own_clock", SpeedByOwnClock(r.account)},
            {"busy_us", BusyUs(r.account)},
            {"cpu_of_held", Ratio(r.account.cpu_ns, r.account.held_ns)}};
  if (o.on_off_s)
    json["on_off"] = {
        {"mean_s", *o.on_off_s}, {"asked_share", o.on_share}, {"slow_share", SlowShare(r)}, {"seed", o.seed}};
  if (o.command) json["exit_code"] = r.exit_code;
  return json;
}

std::string OutcomeText(const Options& o, const Outcome& r) {
  std::string text = fmt::format(
      "core {} at {:.4f} of its speed, asked {:.4f} (before: {:.4f}); spread {:.4f}, {:.4f} to {:.4f} in {} "
      "windows\n",
      o.core, r.end.median, o.speed, r.start.median, r.end.mad, r.end.least, r.end.most, r.end.count);
  text += fmt::format(
      "{:.2f} s, {} periods of {:.0f} us, busy for {:.1f} us of each, by its own clock at {:.4f}\n",
      r.seconds, r.account.periods, o.period_us, BusyUs(r.account), SpeedByOwnClock(r.account));
  if (o.on_off_s)
    text += fmt::format("slow for {:.3f} of the time, asked {:.3f}\n", SlowShare(r), o.on_share);
  return text;
}

void PrintNotes(const Options& o, const Outcome& r, const cli::Context& context) {
  auto note = [&](const std::string& text) { cli::PrintNote(context, text); };
  if (!Near(r.end.median, o.speed))
    note(fmt::format("reached {:.4f}, which is not within 1 % of {:.4f}; before it was {:.4f}", r.end.median,
                     o.speed, r.start.median));
  if (r.account.periods > 0 && Ratio(r.account.cpu_ns, r.account.held_ns) < kLeastCpuOfHeld)
    note(
        fmt::format("somebody else had the core in {:.1f} % of the time in which it was held: a higher "
                    "real-time priority, the kernel's "
                    "limit on real-time threads, or the host of this virtual machine",
                    (1 - Ratio(r.account.cpu_ns, r.account.held_ns)) * 100));
}

}  // namespace

void PrintOutcome(const Options& options, const Outcome& outcome, const cli::Context& context) {
  FILE* to = options.command ? stderr : stdout;
  if (context.json) cli::PrintJson(OutcomeJson(options, outcome), to);
  else fmt::print(to, "{}", OutcomeText(options, outcome));
  PrintNotes(options, outcome, context);
}

}  // namespace mete::slowcore
