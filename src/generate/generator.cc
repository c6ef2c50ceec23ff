#include "generate/generator.h"

#include <numeric>

#include "base/error.h"
#include "mete/io.h"

namespace mete {
namespace {

// Numbers as an input of i64 or i32 takes them: 1xN, or N where the input has one dimension.
Tensor Integers(const Port& port, const std::vector<int64_t>& values) {
  const int64_t count = int64_t(values.size());
  const Shape shape = port.shape.rank() == 1 ? Shape{count} : Shape{1, count};
  if (port.type == DType::kI64) return Tensor::Of<int64_t>(DType::kI64, shape, values);
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return Tensor::Of<int32_t>(DType::kI32, shape, narrow);
}

}  // namespace

Generator::Generator(const Model& model, Session& session)
    : model_(model), session_(session), ports_(PortsOfDecoder(model)) {
  for (const CachePorts& cache : ports_.caches) {
    const Port& port = model.inputs()[cache.past];
    caches_.emplace_back(port.type, EmptyCache(port));
  }
  for (size_t i = 0; i < ports_.inputs.size(); ++i) {
    const Port& port = model.inputs()[i];
    if (ports_.inputs[i] == DecoderInput::kTokens)
      takes_one_token_ = has_cache() && port.declared.rank() > 0 && port.declared.back() == 1;
    has_branches_ |= ports_.inputs[i] == DecoderInput::kUsesCache;
  }
}

// The tokens from `first` on are those that the network has not seen, or all.
std::vector<Tensor> Generator::InputsFor(size_t first) const {
  std::vector<int64_t> positions(tokens_.size() - first);
  std::iota(positions.begin(), positions.end(), int64_t(first));
  std::vector<Tensor> inputs(model_.inputs().size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = model_.inputs()[i];
    switch (ports_.inputs[i]) {
      case DecoderInput::kTokens:
        inputs[i] = Integers(port, {tokens_.begin() + int64_t(first), tokens_.end()});
        break;
      case DecoderInput::kPositions: inputs[i] = Integers(port, positions); break;
      case DecoderInput::kMask: inputs[i] = Integers(port, std::vector<int64_t>(tokens_.size(), 1)); break;
      case DecoderInput::kUsesCache: {
        const bool uses = first > 0;
        inputs[i] =
            Tensor::Of<bool>(DType::kBool, port.shape.rank() == 0 ? Shape{} : Shape{1}, std::span(&uses, 1));
        break;
      }
      case DecoderInput::kPast: break;  // below
    }
  }
  for (size_t c = 0; c < caches_.size(); ++c) inputs[ports_.caches[c].past] = caches_[c];
  return inputs;
}

// The logits behind the last token, of an output 1xTxV or 1xV.
std::vector<float> Generator::LastRow(const Tensor& logits) const {
  const int64_t width = logits.shape().rank() > 0 ? logits.shape().back() : 0, elements = logits.elements();
  if (width < 1 || elements < width)
    Invalid(model_.outputs()[ports_.logits].name, "the output has no logits; got {}, expected 1xTxV",
            ToString(logits.shape()));
  std::vector<float> row(static_cast<size_t>(width));
  for (int64_t i = 0; i < width; ++i) row[size_t(i)] = float(ElementAt(logits.view(), elements - width + i));
  return row;
}

std::vector<float> Generator::Next(std::span<const int64_t> tokens, const RunOptions& options) {
  if (tokens.empty()) Invalid("generate", "nothing to run on; got no token, expected one or more");
  const size_t seen = tokens_.size();
  // The branch for runs with earlier tokens was exported from a run with one new token.
  const size_t at_once = takes_one_token_ || (has_branches_ && seen > 0) ? 1 : tokens.size();
  const auto caches = caches_;
  try {
    std::vector<float> logits;
    for (; !tokens.empty(); tokens = tokens.subspan(at_once)) logits = Step(tokens.first(at_once), options);
    return logits;
  } catch (...) {  // the caller may try the same tokens again
    tokens_.resize(seen);
    caches_ = caches;
    throw;
  }
}

std::vector<float> Generator::Step(std::span<const int64_t> tokens, const RunOptions& options) {
  const size_t first = has_cache() ? tokens_.size() : 0;
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  const std::vector<Tensor> outputs = session_.Run(InputsFor(first), options);
  for (size_t c = 0; c < caches_.size(); ++c) caches_[c] = outputs[ports_.caches[c].present];
  return LastRow(outputs[ports_.logits]);
}

}  // namespace mete
