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
  // `wide` has all cores of the server's slots, `narrow` has one thread, which is the slot's. Each share is
  // made ready on `wide`, and for each slot on `narrow`, whose shares have their weights in common. `server`
  // outlives this object and all that it has prepared.
  SlotProcessor(std::shared_ptr<Processor> wide, std::shared_ptr<Processor> narrow, int slots, Server& server)
      : wide_(std::move(wide)), narrow_(std::move(narrow)), slots_(slots), server_(server) {}

  const ProcessorInfo& info() const override { return wide_->info(); }
  std::string WhyNot(const Graph& graph, const Node& node) const override {
    return wide_->WhyNot(graph, node);
  }
  // A share that finds no place in the server's queue fails with the error that a request would have. Its
  // kernels are chosen by the times that are known and by estimates, because a measurement would be outside
  // of the slots: it would take cores from requests, whose load would spoil it.
  std::shared_ptr<Ready> Prepare(const Graph& share) override;
  bool OrdersShares() const override { return true; }  // the server's queue does
  ProcessorMemory memory() const override;

 private:
  const std::shared_ptr<Processor> wide_, narrow_;
  const int slots_;
  Server& server_;
};

}  // namespace mete::serve
