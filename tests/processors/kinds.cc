#include "kinds.h"

#include <stdlib.h>

#include <utility>

#include "processor/cpu/cpu_testing.h"
#include "processor/emulated/emulated.h"
#include "processor/make/make_processor.h"
#include "processor/opencl/api/device_testing.h"
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

// PoCL computes on the CPU what a GPU would, and counts as one here.
std::string WhyNoGpu() {
  opencl::KeepPoclInTemporaryFolder();
  setenv("METE_GPU", "cpu", /*overwrite=*/0);
  setenv("METE_GPUS_PROGRAM", METE_GPUS_PROGRAM, /*overwrite=*/0);
  setenv("METE_CACHE", std::getenv("POCL_CACHE_DIR"), /*overwrite=*/0);
  std::string why;
  (void)opencl::AnyDevice(why);
  return why;
}

MadeProcessor OfKind(const std::string& kind, const SessionOptions& options) {
  return {MakeProcessor({.name = kind, .kind = kind}, options), nullptr};
}

Kind KindOfTable(const std::string& name) {
  const auto make = [name](const SessionOptions& options) { return OfKind(name, options); };
  if (name != "gpu") return {name, make};
  return {name, make, 1315, /*has_reference=*/false, WhyNoGpu};
}

}  // namespace

Kind KindOfMembers(std::string name, MakeMember make) {
  const auto made = [make = std::move(make)](const SessionOptions& options) {
    auto gate = std::make_shared<Gated>(std::make_shared<Cpu>("member", options));
    return MadeProcessor{std::make_shared<OverAMember>(make(gate)), gate};
  };
  // Values whose shapes depend on data cannot be sent, such as those of a Reshape whose shape is an input, or
  // of a HannWindow whose size or a DFT whose axis is.
  return {std::move(name), made, 308};
}

std::vector<Kind> AllKinds() {
  std::vector<Kind> all = KindsOverNetwork();
  all.push_back(KindOfMembers("member", [](std::shared_ptr<Processor> processor) {
    return std::make_shared<LocalMember>(std::move(processor));
  }));
  all.push_back({"emulated_slow", SlowGpu});
  for (const std::string& kind : ProcessorKinds()) all.push_back(KindOfTable(kind));
  return all;
}

}  // namespace mete
