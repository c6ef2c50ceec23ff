// A language model's text, token by token: a decoder network with the keys and values of earlier tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generate/ports.h"
#include "mete/engine.h"

namespace mete {

class Generator {
 public:
  // The session is that of the model. Error INVALID_ARGUMENT if the model is no decoder.
  Generator(const Model& model, Session& session);

  // Runs the model on tokens that follow those of earlier calls, and returns the logits of the token after
  // them. Without a cache the model gets all tokens anew. Errors as Session::Run(), and INVALID_ARGUMENT if
  // there is no token or no logit.
  std::vector<float> Next(std::span<const int64_t> tokens, const RunOptions& options = {});

  bool has_cache() const { return !ports_.caches.empty(); }
  int64_t seen() const { return int64_t(tokens_.size()); }  // tokens of all calls together

 private:
  std::vector<float> Step(std::span<const int64_t> tokens, const RunOptions& options);
  std::vector<Tensor> InputsFor(size_t first) const;
  std::vector<float> LastRow(const Tensor& logits) const;

  const Model& model_;
  Session& session_;
  DecoderPorts ports_;
  bool takes_one_token_ = false;  // in each run, as the file says
  bool has_branches_ = false;     // for runs without and with earlier tokens
  std::vector<int64_t> tokens_;
  std::vector<Tensor> caches_;  // of ports_.caches
};

}  // namespace mete
