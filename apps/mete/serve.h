// mete bench --serve: a prepared model that runs when it is told to, for programs that measure several
// engines in turn.
//
// Lines of JSON on stdin and stdout, an answer a line (bench/peers/worker.py is the same for other engines):
//   (at the start)                    {"engine", "version", "settings", "ready_ns", "loaded_ns",
//                                     "answered_ns", "ready_kib"}
//   {"do": "time", "warm": 1, "runs": 9}  {"ns": [...]}, the time of each run after `warm` ones that are not
//   counted
//   {"do": "save", "folder": "F"}         {"files": [...]}, the outputs of a fresh run as .npy, in the
//   model's order
// The end of stdin ends it. Times are of the system's monotonic clock; between commands nothing runs.
#pragma once

#include <cstdint>
#include <string>

#include "context.h"
#include "runner.h"

namespace mete::cli {

// Nanoseconds of the clock that every process of this machine shares.
int64_t MonotonicNs();

// A field of /proc/self/status in KiB, e.g. "VmRSS:"; 0 where the system does not tell.
int64_t StatusKib(const std::string& field);

struct ServeStart {
  int64_t ready_ns = 0;     // before the model's file is opened
  int64_t loaded_ns = 0;    // the session is prepared
  int64_t answered_ns = 0;  // the first run has ended
  int64_t ready_kib = 0;    // resident memory at ready_ns
};

// Greets, and answers until stdin ends.
void Serve(Runner& runner, const ServeStart& start, const Json& settings, const Context& context);

}  // namespace mete::cli
