// A member of a pool as a processor: its shares are computed there, by deployments of one group.
#pragma once

#include "processor/processor.h"
#include "run/member.h"

namespace mete {

class MemberProcessor : public Processor {
 public:
  // Keeps references to both processors. `home` computes nothing.
  MemberProcessor(Member& member, Processor& home);

  const ProcessorInfo& info() const override { return info_; }
  // Returns a reason also for values whose shapes depend on data or that are not in plain order, because
  // these cannot be sent.
  std::string WhyNot(const Graph& graph, const Node& node) const override;
  std::shared_ptr<Ready> Prepare(const Graph& share) override;

 private:
  Member& member_;
  Processor& home_;
  const ProcessorInfo info_;
};

}  // namespace mete
