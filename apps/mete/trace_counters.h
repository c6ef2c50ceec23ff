// The counters of traces: the memory of activations, and this machine's clocks and power while a session
// runs.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "context.h"
#include "mete/engine.h"

namespace mete {
class RunMeters;
}

namespace mete::cli {

class TraceCounters {
 public:
  // Prints a note if this machine has meters that cannot be read.
  explicit TraceCounters(const Context& context);
  ~TraceCounters();

  // Calls `run`, which fills `trace` by a run of the session, and adds the counters to the trace.
  void Measure(const Session& session, Trace& trace, const std::function<void()>& run);
  // Runs the session with these options, one of which is the trace.
  std::vector<Tensor> Run(Session& session, const std::vector<Tensor>& inputs, const RunOptions& options);

 private:
  const std::unique_ptr<RunMeters> meters_;
};

}  // namespace mete::cli
