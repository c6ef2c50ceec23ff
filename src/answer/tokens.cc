// Outputs that are tokens of a text, or their logits.
#include <algorithm>
#include <cmath>

#include "answer/outputs.h"
#include "base/visit_type.h"
#include "mete/io.h"

namespace mete {
namespace {

bool HasOneText(const Shape& shape) { return shape.rank() == 1 || (shape.rank() > 1 && shape[0] == 1); }

bool AreIds(const HeadOutput& output) {
  const Shape& shape = output.values.shape;
  return HasOneText(shape) && shape.rank() <= 2 && !IsFloat(output.values.type) &&
         output.values.type != DType::kBool;
}

bool AreLogits(const HeadOutput& output) {
  const Shape& shape = output.values.shape;
  return HasOneText(shape) && shape.rank() == 3 && IsFloat(output.values.type) && shape[2] > 0;
}

bool IsNamedSo(const HeadOutput& output) {
  for (const char* part : {"logit", "token", "ids", "sequence"})
    if (output.name.find(part) != std::string::npos) return true;
  return false;
}

// Returns the only output that can be tokens, or the only one of them with such a name.
const HeadOutput& TokensOf(std::span<const HeadOutput> outputs) {
  std::vector<const HeadOutput*> all, named;
  for (const HeadOutput& output : outputs) {
    if (!AreIds(output) && !AreLogits(output)) continue;
    all.push_back(&output);
    if (IsNamedSo(output)) named.push_back(&output);
  }
  if (named.size() == 1) return *named[0];
  if (all.size() == 1) return *all[0];
  HeadOutputs("tokens", outputs)
      .Fail(all.empty() ? "no output can be the tokens" : "several outputs can be the tokens",
            "integers N or 1xN, or logits 1xNxV, of which one has 'logit', 'token', 'ids' or 'sequence' in "
            "its name");
}

// The logits of one position; those that are not numbers are never chosen.
class LogitRow {
 public:
  LogitRow(const ConstView& logits, int64_t row) : logits_(logits), begin_(row * width()) {}

  int64_t width() const { return logits_.shape[2]; }
  double at(int64_t token) const { return ElementAt(logits_, begin_ + token); }

  // -1: no logit is a number.
  int64_t Likeliest() const {
    int64_t best = -1;
    for (int64_t i = 0; i < width(); ++i)
      if (!std::isnan(at(i)) && (best < 0 || at(i) > at(best))) best = i;
    return best;
  }

  std::vector<LikelyToken> LikeliestOnes(int most) const {
    std::vector<int64_t> tokens;
    for (int64_t i = 0; i < width(); ++i)
      if (!std::isnan(at(i))) tokens.push_back(i);
    const auto end = tokens.begin() + std::min(int64_t(tokens.size()), int64_t(most));
    std::partial_sort(tokens.begin(), end, tokens.end(),
                      [&](int64_t a, int64_t b) { return at(a) != at(b) ? at(a) > at(b) : a < b; });
    if (tokens.empty()) return {};
    const double highest = at(tokens[0]);
    const auto weight = [&](int64_t token) {  // logits that are infinite share the whole
      return std::isinf(highest) ? double(at(token) == highest) : std::exp(at(token) - highest);
    };
    double sum = 0;
    for (const int64_t token : tokens) sum += weight(token);
    std::vector<LikelyToken> likely;
    for (auto token = tokens.begin(); token != end; ++token)
      likely.push_back({*token, float(weight(*token) / sum)});
    return likely;
  }

 private:
  const ConstView& logits_;
  const int64_t begin_;
};

}  // namespace

TokenAnswer DecodeTokens(std::span<const HeadOutput> outputs, int most) {
  const HeadOutput& output = TokensOf(outputs);
  TokenAnswer answer;
  if (AreIds(output)) {
    VisitInt(output.values.type, [&]<class T>() {
      const std::span ids(output.values.as<T>(), size_t(output.values.elements()));
      answer.tokens.assign(ids.begin(), ids.end());
    });
    return answer;
  }
  const int64_t positions = output.values.shape[1];
  for (int64_t i = 0; i < positions; ++i) answer.tokens.push_back(LogitRow(output.values, i).Likeliest());
  if (std::count(answer.tokens.begin(), answer.tokens.end(), -1) > 0)
    HeadOutputs("tokens", outputs)
        .Fail(fmt::format("'{}' has a position without any logit that is a number", output.name),
              "one or more");
  if (positions > 0) answer.last = LogitRow(output.values, positions - 1).LikeliestOnes(std::max(most, 1));
  return answer;
}

}  // namespace mete
