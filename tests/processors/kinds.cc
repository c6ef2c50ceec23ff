#include "kinds.h"

#include <utility>

#include "processor/cpu/cpu_testing.h"
#include "processor/emulated/emulated.h"
#include "processor/make/make_processor.h"
#include "run/local_member.h"
#include "run/member_processor.h"

namespace mete {
namespace {

// A member seen as a processor: deployments, inboxes and hand-overs are on the way.
class OverAMember : public Processor {
 public:
  explicit OverAMember(std::shared_ptr<Member> member)
      : member_(std::move(member)), processor_(*member_, ReferenceCpu()) {}
  const ProcessorInfo& info() const override { return processor_.info(); }
  std::string WhyNot(const Graph& graph, const Node& node) const override {
    return processor_.WhyNot(graph, node);
  }
  std::shared_ptr<Ready> Prepare(const Graph& share) override { return processor_.Prepare(share); }

 private:
  const std::shared_ptr<Member> member_;
  MemberProcessor processor_;
};

MadeProcessor SlowGpu(const SessionOptions& options) {
  return {std::make_shared<Emulated>("gpu", options, 0.5, Emulation{20, 10, 5, 0, {}, ""}), nullptr};
}

}  // namespace

Kind KindOfMembers(std::string name, MakeMember make) {
  const auto made = [make = std::move(make)](const SessionOptions& options) {
    auto gate = std::make_shared<Gated>(std::make_shared<Cpu>("member", options));
    return MadeProcessor{std::make_shared<OverAMember>(make(gate)), gate};
  };
  // Values whose shapes depend on data cannot be sent, such as those of a Reshape whose shape is an input.
  return {std::move(name), made, 259};
}

std::vector<Kind> AllKinds() {
  std::vector<Kind> all = KindsOverNetwork();
  all.push_back(KindOfMembers("member", [](std::shared_ptr<Processor> processor) {
    return std::make_shared<LocalMember>(std::move(processor));
  }));
  all.push_back({"emulated_slow", SlowGpu});
  for (const std::string& kind : ProcessorKinds())
    all.push_back({kind, [kind](const SessionOptions& options) {
                     return MadeProcessor{MakeProcessor({.name = kind, .kind = kind}, options), nullptr};
                   }});
  return all;
}

}  // namespace mete
