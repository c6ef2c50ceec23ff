// Fused element-wise programs.
#include "kernels/fast/elementwise/elementwise.h"

#include <fmt/format.h>

#include "kernels/fast/target/target.h"
#include "dispatch/reason.h"
#include "processor/cpu/prepare/families.h"
#include "processor/cpu/prepare/grid.h"

namespace mete {
namespace {

// As in pooling.cc: it costs more to hand out smaller pieces than to compute them.
constexpr int64_t kLeastElements = 16 * 1024;

bool AllOnes(const Shape& s, int first, int last) {
  for (int i = first; i < last; ++i)
    if (s[i] != 1) return false;
  return true;
}

// Returns how an input is broadcast to the output. An input of N x 1 x ... x C (the gate of a
// squeeze-and-excite block) is per channel within each image: then `per_image` is set and the program runs
// image by image.
std::optional<Broadcast> BroadcastOf(const Shape& in, const Shape& out, bool* per_image) {
  const int64_t n = in.Elements();
  if (n == out.Elements()) return Broadcast::kFull;
  if (n == 1) return Broadcast::kScalar;
  if (in.rank() == 0 || out.rank() == 0 || in.back() != out.back()) return std::nullopt;
  if (n == out.back()) return Broadcast::kChannel;
  if (in.rank() == out.rank() && out.rank() > 2 && in[0] == out[0] && AllOnes(in, 1, in.rank() - 1)) {
    *per_image = true;
    return Broadcast::kChannel;
  }
  return std::nullopt;
}

class ElementwiseStep : public PreparedNode {
 public:
  struct Input {
    Broadcast spread;
    bool per_image;
  };

  ElementwiseStep(const ElementwisePlan& plan, std::vector<Input> inputs, int64_t images, int64_t elements,
                  ThreadPool& pool)
      : pool_(pool),
        plan_(plan),
        inputs_(std::move(inputs)),
        images_(images),
        image_elements_(elements / images),
        target_(ActiveTarget()) {
    blocks_ = BlocksOf(image_elements_, kLeastElements, pool.step_threads());
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(images_ * blocks_, [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) Block(b / blocks_, b % blocks_, in, out[0].as<float>());
    });
  }
  std::string kernel() const override { return fmt::format("elementwise_f32 {}", target_); }
  std::string reason() const override {
    return fmt::format("{} step{} in one", plan_.program.steps, plan_.program.steps == 1 ? "" : "s");
  }

 private:
  void Block(int64_t image, int64_t part, std::span<const ConstView> in, float* out) {
    std::array<const float*, FusedProgram::kMaxInputs> pointers{};
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const int64_t step = inputs_[i].spread == Broadcast::kFull ? image_elements_
                           : inputs_[i].per_image                ? plan_.channels
                                                                 : 0;
      pointers[i] = in[i].as<float>() + image * step;
    }
    RunElementwise(plan_, pointers.data(),
                   {image_elements_ * part / blocks_, image_elements_ * (part + 1) / blocks_},
                   out + image * image_elements_);
  }

  ThreadPool& pool_;
  const ElementwisePlan plan_;
  const std::vector<Input> inputs_;
  const int64_t images_, image_elements_;
  const std::string target_;
  int64_t blocks_ = 1;
};

}  // namespace

std::unique_ptr<PreparedNode> PrepareElementwise(const Graph& graph, const Node& node, Packer& packer,
                                                 const KernelOptions&, std::string* why) {
  const Shape& out = graph.value(node.outputs[0]).shape;
  if (out.Elements() == 0) return No("nothing to compute", why);
  std::vector<ElementwiseStep::Input> inputs;
  std::vector<Broadcast> spreads;
  bool by_image = false;
  for (ValueId id : node.inputs) {
    bool per_image = false;
    const auto spread = BroadcastOf(graph.value(id).shape, out, &per_image);
    if (!spread)
      return No(fmt::format("{} is broadcast to {}", ToString(graph.value(id).shape), ToString(out)), why);
    inputs.push_back({*spread, per_image});
    spreads.push_back(*spread);
    by_image |= per_image;
  }
  FusedProgram program;
  ElementwisePlan plan;
  if (!ParseFusedProgram(node.attributes, int(node.inputs.size()), program).empty())
    return No("not a program", why);
  if (!PlanElementwise(program, spreads, out.rank() ? out.back() : 1, &plan))
    return No("needs too many values at once", why);
  return std::make_unique<ElementwiseStep>(plan, std::move(inputs), by_image ? out[0] : 1, out.Elements(),
                                           packer.pool());
}

}  // namespace mete
