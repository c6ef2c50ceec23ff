// Timelines of the report, made of Chrome traces, which runs and simulations of all kinds write
// (base/timeline.h).
#pragma once

#include <string>

#include "context.h"

namespace mete::cli {

// What a timeline shows: "measured", "predicted" or "simulated".
struct TimelineTitle {
  std::string title, about, kind;
};

// Returns the timeline of a trace in a form that is a fifth as long:
//   lanes   {"group": the process, "name"} in the order of the trace
//   names   [name, operator, flops, bytes], each once
//   kinds   categories of slices: "node", "wait", "layout", "computes", "sends", ...
//   slices  [lane, name, kind, begin, duration] by lane and begin; the first three are indices, times are in us
//   arrows  [lane, us, lane, us]
// Events of other kinds are left out. INVALID_ARGUMENT, which begins with `where`, if it is no such trace.
Json TimelineOf(const TimelineTitle& title, const Json& trace, const std::string& where);

}  // namespace mete::cli
