#include "base/recurrent.h"

#include <fmt/format.h>

#include <algorithm>

namespace mete {
namespace {

struct KindInfo {
  std::string_view name;  // lower case: models write "Tanh" as well as "tanh"
  int parameters;         // 0: none; 1: alpha; 2: alpha and beta
  float alpha, beta;      // ONNX's defaults
};

constexpr KindInfo kKinds[] = {
    {"tanh", 0, 0, 0},          {"relu", 0, 0, 0},
    {"sigmoid", 0, 0, 0},       {"affine", 2, 1, 0},
    {"leakyrelu", 1, 0.01f, 0}, {"thresholdedrelu", 1, 1, 0},
    {"scaledtanh", 2, 1, 1},    {"hardsigmoid", 2, 0.2f, 0.5f},
    {"elu", 1, 1, 0},           {"softsign", 0, 0, 0},
    {"softplus", 0, 0, 0},
};
static_assert(std::size(kKinds) == size_t(RecurrentKind::kSoftplus) + 1);

bool EqualsLowered(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? char(a + 32) : a) == b; });
}

size_t KindOf(std::string_view name) {  // returns size(kKinds) if the name is unknown
  return size_t(std::find_if(std::begin(kKinds), std::end(kKinds),
                             [&](const KindInfo& k) { return EqualsLowered(name, k.name); }) -
                std::begin(kKinds));
}

// Assigns the alphas (or betas) of a list to the functions that take one, in order.
class Parameters {
 public:
  explicit Parameters(const Floats& values) : values_(values) {}
  float Next(float fallback) { return next_ < values_.size() ? values_[next_++] : fallback; }

 private:
  const Floats& values_;
  size_t next_ = 0;
};

std::string ParseFunctions(const Attributes& attributes, std::span<const RecurrentKind> defaults,
                           RecurrentSpec& spec) {
  const Strings& names = attributes.StringList("activations");
  Parameters alphas(attributes.FloatList("activation_alpha")), betas(attributes.FloatList("activation_beta"));
  const size_t each = defaults.size();
  if (!names.empty() && names.size() < each)
    return fmt::format("too few activations; got {}, expected {} for each direction", names.size(), each);
  for (size_t d = 0; d < size_t(spec.directions); ++d)
    for (size_t i = 0; i < each; ++i) {
      size_t kind = size_t(defaults[i]);
      if (!names.empty()) {
        const std::string& name = names[d * each + i < names.size() ? d * each + i : i];
        kind = KindOf(name);
        if (kind == std::size(kKinds))
          return fmt::format("activation is unknown; got {}, expected Tanh, Sigmoid, Relu, ...", name);
      }
      RecurrentFunction& f = spec.functions[d][i];
      f = {RecurrentKind(kind), kKinds[kind].alpha, kKinds[kind].beta};
      if (kKinds[kind].parameters > 0) f.alpha = alphas.Next(f.alpha);
      if (kKinds[kind].parameters > 1) f.beta = betas.Next(f.beta);
    }
  return "";
}

}  // namespace

std::string ParseRecurrent(const Attributes& attributes, std::span<const RecurrentKind> defaults,
                           RecurrentSpec& spec) {
  spec = {};
  const std::string_view direction = attributes.String("direction", "forward");
  if (direction == "bidirectional") spec.directions = 2;
  else if (direction == "reverse") spec.reverse = true;
  else if (direction != "forward")
    return fmt::format("direction is unknown; got {}, expected forward, reverse or bidirectional", direction);
  const int64_t layout = attributes.Int("layout", 0);
  if (layout != 0 && layout != 1)
    return fmt::format("layout is out of range; got {}, expected 0 or 1", layout);
  spec.batch_first = layout == 1;
  spec.clip = attributes.Float("clip", 0);
  return ParseFunctions(attributes, defaults, spec);
}

}  // namespace mete
