// The choice of a model's next token. A pure function: the random number is an argument.
#pragma once

#include <cstdint>
#include <span>

namespace mete {

struct SamplerOptions {
  // 0: the token with the highest logit. Otherwise logits are divided by it: below 1 likely tokens become
  // likelier.
  float temperature = 0;
  // Only the likeliest tokens are chosen from whose probabilities are this much together, and at least one.
  float top_p = 1;
};

// Returns the token that `random`, from 0 to below 1, falls on. Of equal logits the first is the higher one;
// logits that are not numbers are never chosen. Error INVALID_ARGUMENT if there is no logit that is a number.
int64_t SampleToken(std::span<const float> logits, const SamplerOptions& options, double random);

}  // namespace mete
