// Resize over two neighbouring axes.
#include <fmt/format.h>

#include "kernels/fast/resize/resize.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/prepare.h"

namespace mete {
namespace {

// The least number of elements of a block. This value is a guess: they take some microseconds.
constexpr int64_t kLeastResized = 8 * 1024;

class ResizeStep : public PreparedNode {
 public:
  ResizeStep(const Resizing& resizing, ThreadPool& pool)
      : pool_(pool), resizing_(resizing), target_(ActiveTarget()) {
    const ResizeShape& s = resizing_.shape;
    const int64_t elements = s.out_rows() * int64_t(s.columns.size()) * s.pixel;
    blocks_ = std::min(s.out_rows(), BlocksOf(elements, kLeastResized, pool.step_threads()));
  }
  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const int64_t rows = resizing_.shape.out_rows();
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      RunResize(resizing_.shape, in[0].as<float>(), {rows * begin / blocks_, rows * end / blocks_},
                out[0].as<float>());
    });
  }
  std::string kernel() const override { return fmt::format("{} {}", resizing_.kernel(), target_); }

 private:
  ThreadPool& pool_;
  const Resizing resizing_;
  const std::string target_;
  int64_t blocks_ = 1;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const Resizing& resizing, const Preparation& of) {
  return std::make_unique<ResizeStep>(resizing, of.pool());
}

}  // namespace mete
