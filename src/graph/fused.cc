#include "graph/fused.h"

#include <algorithm>
#include <map>

#include "graph/traits.h"

namespace mete {
namespace {

// Returns true if `channels` channels from into_offset on lie within into_channels.
bool SliceFits(const Attributes& attributes, int64_t channels) {
  const int64_t all = attributes.Int(kIntoChannels, 0), offset = attributes.Int(kIntoOffset, 0);
  return channels > 0 && all >= channels && offset >= 0 && offset <= all - channels;
}

// Collects the channels that convolutions with kIntoChannels have written to each value.
class Slices {
 public:
  explicit Slices(const Graph& graph) : graph_(graph), uses_(graph) {}

  std::string Run() {
    for (const Node& node : graph_.nodes)
      if (WritesSlice(node)) Visit(node);
    return std::move(problems_);
  }

 private:
  struct Written {
    std::vector<std::pair<int64_t, int64_t>> ranges;  // [begin, end), disjoint
    int64_t channels = 0;                             // the sum of the ranges' lengths
  };

  template <class... A>
  void Add(const Node& node, fmt::format_string<A...> format, A&&... args) {
    problems_ +=
        (problems_.empty() ? "[" : "\n[") + node.name + "] " + fmt::format(format, std::forward<A>(args)...);
  }

  static bool WritesSlice(const Node& node) {
    return TraitsOf(node.op).arithmetic == Arithmetic::kConvolution && node.attributes.Has(kIntoChannels);
  }

  void Visit(const Node& node) {
    const int into_input = IntoInputOf(node.op);
    const ValueId into = node.input(size_t(into_input)), out = node.output(0),
                  weights_id = node.input(size_t(TraitsOf(node.op).weights));
    if (weights_id == kNoValue || out == kNoValue) return Add(node, "a slice needs weights and an output");
    const Shape& weights = graph_.value(weights_id).shape;
    if (!weights.known() || weights.rank() == 0 || !SliceFits(node.attributes, weights[0]))
      return Add(node, "the slice does not fit; got weights {}", ToString(weights));
    Written written;
    if (into != kNoValue) {
      const auto before = written_.find(into);
      if (before == written_.end())
        return Add(node, "input {} is made by no convolution that writes a slice", into_input);
      written = std::move(before->second);
    }
    const int64_t all = node.attributes.Int(kIntoChannels, 0), begin = node.attributes.Int(kIntoOffset, 0),
                  end = begin + weights[0];
    for (const auto& [other_begin, other_end] : written.ranges)
      if (begin < other_end && other_begin < end)
        return Add(node, "channels are written twice; got {} to {} after {} to {}", begin, end - 1,
                   other_begin, other_end - 1);
    written.ranges.push_back({begin, end});
    written.channels += weights[0];
    if (written.channels < all && !OnlyGoesOn(out))
      Add(node, "output '{}' is read before all its channels are written; got {} of {}",
          graph_.value(out).name, written.channels, all);
    written_[out] = std::move(written);
  }

  // Returns true if the only reader is the convolution that writes the next slice.
  bool OnlyGoesOn(ValueId id) const {
    if (!uses_.OnlyReader(id)) return false;
    const Node& reader = graph_.nodes[size_t(uses_.readers[size_t(id)][0])];
    return WritesSlice(reader) && reader.input(size_t(IntoInputOf(reader.op))) == id;
  }

