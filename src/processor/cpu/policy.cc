#include "processor/cpu/policy.h"

#include <vector>

#include "base/error.h"

namespace mete {
namespace {

class EqualPolicy : public Policy {
 public:
  void Begin(int64_t blocks, int workers) override {
    blocks_ = blocks;
    if (taken_.size() < size_t(workers)) taken_.resize(size_t(workers));
    workers_ = workers;
    for (Flag& t : taken_) t.value = false;
  }

  bool Next(int w, BlockRange* range) override {
    if (taken_[size_t(w)].value) return false;
    taken_[size_t(w)].value = true;
    range->begin = blocks_ * w / workers_;
    range->end = blocks_ * (w + 1) / workers_;
    return range->begin < range->end;
  }

 private:
  struct alignas(64) Flag {  // a line each: workers write side by side
    bool value = false;
  };
  int64_t blocks_ = 0;
  int workers_ = 1;
  std::vector<Flag> taken_;
};

}  // namespace

std::unique_ptr<Policy> MakePolicy(std::string_view name) {
  if (name == "equal") return std::make_unique<EqualPolicy>();
  Invalid("policy", "unknown policy; got '{}', expected equal", name);
}

}  // namespace mete
