// Softmax and normalisation over the innermost axis.
#include <fmt/format.h>

#include "kernels/fast/lrn/lrn.h"
#include "kernels/fast/softmax/rows.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/grid.h"

namespace mete {
namespace {

class RowsStep : public PreparedNode {
 public:
  RowsStep(const NormalizedRows& rows, ThreadPool& pool) : pool_(pool), rows_(rows), target_(ActiveTarget()) {
    blocks_ = std::min(rows.count, BlocksOf(rows.count * rows.length, kLeastCostly, pool.step_threads()));
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const float* x = in[0].as<float>();
    const float* scale = in.size() > 1 && in[1].present() ? in[1].as<float>() : nullptr;
    const float* shift = in.size() > 2 && in[2].present() ? in[2].as<float>() : nullptr;
    float* y = out[0].as<float>();
    const int64_t length = rows_.length;
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const Range rows{rows_.count * begin / blocks_, rows_.count * end / blocks_};
      switch (rows_.kind) {
        case RowKind::kSoftmax: return SoftmaxRows(x, length, rows, y);
        case RowKind::kLogSoftmax: return LogSoftmaxRows(x, length, rows, y);
        case RowKind::kLayerNorm: return LayerNormRows(x, length, scale, shift, rows_.epsilon, rows, y);
        case RowKind::kRmsNorm: return RmsNormRows(x, length, scale, rows_.epsilon, rows, y);
      }
    });
  }

  std::string kernel() const override { return fmt::format("{} {}", rows_.kernel(), target_); }

 private:
  ThreadPool& pool_;
  const NormalizedRows rows_;
  const std::string target_;
  int64_t blocks_ = 1;
};

class LrnStep : public PreparedNode {
 public:
  LrnStep(const Lrn& lrn, ThreadPool& pool) : pool_(pool), lrn_(lrn), target_(ActiveTarget()) {
    blocks_ =
        std::min(lrn.pixels, BlocksOf(lrn.pixels * lrn.shape.channels, kLeastCostly, pool.step_threads()));
  }
  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      RunLrn(lrn_.shape, in[0].as<float>(), {lrn_.pixels * begin / blocks_, lrn_.pixels * end / blocks_},
             out[0].as<float>());
    });
  }
  std::string kernel() const override { return fmt::format("{} {}", lrn_.kernel(), target_); }

 private:
  ThreadPool& pool_;
  const Lrn lrn_;
  const std::string target_;
  int64_t blocks_ = 1;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const NormalizedRows& rows, const Preparation& of) {
  return std::make_unique<RowsStep>(rows, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const Lrn& lrn, const Preparation& of) {
  return std::make_unique<LrnStep>(lrn, of.pool());
}

}  // namespace mete
