#include "processor/cpu/prepare/kernels.h"

#include "base/error.h"
#include "kernels/reference/reference.h"
#include "processor/cpu/prepare/prepare.h"

namespace mete {
namespace {

class ReferenceStep : public PreparedNode {
 public:
  ReferenceStep(const Node& node, RefKernel kernel, std::string reason)
      : node_(node), kernel_(kernel), reason_(std::move(reason)) {}

  void Execute(std::span<const ConstView> inputs, std::span<View> outputs) override {
    RefArgs args{node_.attributes, inputs, outputs, scratch_, {}};
    scratch_.Reset();
    kernel_(args);
  }
  // Gather copies whole elements. Its table may be most of a model, of which a run reads some rows.
  Reads reads(size_t input) const override {
    return node_.op == "Gather" && input == 0 ? Reads::kBytes : Reads::kElements;
  }
  std::string kernel() const override { return "reference"; }
  std::string reason() const override { return reason_; }

 private:
  const Node& node_;
  RefKernel kernel_;
  std::string reason_;
  Scratch scratch_;
};

std::vector<Tensor> ConstantsOf(const Graph& graph, const Node& node) {
  std::vector<Tensor> constants;
  for (const ValueId id : node.inputs)
    if (id != kNoValue && graph.value(id).is_constant()) constants.push_back(graph.value(id).constant);
  return constants;
}

}  // namespace

CpuKernels::CpuKernels(const KernelOptions& options)
    : options_(options),
      again_(options),
      pool_(options.threads, options.cores, options.policy, options.speeds, options.workers),
      packer_(pool_, options.packed_cache, options.packed) {
  again_.again = true;
  again_.tuner = nullptr;
}

std::unique_ptr<PreparedNode> CpuKernels::Prepare(const Graph& graph, const Node& node, const Step& step) {
  return PrepareWith(options_, graph, node, step);
}

std::unique_ptr<PreparedNode> CpuKernels::PrepareAgain(const Graph& graph, const Node& node, const Step& step,
                                                       const PreparedNode* like) {
  again_.like = like;
  return PrepareWith(again_, graph, node, step);
}

std::unique_ptr<PreparedNode> CpuKernels::PrepareWith(const KernelOptions& options, const Graph& graph,
                                                      const Node& node, const Step& step) {
  pool_.PrepareStep(step.threads);
  packer_.SetConstants(ConstantsOf(graph, node));
  std::string why = "the reference was asked for";
  if (!options.reference) {
    if (const auto fast = FastKernelOf(graph, node, options.dispatch, &why))
      return std::visit(
          [&](const auto& kernel) {
            return mete::Prepare(kernel, {graph, node, packer_, options});
          },
          *fast);
  }
  const RefKernel kernel = FindReference(node.op);
  if (!kernel) Fail(Code::kUnimplemented, node.name, "no kernel for operator {}", node.op);
  return std::make_unique<ReferenceStep>(node, kernel, why);
}

}  // namespace mete
