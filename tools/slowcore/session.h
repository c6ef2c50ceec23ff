// A core is made slow, kept so, looked at again and left.
#pragma once

#include "apps/mete/context.h"
#include "mete/statistics.h"
#include "tools/slowcore/options.h"
#include "tools/slowcore/signals.h"
#include "tools/slowcore/slower.h"

namespace mete::slowcore {

struct Outcome {
  Spread start, end;       // the speed as probed before and after; 1 is the free core
  double free_share = 0;   // of the free core: what its interrupts leave
  double overhead_ns = 0;  // what others lose in a period beside the busy part
  Account account;         // between the two
  double seconds = 0;      // between the two
  int exit_code = 0;
};

// Throws CANCELLED on an interrupt before the time that was asked for.
Outcome RunSession(const Options& options, Signals& signals, const cli::Context& context);

// Whether a speed is as near to what was asked as this program promises: 1 %.
bool Near(double speed, double asked);

}  // namespace mete::slowcore
