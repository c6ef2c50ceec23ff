#include <cmath>
#include <numeric>

#include "schedule/policies.h"

namespace mete {
namespace {

class Fixed : public Policy {
 public:
  explicit Fixed(const std::vector<double>& shares)
      : ends_(shares.size() + 1, 0), taken_(shares.size(), false) {
    std::partial_sum(shares.begin(), shares.end(), ends_.begin() + 1);
    for (double& end : ends_) end /= ends_.back();
  }

  void Begin(const Region& region, int64_t) override {
    blocks_ = region.blocks;
    all_ = ends_[region.Workers(taken_.size())];
    std::fill(taken_.begin(), taken_.end(), false);
  }

  bool NextBlock(int worker, int64_t, BlockRange* range) override {
    const size_t w = size_t(worker);
    if (taken_[w]) return false;
    taken_[w] = true;
    *range = {std::llround(ends_[w] / all_ * double(blocks_)),
              std::llround(ends_[w + 1] / all_ * double(blocks_))};
    return range->size() > 0;
  }

 private:
  std::vector<double> ends_;  // ends of the workers' slices as fractions of all blocks, after a first 0
  std::vector<bool> taken_;
  int64_t blocks_ = 0;
  double all_ = 1;  // the end of the last slice of the workers that take part
};

}  // namespace

std::unique_ptr<Policy> MakeFixed(const std::vector<double>& shares) {
  return std::make_unique<Fixed>(shares);
}

}  // namespace mete
