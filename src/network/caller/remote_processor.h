// Another device as a Processor, as the CPU is one: each step is a deployment of its own, so that its inputs
// and outputs travel. For single steps, and to compare with; what runs groups of fused layers is
// deployed_plan.h.
#pragma once

#include "processor/processor.h"
#include "network/remote/remote_device.h"

namespace mete {

class RemoteProcessor : public Processor {
 public:
  explicit RemoteProcessor(RemoteDevice& remote) : remote_(remote) {}  // keeps a reference

  const char* name() const override { return "remote"; }
  // Shapes that depend on data, and values that are not in plain order, are not for sending.
  std::string WhyNot(const Graph& graph, const Node& node) const override;
  // Sends the weights that are not there. Error where the device does not answer. Execute() throws
  // DeviceError where it is gone.
  std::unique_ptr<Prepared> Prepare(const Graph& graph, const Node& node, const Step& step) override;

 private:
  RemoteDevice& remote_;
};

}  // namespace mete
