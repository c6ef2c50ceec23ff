// Elements that are chosen along an axis: TopK, ArgMax, ArgMin.
#include <fmt/format.h>

#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/prepare.h"

namespace mete {
namespace {

// Blocks are ranges of lines.
class TopStep : public PreparedNode {
 public:
  TopStep(const TopChoice& top, ThreadPool& pool)
      : pool_(pool),
        name_(fmt::format("{} {}", top.kernel(), ActiveTarget())),
        shape_(top.shape),
        blocks_(std::min(shape_.lines(),
                         BlocksOf(shape_.lines() * shape_.length, kLeastCostly, pool.step_threads()))),
        scratch_(size_t(blocks_ > 1 ? pool.threads() : 1), TopScratch(shape_)) {}

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    float* values = out[0].present() ? out[0].as<float>() : nullptr;
    int64_t* indices = out.size() > 1 && out[1].present() ? out[1].as<int64_t>() : nullptr;
    pool_.For(blocks_, [&](int worker, int64_t begin, int64_t end) {
      const Range lines{shape_.lines() * begin / blocks_, shape_.lines() * end / blocks_};
      RunTop(shape_, in[0].as<float>(), lines, scratch_[blocks_ > 1 ? size_t(worker) : 0], values, indices);
    });
  }
  std::string kernel() const override { return name_; }

 private:
  ThreadPool& pool_;
  const std::string name_;
  const TopShape shape_;
  const int64_t blocks_;
  std::vector<TopScratch> scratch_;  // by thread
};

// Blocks are ranges of units.
class BestStep : public PreparedNode {
 public:
  BestStep(const BestChoice& best, ThreadPool& pool)
      : pool_(pool),
        name_(fmt::format("{} {}", best.kernel(), ActiveTarget())),
        shape_(best.shape),
        units_(BestUnits(shape_)),
        blocks_(
            std::min(units_, BlocksOf(shape_.lines() * shape_.length, kLeastCostly, pool.step_threads()))) {}

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      RunBest(shape_, in[0].as<float>(), {units_ * begin / blocks_, units_ * end / blocks_},
              out[0].as<int64_t>());
    });
  }
  std::string kernel() const override { return name_; }

 private:
  ThreadPool& pool_;
  const std::string name_;
  const BestShape shape_;
  const int64_t units_, blocks_;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const TopChoice& top, const Preparation& of) {
  return std::make_unique<TopStep>(top, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const BestChoice& best, const Preparation& of) {
  return std::make_unique<BestStep>(best, of.pool());
}

}  // namespace mete
