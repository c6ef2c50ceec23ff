// Fused element-wise programs.
#include "kernels/fast/elementwise/elementwise.h"

#include <fmt/format.h>

#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/grid.h"

namespace mete {
namespace {

// As in pooling.cc: it costs more to hand out smaller pieces than to compute them.
constexpr int64_t kLeastElements = 16 * 1024;

class ElementwiseStep : public PreparedNode {
 public:
  ElementwiseStep(const Elementwise& of, ThreadPool& pool)
      : pool_(pool), of_(of), image_elements_(of.elements / of.images), target_(ActiveTarget()) {
    blocks_ = BlocksOf(image_elements_, kLeastElements, pool.step_threads());
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(of_.images * blocks_, [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) Block(b / blocks_, b % blocks_, in, out[0].as<float>());
    });
  }
  std::string kernel() const override { return fmt::format("{} {}", of_.kernel(), target_); }
  std::string reason() const override {
    const int steps = of_.plan.program.steps;
    return fmt::format("{} step{} in one", steps, steps == 1 ? "" : "s");
  }

 private:
  void Block(int64_t image, int64_t part, std::span<const ConstView> in, float* out) {
    std::array<const float*, FusedProgram::kMaxInputs> pointers{};
    for (size_t i = 0; i < of_.inputs.size(); ++i) {
      const ElementwiseInput& input = of_.inputs[i];
      const int64_t step = input.spread == Broadcast::kFull ? image_elements_
                           : input.per_image                ? of_.plan.channels
                                                            : 0;
      pointers[i] = in[i].as<float>() + image * step;
    }
    RunElementwise(of_.plan, pointers.data(),
                   {image_elements_ * part / blocks_, image_elements_ * (part + 1) / blocks_},
                   out + image * image_elements_);
  }

  ThreadPool& pool_;
  const Elementwise of_;
  const int64_t image_elements_;
  const std::string target_;
  int64_t blocks_ = 1;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const Elementwise& program, const Preparation& of) {
  return std::make_unique<ElementwiseStep>(program, of.pool());
}

}  // namespace mete
