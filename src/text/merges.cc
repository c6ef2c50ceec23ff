#include "text/merges.h"

#include <cstddef>
#include <queue>

namespace mete {
namespace {

// Two neighbours, which are places in the list of tokens, that may become one token. A candidate whose tokens
// have changed since is out of date.
struct MergeCandidate {
  float score;
  size_t left, right;
  int64_t left_token, right_token, merged;

  bool operator<(const MergeCandidate& other) const {  // in a queue whose greatest element is the next
    return score != other.score ? score < other.score : left > other.left;
  }
};

class MergeList {
 public:
  MergeList(const std::vector<int64_t>& tokens,
            const std::function<std::optional<MergedPair>(int64_t, int64_t)>& pair)
      : tokens_(tokens), next_(tokens.size()), previous_(tokens.size()), pair_(pair) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      next_[i] = i + 1;
      previous_[i] = i - 1;  // of the first one: kNone
    }
    for (size_t i = 0; i + 1 < tokens.size(); ++i) Consider(i, i + 1);
  }

  std::vector<int64_t> Run() {
    while (!candidates_.empty()) {
      const MergeCandidate best = candidates_.top();
      candidates_.pop();
      if (tokens_[best.left] == best.left_token && tokens_[best.right] == best.right_token &&
          next_[best.left] == best.right)
        Join(best);
    }
    std::vector<int64_t> left;
    for (size_t i = 0; i < tokens_.size(); i = next_[i]) left.push_back(tokens_[i]);
    return left;
  }

 private:
  static constexpr size_t kNone = size_t(-1);
  static constexpr int64_t kGone = -1;

  void Consider(size_t left, size_t right) {
    if (left == kNone || right >= tokens_.size()) return;
    if (const auto merged = pair_(tokens_[left], tokens_[right]))
      candidates_.push({merged->score, left, right, tokens_[left], tokens_[right], merged->token});
  }

  void Join(const MergeCandidate& best) {
    tokens_[best.left] = best.merged;
    tokens_[best.right] = kGone;
    const size_t after = next_[best.right];
    next_[best.left] = after;
    if (after < tokens_.size()) previous_[after] = best.left;
    Consider(previous_[best.left], best.left);
    Consider(best.left, after);
  }

  std::vector<int64_t> tokens_;
  std::vector<size_t> next_, previous_;
  const std::function<std::optional<MergedPair>(int64_t, int64_t)>& pair_;
  std::priority_queue<MergeCandidate> candidates_;
};

}  // namespace

std::vector<int64_t> Merge(const std::vector<int64_t>& tokens,
                           const std::function<std::optional<MergedPair>(int64_t, int64_t)>& pair) {
  return MergeList(tokens, pair).Run();
}

}  // namespace mete
