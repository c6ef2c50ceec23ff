// Reductions over any axes.
#include <fmt/format.h>

#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/prepare.h"

namespace mete {
namespace {

// Blocks are units of outputs. Where there are few of these, blocks are parts of the terms, which are joined
// at the end. The number of parts does not depend on the number of threads, so the sums do not either.
class ReduceStep : public PreparedNode {
 public:
  ReduceStep(const Reduction& reduction, ThreadPool& pool)
      : pool_(pool),
        name_(fmt::format("{} {}", reduction.kernel(), ActiveTarget())),
        shape_(reduction.shape),
        units_(ReduceUnits(shape_)) {
    const int64_t elements = shape_.outputs() * shape_.terms();
    if (units_ < kMostPieces && ReducesInParts(shape_.function))
      parts_ = std::clamp<int64_t>(elements / units_ / kLeastElements, 1, kMostPieces / units_);
    if (parts_ > 1) part_ = Tensor(DType::kF32, Shape{parts_ * shape_.outputs()});
    blocks_ = parts_ > 1 ? parts_ * units_
                         : std::min(units_, BlocksOf(elements, kLeastElements, pool.step_threads()));
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const float* from = in[0].as<float>();
    float* to = out[0].as<float>();
    if (parts_ > 1) return InParts(from, to);
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      RunReduce(shape_, from, {units_ * begin / blocks_, units_ * end / blocks_}, to);
    });
  }
  std::string kernel() const override { return name_; }

 private:
  void InParts(const float* from, float* to) {
    float* part = part_.mutable_view().as<float>();
    const int64_t terms = shape_.terms(), outputs = shape_.outputs();
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t unit = b / parts_, p = b % parts_;
        RunReducePart(shape_, from, {unit, unit + 1}, {terms * p / parts_, terms * (p + 1) / parts_},
                      part + p * outputs);
      }
    });
    JoinReduceParts(shape_, from, part, parts_, to);
  }

  ThreadPool& pool_;
  const std::string name_;
  const ReduceShape shape_;
  const int64_t units_;
  int64_t parts_ = 1, blocks_ = 1;
  Tensor part_;  // [part][output]
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const Reduction& reduction, const Preparation& of) {
  return std::make_unique<ReduceStep>(reduction, of.pool());
}

}  // namespace mete
