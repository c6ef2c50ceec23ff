// Softmax and normalisation over the innermost axis.
#include <fmt/format.h>

#include "dispatch/reason.h"
#include "kernels/fast/lrn/lrn.h"
#include "kernels/fast/softmax/rows.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/families.h"
#include "processor/cpu/prepare/grid.h"

namespace mete {
namespace {

// guess: smaller than for copies, because exponentials cost more
constexpr int64_t kLeastElements = 4 * 1024;

enum class RowKind { kSoftmax, kLogSoftmax, kLayerNorm, kRmsNorm };

class RowsStep : public PreparedNode {
 public:
  RowsStep(RowKind kind, int64_t rows, int64_t length, float epsilon, ThreadPool& pool)
      : pool_(pool), kind_(kind), rows_(rows), length_(length), epsilon_(epsilon), target_(ActiveTarget()) {
    blocks_ = std::min(rows, BlocksOf(rows * length, kLeastElements, pool.step_threads()));
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const float* x = in[0].as<float>();
    const float* scale = in.size() > 1 && in[1].present() ? in[1].as<float>() : nullptr;
    const float* shift = in.size() > 2 && in[2].present() ? in[2].as<float>() : nullptr;
    float* y = out[0].as<float>();
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const Range rows{rows_ * begin / blocks_, rows_ * end / blocks_};
      switch (kind_) {
        case RowKind::kSoftmax: return SoftmaxRows(x, length_, rows, y);
        case RowKind::kLogSoftmax: return LogSoftmaxRows(x, length_, rows, y);
        case RowKind::kLayerNorm: return LayerNormRows(x, length_, scale, shift, epsilon_, rows, y);
        case RowKind::kRmsNorm: return RmsNormRows(x, length_, scale, epsilon_, rows, y);
      }
    });
  }

  std::string kernel() const override {
    constexpr const char* kNames[] = {"softmax_f32", "log_softmax_f32", "layer_norm_f32", "rms_norm_f32"};
    return fmt::format("{} {}", kNames[size_t(kind_)], target_);
  }

 private:
  ThreadPool& pool_;
  const RowKind kind_;
  const int64_t rows_, length_;
  const float epsilon_;
  const std::string target_;
  int64_t blocks_ = 1;
};

class LrnStep : public PreparedNode {
 public:
  LrnStep(const LrnShape& shape, int64_t pixels, ThreadPool& pool)
      : pool_(pool), shape_(shape), pixels_(pixels), target_(ActiveTarget()) {
    blocks_ = std::min(pixels, BlocksOf(pixels * shape.channels, kLeastElements, pool.step_threads()));
  }
  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      RunLrn(shape_, in[0].as<float>(), {pixels_ * begin / blocks_, pixels_ * end / blocks_},
             out[0].as<float>());
    });
  }
  std::string kernel() const override { return fmt::format("lrn_f32 {}", target_); }

 private:
  ThreadPool& pool_;
  const LrnShape shape_;
  const int64_t pixels_;
  const std::string target_;
  int64_t blocks_ = 1;
};

// Returns the kind of an operator of the family `rows`.
RowKind KindOf(std::string_view op) {
  if (op == "Softmax") return RowKind::kSoftmax;
  if (op == "LogSoftmax") return RowKind::kLogSoftmax;
  return op == "LayerNormalization" ? RowKind::kLayerNorm : RowKind::kRmsNorm;
}

}  // namespace

std::unique_ptr<PreparedNode> PrepareLrn(const Graph& graph, const Node& node, Packer& packer,
                                         const KernelOptions&, std::string* why) {
  const Attributes& a = node.attributes;
  const Shape& x = graph.value(node.inputs[0]).shape;
  if (a.String("layout", "") != "NHWC" || !IsF32(graph, node.inputs[0])) return No("not f32 in NHWC", why);
  if (x.Elements() == 0) return No("nothing to compute", why);
  const LrnShape shape{x[3], a.Int("size", 1), a.Float("alpha", 1e-4f), a.Float("beta", 0.75f),
                       a.Float("bias", 1)};
  if (shape.channels > LrnShape::kMaxChannels || shape.size > LrnShape::kMaxSize)
    return No("too many channels", why);
  return std::make_unique<LrnStep>(shape, x.Elements(0, 3), packer.pool());
}

std::unique_ptr<PreparedNode> PrepareRows(const Graph& graph, const Node& node, Packer& packer,
                                          const KernelOptions&, std::string* why) {
  const RowKind kind = KindOf(node.op);
  const bool softmax = kind == RowKind::kSoftmax || kind == RowKind::kLogSoftmax;
  if (!IsF32(graph, node.inputs[0])) return No("not f32", why);
  if (node.output(1) != kNoValue || node.output(2) != kNoValue) return No("the statistics are wanted", why);
  const Shape& x = graph.value(node.inputs[0]).shape;
  if (x.rank() == 0 || x.Elements() == 0) return No("nothing to compute", why);
  const int64_t given = node.attributes.Int("axis", -1);
  const int axis = int(given < 0 ? given + x.rank() : given);
  const int64_t length = softmax ? x[axis] : x.Elements(axis, x.rank());
  if (softmax && x.Elements(axis + 1, x.rank()) != 1) return No("the axis is not the innermost one", why);
  for (size_t i = 1; !softmax && i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue && graph.value(node.inputs[i]).shape.Elements() != length)
      return No("the scale is broadcast", why);
  return std::make_unique<RowsStep>(kind, x.Elements() / length, length,
                                    node.attributes.Float("epsilon", 1e-5f), packer.pool());
}

}  // namespace mete
