#include "processor/processor.h"

#include "base/error.h"

namespace mete {

void Ready::Run(std::span<const ConstView> inputs, std::span<const View> outputs, const RunOptions& options) {
  Start(inputs, outputs, options);
  Wait();
}

std::shared_ptr<Ready> Processor::PrepareAsPlanned(const Graph&, const ThreadPlan&) {
  Invalid(
      info().name,
      "cannot follow the plan's threads of steps; got some for a processor of kind {}, expected none; try "
      "planning again",
      info().kind);
}

}  // namespace mete
