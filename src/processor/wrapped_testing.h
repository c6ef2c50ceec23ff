// A processor that computes as another one does: for tests, which override what is to be different.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "processor/processor.h"

namespace mete {

class Wrapped : public Processor {
 public:
  explicit Wrapped(std::shared_ptr<Processor> inner) : inner_(std::move(inner)) {}
  const ProcessorInfo& info() const override { return inner_->info(); }
  std::string WhyNot(const Graph& graph, const Node& node) const override {
    return inner_->WhyNot(graph, node);
  }
  std::shared_ptr<Ready> Prepare(const Graph& share) override { return inner_->Prepare(share); }

 private:
  const std::shared_ptr<Processor> inner_;
};

// A share of such a processor.
class WrappedReady : public Ready {
 public:
  explicit WrappedReady(std::shared_ptr<Ready> inner) : inner_(std::move(inner)) {}
  void Start(std::span<const ConstView> inputs, std::span<const View> outputs,
             const RunOptions& options) override {
    inner_->Start(inputs, outputs, options);
  }
  void Wait() override { inner_->Wait(); }
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) override {
    return inner_->Run(inputs, options);
  }
  int64_t memory_bytes() const override { return inner_->memory_bytes(); }
  int threads() const override { return inner_->threads(); }
  double prepare_ms() const override { return inner_->prepare_ms(); }

 private:
  const std::shared_ptr<Ready> inner_;
};

}  // namespace mete
