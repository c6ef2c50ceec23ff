// Fused element-wise programs, Where, and comparisons.
#include "kernels/fast/elementwise/elementwise.h"

#include <fmt/format.h>

#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/grid.h"

namespace mete {
namespace {

class ElementwiseStep : public PreparedNode {
 public:
  ElementwiseStep(const Elementwise& of, ThreadPool& pool)
      : pool_(pool),
        of_(of),
        target_(ActiveTarget()),
        blocks_(BlocksOf(of.elements, kLeastElements, pool.step_threads())) {}

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    std::array<const float*, FusedProgram::kMaxInputs> inputs{};
    for (size_t i = 0; i < in.size(); ++i) inputs[i] = in[i].as<float>();
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const Range elements{of_.elements * begin / blocks_, of_.elements * end / blocks_};
      RunElementwise(of_.plan, inputs.data(), elements, out[0].as<float>());
    });
  }
  std::string kernel() const override { return fmt::format("{} {}", of_.kernel(), target_); }
  std::string reason() const override {
    const int steps = of_.plan.program.steps;
    return fmt::format("{} step{} in one", steps, steps == 1 ? "" : "s");
  }

 private:
  ThreadPool& pool_;
  const Elementwise of_;
  const std::string target_;
  const int64_t blocks_;
};

class SelectStep : public PreparedNode {
 public:
  SelectStep(const Selection& of, ThreadPool& pool)
      : pool_(pool),
        of_(of),
        target_(ActiveTarget()),
        blocks_(BlocksOf(of.elements, kLeastElements, pool.step_threads())) {}

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const Range elements{of_.elements * begin / blocks_, of_.elements * end / blocks_};
      RunSelect(of_.plan, static_cast<const uint8_t*>(in[0].data), in[1].as<float>(), in[2].as<float>(),
                elements, out[0].as<float>());
    });
  }
  std::string kernel() const override { return fmt::format("{} {}", of_.kernel(), target_); }

 private:
  ThreadPool& pool_;
  const Selection of_;
  const std::string target_;
  const int64_t blocks_;
};

class CompareStep : public PreparedNode {
 public:
  CompareStep(const Comparison& of, ThreadPool& pool)
      : pool_(pool),
        of_(of),
        target_(ActiveTarget()),
        blocks_(BlocksOf(of.elements, kLeastElements, pool.step_threads())) {}

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const void *a = in[of_.swapped ? 1 : 0].data, *b = in[of_.swapped ? 0 : 1].data;
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const Range elements{of_.elements * begin / blocks_, of_.elements * end / blocks_};
      RunCompare(of_.plan, a, b, elements, static_cast<uint8_t*>(out[0].data));
    });
  }
  std::string kernel() const override { return fmt::format("{} {}", of_.kernel(), target_); }

 private:
  ThreadPool& pool_;
  const Comparison of_;
  const std::string target_;
  const int64_t blocks_;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const Elementwise& program, const Preparation& of) {
  return std::make_unique<ElementwiseStep>(program, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const Selection& selection, const Preparation& of) {
  return std::make_unique<SelectStep>(selection, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const Comparison& comparison, const Preparation& of) {
  return std::make_unique<CompareStep>(comparison, of.pool());
}

}  // namespace mete
