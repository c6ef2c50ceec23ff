// mete bench --on-command: runs a prepared model on command, for programs that measure several engines in
// turn.
//
// The protocol is lines of JSON on stdin and stdout, one line per answer (bench/peers/worker.py speaks it for
// other engines):
//   at the start: {"engine", "version", "settings", "ready_ns", "read_ns", "loaded_ns", "answered_ns",
//   "ready_kib"}
//   {"do": "time", "warm": 1, "runs": 9}: {"ns": [...]}, the time of each run after `warm` uncounted ones
//   {"do": "release"}: {"released": true}, after the pages of files that this process maps have left it
//   {"do": "save", "folder": "F"}: {"files": [...]}, the outputs of a new run as .npy, in the model's order
// The session settles at the first command, so that none of its answers has to be waited for. The end of
// stdin ends the program. Times are those of the system's monotonic clock; between commands nothing runs.
#pragma once

#include <cstdint>
#include <string>

#include "context.h"
#include "runner.h"

namespace mete::cli {

// Returns nanoseconds of the monotonic clock, which all processes of this machine share.
int64_t MonotonicNs();

// Returns a field of /proc/self/status in KiB, e.g. "VmRSS:"; 0 if the system does not have it.
int64_t StatusKib(const std::string& field);

struct ProgramStart {
  int64_t ready_ns = 0;     // before the model's file is opened
  int64_t read_ns = 0;      // when the model's file is read and its graph is there
  int64_t loaded_ns = 0;    // when the session is prepared
  int64_t answered_ns = 0;  // when the first run has ended
  int64_t ready_kib = 0;    // resident memory at ready_ns
};

// Writes the greeting line, then answers commands until stdin ends.
void Obey(Session& session, Runner& runner, const ProgramStart& start, const Json& settings,
          const Context& context);

}  // namespace mete::cli
