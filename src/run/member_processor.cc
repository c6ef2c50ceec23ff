#include "run/member_processor.h"

#include <cstring>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/problems.h"
#include "base/watch.h"
#include "graph/ports.h"
#include "run/deployed_plan.h"

namespace mete {
namespace {

constexpr std::chrono::minutes kPatience{1};  // guess: of one share, on the slowest board

Tensor CopyOf(const ConstView& view) {
  Tensor copy(view.type, view.shape);
  std::memcpy(copy.mutable_view().data, view.data, view.bytes());
  return copy;
}

class ReadyThere : public Ready {
 public:
  ReadyThere(const Graph& graph, Member& member, Processor& home)
      : start_ns_(NowNs()),
        graph_(graph),
        inputs_(PortsOf(graph_, graph_.inputs)),
        outputs_(PortsOf(graph_, graph_.outputs)),
        member_(member),
        home_(home),
        deployed_(Deploy()),
        prepare_ms_(double(NowNs() - start_ns_) * 1e-6) {}

  void Start(std::span<const ConstView> inputs, std::span<const View> outputs,
             const RunOptions& options) override {
    CheckInputs(graph_.name, inputs_, inputs);
    CheckOutputs(graph_.name, outputs_, outputs);
    std::vector<Tensor> in;
    for (const ConstView& input : inputs) in.push_back(CopyOf(input));  // may be on the way when a run fails
    const std::vector<Tensor> out = RunThere(in, options);
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i].bytes() > 0) std::memcpy(outputs[i].data, out[i].data(), out[i].bytes());
  }
  void Wait() override {}
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) override {
    std::vector<ConstView> views;
    for (const Tensor& input : inputs) views.push_back(input.view());
    CheckInputs(graph_.name, inputs_, views);
    return RunThere(inputs, options);
  }
  int64_t memory_bytes() const override { return 0; }  // here
  int threads() const override { return 1; }
  double prepare_ms() const override { return prepare_ms_; }

 private:
  std::unique_ptr<DeployedPlan> Deploy() {
    std::vector<std::string> notes;
    return std::make_unique<DeployedPlan>(
        graph_, PlanOnOne(graph_, {"home", member_.name()}, 1),
        HomeProcessor{home_, [this](const Graph& share) { return home_.Prepare(share); }},
        std::vector<Member*>{nullptr, &member_}, DeployOptions{}, [](const std::string&, int64_t, int64_t) {},
        &notes);
  }

  // A run that fails or is cancelled takes its deployment with it, and the next run makes another one.
  std::vector<Tensor> RunThere(std::span<const Tensor> inputs, const RunOptions& options) {
    std::lock_guard lock(mutex_);
    const CancelToken* const cancel = options.cancel;
    if (cancel && cancel->cancelled())
      Fail(Code::kCancelled, graph_.name, "the run was cancelled before it was sent");
    if (!deployed_) deployed_ = Deploy();
    try {
      std::optional<Watch> watch;
      if (cancel) watch.emplace([cancel] { return cancel->cancelled(); }, [this] { deployed_->Cancel(); });
      std::vector<Tensor> outputs = deployed_->Run(inputs, kPatience);
      watch.reset();
      if (deployed_->failed()) deployed_.reset();  // cancelled after all was computed
      return outputs;
    } catch (...) {
      deployed_.reset();
      throw;
    }
  }

  const int64_t start_ns_;
  const Graph graph_;
  const std::vector<Port> inputs_, outputs_;
  Member& member_;
  Processor& home_;
  std::mutex mutex_;                        // of a run
  std::unique_ptr<DeployedPlan> deployed_;  // guarded by mutex_
  const double prepare_ms_;
};

}  // namespace

MemberProcessor::MemberProcessor(Member& member, Processor& home)
    : member_(member),
      home_(home),
      info_{member.name(), "member",
            member.address().empty() ? "a thread of this process" : member.address()} {}

std::string MemberProcessor::WhyNot(const Graph& graph, const Node& node) const {
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ValueId id : *list) {
      if (id == kNoValue) continue;
      const Value& value = graph.value(id);
      if (!value.shape.known()) return "the shape of " + value.name + " depends on data";
      if (value.layout != Layout::kPlain) return value.name + " is not in plain order";
    }
  return "";
}

std::shared_ptr<Ready> MemberProcessor::Prepare(const Graph& share) {
  Problems problems;
  for (const Node& node : share.nodes)
    problems.Try([&] {
      if (const std::string why = WhyNot(share, node); !why.empty())
        Fail(Code::kUnimplemented, node.name, "cannot be computed elsewhere: {}", why);
    });
  problems.ThrowIfAny();
  return std::make_shared<ReadyThere>(share, member_, home_);
}

}  // namespace mete