  const Graph& graph_;
  const Uses uses_;
  std::map<ValueId, Written> written_;
  std::string problems_;
};

}  // namespace

std::string SliceProblems(const Graph& graph) { return Slices(graph).Run(); }

bool TakesSumPiece(const Attributes& attributes, const Shape& weights) {
  auto all = [&](const char* name, int64_t value) {
    const Ints& list = attributes.IntList(name);
    return std::all_of(list.begin(), list.end(), [&](int64_t v) { return v == value; });
  };
  return weights.rank() == 4 && weights[2] == 1 && weights[3] == 1 && attributes.Int("group", 1) == 1 &&
         all("strides", 1) && all("pads", 0);
}

void CheckSumPiece(const InferContext& c) {
  if (!c.attributes.Has(kSumPiece)) return;
  const int64_t piece = c.attributes.Int(kSumPiece, 0);
  if (piece < 1 || !TakesSumPiece(c.attributes, c.shape(1)))
    c.Bad(
        "{} does not fit; got {}, expected a number from 1 on, on a 1x1 convolution without padding, strides "
        "and groups",
        kSumPiece, piece);
}

namespace {

constexpr const char* kProductOfBytes = "QLinearConv";

}  // namespace

bool TakesOperands(const Graph& graph, const Node& node) {
  if (node.op == kProductOfBytes) return true;
  constexpr const char* kProducts[] = {"Conv",        "ConvTranspose", "Gemm", "MatMul",
                                       "mete.MatMul", "LSTM",          "GRU",  "RNN"};
  return std::find(std::begin(kProducts), std::end(kProducts), node.op) != std::end(kProducts) &&
         graph.value(node.inputs[0]).type == DType::kF32;
}

Precision UsualPrecision(const Node& node) {
  return node.op == kProductOfBytes ? Precision::kI32 : Precision::kF32;
}

Precision OperandsOf(const Node& node) {
  return ParsePrecision(node.name, node.attributes.String(kOperands, Name(UsualPrecision(node))));
}

Graph WithOperands(const Graph& graph, const std::map<std::string, Precision>& of_nodes) {
  Graph result = graph;
  for (Node& node : result.nodes) {
    const auto at = of_nodes.find(node.name);
    if (at == of_nodes.end()) continue;
    if (at->second == UsualPrecision(node)) node.attributes.Erase(kOperands);
    else node.attributes.Set(kOperands, std::string(Name(at->second)));
  }
  return result;
}

void CheckOperands(const InferContext& c) {
  if (!c.attributes.Has(kOperands)) return;
  const std::string_view name = c.attributes.String(kOperands, "");
  const Precision precision = ParsePrecision(c.node(), name);
  const DType type = c.type(0);
  const bool bytes = type == DType::kU8 || type == DType::kI8,
             fits =
                 bytes ? precision == Precision::kF32 : type == DType::kF32 && precision != Precision::kI32;
  if (!fits)
    c.Bad("a product of {} cannot have these {}; got '{}', expected {}", Name(type), kOperands, name,
          bytes                 ? "f32"
          : type == DType::kF32 ? "f32, bf16, f16, w8 or w4"
                                : "none");
}

Shape CheckSlice(const InferContext& c, const Shape& slice, DType type, int into) {
  if (!c.attributes.Has(kIntoChannels)) {
    if (c.has(into)) c.Bad("input {} is there but the attribute {} is not", into, kIntoChannels);
    return slice;
  }
  if (c.attributes.String("layout", "") != "NHWC" || c.attributes.Has(kSumPiece))
    c.Bad("{} needs the layout NHWC and no {}", kIntoChannels, kSumPiece);
  const int64_t all = c.attributes.Int(kIntoChannels, 0), offset = c.attributes.Int(kIntoOffset, 0);
  if (!SliceFits(c.attributes, slice[3]))
    c.Bad("a slice of {} channels does not fit; got place {} of {}", slice[3], offset, all);
  Shape whole = slice;
  whole[3] = all;
  if (c.has(into) && (c.shape(into) != whole || c.type(into) != type))
    c.Bad("input {} does not fit the output; got {} {}, expected {} {}", into, Name(c.type(into)),
          ToString(c.shape(into)), Name(type), ToString(whole));
  return whole;
}

void CheckEpilogue(const InferContext& c, DType type, const Shape& output, int residual_input) {
  EpilogueSpec spec;
  if (const std::string problem = ParseEpilogue(c.attributes, spec); !problem.empty()) c.Bad("{}", problem);
  if (!spec.residual) {
    if (c.has(residual_input))
      c.Bad("input {} is a residual but the attribute residual is not set", residual_input);
    return;
  }
  if (!c.has(residual_input)) c.Bad("the residual is missing; expected it as input {}", residual_input);
  if (c.shape(residual_input) != output || c.type(residual_input) != type)
    c.Bad("the residual does not fit the output; got {} {}, expected {} {}", Name(c.type(residual_input)),
          ToString(c.shape(residual_input)), Name(type), ToString(output));
}

}  // namespace mete
