#include "text/sampler.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace mete {
namespace {

struct TokenChance {
  int64_t token;
  double chance;  // a share of the sum of all chances
};

// The likeliest token first.
std::vector<TokenChance> ChancesOf(std::span<const float> logits, float highest, float temperature) {
  std::vector<TokenChance> chances;
  for (size_t i = 0; i < logits.size(); ++i)
    if (!std::isnan(logits[i]))
      chances.push_back({int64_t(i), std::exp((double(logits[i]) - highest) / temperature)});
  std::sort(chances.begin(), chances.end(), [](const TokenChance& a, const TokenChance& b) {
    return a.chance != b.chance ? a.chance > b.chance : a.token < b.token;
  });
  return chances;
}

double SumOf(const std::vector<TokenChance>& chances) {
  double sum = 0;
  for (const TokenChance& c : chances) sum += c.chance;
  return sum;
}

// Drops the tokens behind those that have `top_p` of all chances.
void KeepLikeliest(std::vector<TokenChance>& chances, float top_p) {
  const double enough = SumOf(chances) * top_p;
  double sum = 0;
  size_t kept = 0;
  while (kept < chances.size() && (kept == 0 || sum < enough)) sum += chances[kept++].chance;
  chances.resize(kept);
}

}  // namespace

int64_t SampleToken(std::span<const float> logits, const SamplerOptions& options, double random) {
  int64_t best = -1;
  for (size_t i = 0; i < logits.size(); ++i)
    if (!std::isnan(logits[i]) && (best < 0 || logits[i] > logits[size_t(best)])) best = int64_t(i);
  if (best < 0)
    Invalid("sampler",
            "no token can be chosen; got {} logits that are not numbers, expected one or more that are",
            logits.size());
  const float highest = logits[size_t(best)];
  if (options.temperature <= 0 || !std::isfinite(highest)) return best;
  std::vector<TokenChance> chances = ChancesOf(logits, highest, options.temperature);
  KeepLikeliest(chances, options.top_p);
  double left = random * SumOf(chances);
  for (const TokenChance& c : chances)
    if ((left -= c.chance) < 0) return c.token;
  return chances.back().token;  // where sums were rounded
}

}  // namespace mete
