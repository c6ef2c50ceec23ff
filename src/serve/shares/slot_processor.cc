#include "serve/shares/slot_processor.h"

#include <vector>

#include "base/unpinned.h"

namespace mete::serve {
namespace {

// A share that is ready on all cores, and on one for each slot: what is ready computes one run at a time, and
// several callers may have the share in common. The server knows it as a guest, whose times it follows.
class SlotReady : public Ready {
 public:
  SlotReady(std::shared_ptr<Ready> wide, std::vector<std::shared_ptr<Ready>> narrow, Server& server)
      : wide_(std::move(wide)), narrow_(std::move(narrow)), server_(server), guest_(server.AddGuest()) {}
  ~SlotReady() override { server_.RemoveGuest(guest_); }

  void Start(std::span<const ConstView> inputs, std::span<const View> outputs,
             const RunOptions& options) override {
    Compute([&](Ready& ready) { ready.Run(inputs, outputs, options); });
  }
  void Wait() override {}
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) override {
    std::vector<Tensor> outputs;
    Compute([&](Ready& ready) { outputs = ready.Run(inputs, options); });
    return outputs;
  }
  // The shares for the slots have their weights in common: the activations of all but one are left out.
  int64_t memory_bytes() const override {
    return wide_->memory_bytes() + (narrow_.empty() ? 0 : narrow_[0]->memory_bytes());
  }
  int threads() const override { return wide_->threads(); }
  double prepare_ms() const override {
    double ms = wide_->prepare_ms();
    for (const auto& narrow : narrow_) ms += narrow->prepare_ms();
    return ms;
  }

 private:
  template <class Run>
  void Compute(const Run& run) {
    server_.ComputeGuest(guest_, [&](const GuestPlace& place) {
      const PinnedTo pin(place.core);
      run(place.wide ? *wide_ : *narrow_.at(size_t(place.slot)));
    });
  }

  const std::shared_ptr<Ready> wide_;
  const std::vector<std::shared_ptr<Ready>> narrow_;  // by slot; empty: the only slot has all cores
  Server& server_;
  const int guest_;
};

}  // namespace

std::shared_ptr<Ready> SlotProcessor::Prepare(const Graph& share) {
  std::vector<std::shared_ptr<Ready>> narrow;
  for (int slot = 0; slot < slots_ && slots_ > 1; ++slot) narrow.push_back(narrow_->PrepareSoon(share));
  return std::make_shared<SlotReady>(wide_->PrepareSoon(share), std::move(narrow), server_);
}

ProcessorMemory SlotProcessor::memory() const {
  const ProcessorMemory wide = wide_->memory(), narrow = narrow_->memory();
  return {wide.weights_bytes + narrow.weights_bytes, wide.values_bytes + narrow.values_bytes};
}

}  // namespace mete::serve
