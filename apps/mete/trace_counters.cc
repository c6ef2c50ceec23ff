#include "trace_counters.h"

#include "base/clock.h"
#include "machine/run_meters.h"
#include "terminal.h"

namespace mete::cli {

TraceCounters::TraceCounters(const Context& context)
    : meters_(std::make_unique<RunMeters>(ReadMachine(), "/", NowNs)) {
  if (!meters_->why_no_power().empty())
    PrintNote(context, "the trace has no power, because this machine's meters cannot be read: " +
                           meters_->why_no_power());
}

TraceCounters::~TraceCounters() = default;

void TraceCounters::Measure(const Session& session, Trace& trace, const std::function<void()>& run) {
  ReadWhile(*meters_, Clock::Steady(), run);
  trace.counters = meters_->Counters();
  trace.counters.push_back(session.Activations(trace));
}

std::vector<Tensor> TraceCounters::Run(Session& session, const std::vector<Tensor>& inputs,
                                       const RunOptions& options) {
  std::vector<Tensor> outputs;
  Measure(session, *options.trace, [&] { outputs = session.Run(inputs, options); });
  return outputs;
}

}  // namespace mete::cli
