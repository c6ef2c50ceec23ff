// A processor whose shares are computed in a server's slots, so that what a worker beside the server computes
// for other devices and what the server computes for its callers never have more threads than there are
// cores, and so that the server's load is that of both.
#pragma once

#include <memory>

#include "processor/processor.h"
#include "serve/server/server.h"

namespace mete::serve {

class SlotProcessor : public Processor {
 public:
  // `wide` has all cores of the slots, `narrow` one thread, which is the slot's. Each share is made ready on
  // both. `server` outlives this object and all that it has prepared.
  SlotProcessor(std::shared_ptr<Processor> wide, std::shared_ptr<Processor> narrow, Server& server)
      : wide_(std::move(wide)), narrow_(std::move(narrow)), server_(server) {}

  const ProcessorInfo& info() const override { return wide_->info(); }
  std::string WhyNot(const Graph& graph, const Node& node) const override {
    return wide_->WhyNot(graph, node);
  }
  // A share that finds no place in the server's queue fails with the error that a request would have.
  std::shared_ptr<Ready> Prepare(const Graph& share) override;
  ProcessorMemory memory() const override;

 private:
  const std::shared_ptr<Processor> wide_, narrow_;
  Server& server_;
};

}  // namespace mete::serve
