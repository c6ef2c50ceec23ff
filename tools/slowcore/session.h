// A session: a core is made slow, kept slow, measured again and left free.
#pragma once

#include "apps/mete/context.h"
#include "mete/statistics.h"
#include "tools/slowcore/options.h"
#include "tools/slowcore/signals.h"
#include "tools/slowcore/slower.h"

namespace mete::slowcore {

struct Outcome {
  Spread start, end;       // the probed speed before and after; 1 is the free core
  double free_share = 0;   // the share of the free core that interrupts leave
  double overhead_ns = 0;  // time that other threads lose per period in addition to the busy part
  Account account;         // between the two probes
  double seconds = 0;      // between the two probes
  int exit_code = 0;
};

// Runs a session. Throws CANCELLED on an interrupt before the requested time has passed.
Outcome RunSession(const Options& options, Signals& signals, const cli::Context& context);

// Returns whether a speed is within the promised 1 % of the requested speed.
bool Near(double speed, double asked);

}  // namespace mete::slowcore
