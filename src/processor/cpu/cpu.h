// A CPU, or some of its cores, as a processor: its shares run on threads that it pins to these cores.
#pragma once

#include "processor/processor.h"

namespace mete {

struct CpuMemory;

class Cpu : public Processor {
 public:
  // `options` are those of every share, with the threads, cores and emulated speeds of the processor.
  Cpu(std::string name, SessionOptions options);

  const ProcessorInfo& info() const override { return info_; }
  std::string WhyNot(const Graph& graph, const Node& node) const override;
  std::shared_ptr<Ready> Prepare(const Graph& share) override;
  std::shared_ptr<Ready> PrepareSoon(const Graph& share) override;
  std::shared_ptr<Ready> PrepareAsPlanned(const Graph& share, const ThreadPlan& threads) override;
  int CallerCore() const override { return caller_core_; }
  ProcessorMemory memory() const override;

 private:
  const ProcessorInfo info_;
  const SessionOptions options_;
  const int caller_core_;
  const std::shared_ptr<const CpuMemory> memory_;  // of all shares
};

}  // namespace mete
