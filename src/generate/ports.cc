#include "generate/ports.h"

#include <optional>
#include <string>

#include "base/error.h"
#include "base/problems.h"

namespace mete {
namespace {

bool Has(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }
bool IsInteger(const Port& port) { return port.type == DType::kI64 || port.type == DType::kI32; }
bool IsPast(const Port& port) { return port.name.starts_with("past") && !IsInteger(port); }

// Returns the name behind "past_key_values", "past" or "present": ".0.key" of "past_key_values.0.key".
std::string CacheName(const std::string& name) {
  for (const char* begin : {"past_key_values", "present_key_values", "past", "present"})
    if (name.starts_with(begin)) return name.substr(std::string_view(begin).size());
  return name;
}

std::optional<DecoderInput> MeaningOf(const Port& port) {
  if (IsPast(port)) return DecoderInput::kPast;
  if (port.type == DType::kBool && port.name == "use_cache_branch") return DecoderInput::kUsesCache;
  if (!IsInteger(port)) return std::nullopt;
  if (Has(port.name, "mask")) return DecoderInput::kMask;
  if (Has(port.name, "position")) return DecoderInput::kPositions;
  if (Has(port.name, "ids") || Has(port.name, "token")) return DecoderInput::kTokens;
  return std::nullopt;
}

std::string TextOf(const Port& port) {
  return fmt::format("{} {}", Name(port.type), ToString(port.declared.known() ? port.declared : port.shape));
}

// The caches, and the output with the logits: the only one that is no cache.
void ReadOutputs(const Model& model, DecoderPorts& ports, Problems& problems) {
  std::optional<size_t> logits;
  std::vector<std::optional<size_t>> presents(model.inputs().size());
  for (size_t o = 0; o < model.outputs().size(); ++o) {
    const std::string& name = model.outputs()[o].name;
    if (!name.starts_with("present")) {
      if (!logits || name == "logits") logits = o;
      continue;
    }
    for (size_t i = 0; i < model.inputs().size(); ++i)
      if (ports.inputs[i] == DecoderInput::kPast && CacheName(model.inputs()[i].name) == CacheName(name))
        presents[i] = o;
  }
  if (logits) ports.logits = *logits;
  else
    problems.Add(Error(Code::kInvalidArgument,
                       "[outputs] no output has the logits; expected one that is no 'present...'"));
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    if (ports.inputs[i] != DecoderInput::kPast) continue;
    if (presents[i]) ports.caches.push_back({i, *presents[i]});
    else
      problems.Try([&] {
        Invalid(model.inputs()[i].name, "no output has this cache with the next tokens; expected 'present{}'",
                CacheName(model.inputs()[i].name));
      });
  }
}

}  // namespace

DecoderPorts PortsOfDecoder(const Model& model) {
  DecoderPorts ports;
  Problems problems;
  int tokens = 0;
  for (const Port& port : model.inputs()) {
    const auto meaning = MeaningOf(port);
    if (!meaning)
      problems.Try([&] {
        Invalid(port.name,
                "this input is none of a decoder network; got {}, expected integers with 'ids', 'token', "
                "'mask' or 'position' in the name, a cache 'past...', or the boolean 'use_cache_branch'",
                TextOf(port));
      });
    ports.inputs.push_back(meaning.value_or(DecoderInput::kTokens));
    tokens += meaning == DecoderInput::kTokens;
  }
  if (tokens != 1 && !problems.any())
    problems.Try([&] {
      Invalid("inputs",
              "the network is no decoder; got {} inputs for tokens, expected one; try a network that is "
              "exported for text generation",
              tokens);
    });
  ReadOutputs(model, ports, problems);
  problems.ThrowIfAny();
  return ports;
}

Shape EmptyCache(const Port& port) {
  Shape shape = port.declared.known() ? port.declared : port.shape;
  int open = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] >= 0) continue;
    const bool texts = i == 0 || (size_t(i) < port.dims.size() && Has(port.dims[size_t(i)], "batch"));
    open += !texts;
    shape[i] = texts ? 1 : 0;
  }
  if (open != 1)
    Invalid(
        port.name,
        "the cache cannot grow; got {}, expected one open dimension beside that of the texts; try a network "
        "that was exported with an open length of the past",
        TextOf(port));
  return shape;
}

}  // namespace mete
