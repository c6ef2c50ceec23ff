// Writes convolutions of volumes (N x C x D x H x W), of floats and of bytes, and pools and resizes of
// floats, as those of their slices, a batch of images (D * N x C x H x W), for which there are fast kernels.
// Element-wise operators, Concat and Split between them follow, so that volumes are needed only at the ends
// of a chain.
//
// A window along the depth reads several slices for one: its taps. The taps of a convolution become channels
// of one convolution of images, or convolutions that are added up; those of a pool become inputs of a maximum
// or a sum behind the pool of each slice.
#include <limits>

#include "graph/traits.h"
#include "passes/depth_taps.h"
#include "passes/made_nodes.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/slice_convolution.h"
#include "passes/slice_resize.h"

namespace mete {
namespace {

Tensor SameBytes(const Tensor& t, const Shape& shape) {
  return Tensor(t.type(), shape, t.data(), std::make_shared<Tensor>(t));
}

class VolumeSlicer {
 public:
  explicit VolumeSlicer(Graph& graph) : graph_(graph), slices_(graph.values.size(), kNoValue) {}

  bool Run() {
    std::vector<Node> nodes;
    std::swap(nodes, graph_.nodes);
    for (Node& node : nodes)
      if (!Slice(node)) graph_.nodes.push_back(std::move(node));
    return changed_;
  }

 private:
  const Shape& ShapeOf(ValueId id) const { return graph_.value(id).shape; }
  bool IsVolume(ValueId id) const {
    return IsOfConvolutions(graph_, id) && ShapeOf(id).rank() == 5 && ShapeOf(id).Elements() > 0;
  }
  bool IsSliced(ValueId id) const {
    return id != kNoValue && size_t(id) < slices_.size() && slices_[size_t(id)] != kNoValue;
  }

  bool Slice(Node& node) {
    if (node.inputs.empty() || node.outputs.empty()) return false;
    if (!std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) { return IsVolume(id); }))
      return false;
    if (IsVolume(node.inputs[0]) && node.outputs.size() == 1) {
      if (IsOneOf(node.op, {"Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "mete.ScaledConvInteger"}))
        return SliceConvolution(node);
      const bool floats = IsF32(graph_, node.inputs[0]);
      if (floats && IsOneOf(node.op, {"MaxPool", "AveragePool"})) return SlicePool(node);
      if (floats && IsOneOf(node.op, {"GlobalMaxPool", "GlobalAveragePool"})) return SliceGlobalPool(node);
      if (floats && node.op == "Resize") return SliceResize(node);
    }
    if (!std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return IsSliced(id); }))
      return false;
    if (IsOneOf(node.op, {"Concat", "Split"})) return SliceAxis(node);
    if (IsOneOf(node.op, {"QuantizeLinear", "DequantizeLinear"})) return SliceConversion(node);
    return TraitsOf(node.op).orders == Orders::kAny && SliceElementwise(node);
  }

  bool SliceConvolution(const Node& node) {
    if (!IsSliceConvolution(graph_, node)) return false;
    SetSlices(node.outputs[0], AddSliceConvolution(graph_, node, Slices(node.inputs[0])));
    return true;
  }

  bool SlicePool(const Node& node) {
    const bool most = node.op == "MaxPool";
    const Shape x = ShapeOf(node.inputs[0]), y = ShapeOf(node.outputs[0]);
    const auto window =
        WindowOfTaps(node.attributes, x, node.attributes.IntList("kernel_shape"), WindowKind::kPool);
    if (!window) return false;
    const WindowAxis& depth = (*window)[0];
    const auto moves = [](const WindowAxis& a) { return a.kernel > 1 || a.stride > 1 || a.in != a.out; };
    const bool in_slices = moves((*window)[1]) || moves((*window)[2]);
    const ValueId pooled =
        in_slices ? PooledSlices(node, {x[2] * x[0], x[1], y[3], y[4]}) : Slices(node.inputs[0]);
    const float least = -std::numeric_limits<float>::infinity();
    const ValueId fill =
        most ? graph_.AddConstant(node.name + ".fill", Tensor::Floats({}, {&least, 1})) : kNoValue;
    const DepthTaps taps(graph_, node.name + ".depth", {pooled, x[0]}, depth, fill);
    SetSlices(node.outputs[0], most ? Most(node.name, taps) : Mean(node, taps, depth, x[0]));
    return true;
  }

  ValueId PooledSlices(const Node& node, const Shape& shape) {
    const Attributes attributes = OfSlices(node.attributes);
    return AddMade(graph_, node.op.c_str(), node.name, "", {Slices(node.inputs[0])}, shape, &attributes);
  }

  ValueId Most(const std::string& name, const DepthTaps& taps) {
    ValueId most = taps.Add(0);
    for (int64_t t = 1; t < taps.size(); ++t) {
      const std::string number = ".most" + std::to_string(t);
      most = AddMade(graph_, "Max", name, number.c_str(), {most, taps.Add(t)}, Shape(ShapeOf(most)));
    }
    return most;
  }

  ValueId Mean(const Node& node, const DepthTaps& taps, const WindowAxis& depth, int64_t batch) {
    std::vector<ValueId> parts;
    for (int64_t t = 0; t < taps.size(); ++t) parts.push_back(taps.Add(t));
    if (parts.size() == 1) return parts[0];
    const Shape shape = ShapeOf(parts[0]);
    const ValueId sum = AddMade(graph_, "Sum", node.name, ".sum", parts, shape);
    const ValueId factors = graph_.AddConstant(node.name + ".factor", FactorsOfMean(node, depth, batch));
    return AddMade(graph_, "Mul", node.name, ".mean", {sum, factors}, shape);
  }

  // Returns the factor of each slice's sum, or one factor where all are the same. The taps that an average
  // counts are those of a box, so that their number is the product of the numbers along the axes.
  static Tensor FactorsOfMean(const Node& node, const WindowAxis& depth, int64_t batch) {
    const bool with_padding =
        node.attributes.Int("count_include_pad", 0) != 0 || node.attributes.Int("mete_caffe", 0) != 0;
    std::vector<float> factors;
    for (int64_t o = 0; o < depth.out; ++o) {
      const int64_t count = (with_padding ? depth.PaddedTapsOfOutput(o) : depth.TapsOfOutput(o)).size();
      factors.insert(factors.end(), size_t(batch), count > 0 ? 1.f / float(count) : 0.f);
    }
    if (std::equal(factors.begin() + 1, factors.end(), factors.begin()))
      return Tensor::Floats({}, std::span(factors).first(1));
    return Tensor::Floats({int64_t(factors.size()), 1, 1, 1}, factors);
  }

  bool SliceGlobalPool(const Node& node) {
    const Shape x = ShapeOf(node.inputs[0]);
    const ValueId image = PooledSlices(node, {x[2] * x[0], x[1], 1, 1});
    const char* reduce = node.op == "GlobalMaxPool" ? "ReduceMax" : "ReduceMean";
    const std::string name = node.name + ".depth";
    const ValueId depths = AsDepths(graph_, name, {image, x[0]});
    const ValueId whole =
        AddMade(graph_, reduce, name, "", {depths, AddInt(graph_, name, ".axes", 0)}, {1, x[0] * x[1], 1, 1});
    SetSlices(node.outputs[0], AsSlices(graph_, name, {whole, x[0]}));
    return true;
  }

  bool SliceResize(const Node& node) {
    const auto resize = SliceResizeOf(graph_, node);
    if (!resize || (!IsSliced(node.inputs[0]) && resize->has_fast_kernel)) return false;
    const int64_t batch = ShapeOf(node.inputs[0])[0];
    SetSlices(node.outputs[0], AddSliceResize(graph_, node, *resize, {Slices(node.inputs[0]), batch}));
    return true;
  }

  bool SliceConversion(Node& node) {
    if (!IsSliced(node.inputs[0]) || !ConvertsByChannel(graph_, node, 5)) return false;
    node.attributes.Set("axis", int64_t{1});
    node.inputs[0] = Slices(node.inputs[0]);
    Emit(std::move(node));
    return true;
  }

  // Along the channels, rows or columns.
  bool SliceAxis(Node& node) {
    const int64_t given = node.attributes.Int("axis", TraitsOf(node.op).axis);
    const int64_t axis = given < 0 ? given + 5 : given;
    const bool concat = node.op == "Concat";
    const size_t parts = concat ? node.inputs.size() : 1;
    const auto is_volume = [&](ValueId id) { return IsVolume(id); };
    if (axis == 0 || axis == 2 ||
        !std::all_of(node.inputs.begin(), node.inputs.begin() + int(parts), is_volume))
      return false;
    node.attributes.Set("axis", axis == 1 ? axis : axis - 1);
    for (size_t i = 0; i < parts; ++i) node.inputs[i] = Slices(node.inputs[i]);
    Emit(std::move(node));
    return true;
  }

  // How an element-wise operator over slices reads an input that is broadcast to volumes.
  enum class Form { kNone, kSame, kSlices, kOneSlice };

  Form FormOf(ValueId id, const Shape& to) const {
    if (id == kNoValue) return Form::kSame;
    const Shape& s = ShapeOf(id);
    if (!s.known()) return Form::kNone;
    if (s.rank() < 3 || (s.rank() == 3 && s[0] == 1)) return Form::kSame;
    if (s.rank() == 4 && s[1] == 1 && IsConstant(graph_, id)) return Form::kOneSlice;
    if (s.rank() != 5) return Form::kNone;
    if (s[0] == 1 && s[2] == 1) return IsConstant(graph_, id) ? Form::kOneSlice : Form::kSlices;
    return s[0] == to[0] && s[2] == to[2] ? Form::kSlices : Form::kNone;
  }

  bool SliceElementwise(Node& node) {
    const Shape to = ShapeOf(node.outputs[0]);
    for (ValueId id : node.inputs)
      if (FormOf(id, to) == Form::kNone) return false;
    for (ValueId& id : node.inputs) {
      const Form form = FormOf(id, to);
      if (form == Form::kSlices) id = Slices(id);
      else if (form == Form::kOneSlice) id = OneSlice(id);
    }
    Emit(std::move(node));
    return true;
  }

  // A constant that all slices read.
  ValueId OneSlice(ValueId id) {
    const Tensor t = graph_.value(id).constant;
    const Shape& s = t.shape();
    const Shape shape{1, s[s.rank() - 4], s[s.rank() - 2], s[s.rank() - 1]};
    return graph_.AddConstant(graph_.value(id).name + ".slice", SameBytes(t, shape));
  }

  void Emit(Node node) {
    const std::vector<ValueId> volumes = node.outputs;
    for (ValueId& id : node.outputs)
      id = graph_.AddValue(graph_.value(id).name + ".slices", graph_.value(id).type,
                           ShapeOfSlices(ShapeOf(id)));
    const std::vector<ValueId> made = node.outputs;
    graph_.nodes.push_back(std::move(node));
    for (size_t i = 0; i < made.size(); ++i) SetSlices(volumes[i], made[i]);
  }

  // Remembers the slices of a volume that had a node of its own, and makes the volume of them for its other
  // readers.
  void SetSlices(ValueId volume, ValueId slices) {
    slices_.resize(graph_.values.size(), kNoValue);
    slices_[size_t(volume)] = slices;
    JoinSlices(graph_, slices, volume);
    changed_ = true;
  }

  ValueId Slices(ValueId volume) {
    if (IsSliced(volume)) return slices_[size_t(volume)];
    const ValueId slices = CutVolume(graph_, volume);
    slices_.resize(graph_.values.size(), kNoValue);
    return slices_[size_t(volume)] = slices;
  }

  Graph& graph_;
  std::vector<ValueId> slices_;  // per value: the slices of this volume, or kNoValue
  bool changed_ = false;
};

}  // namespace

bool SliceVolumeConvolutions(Graph& graph) { return VolumeSlicer(graph).Run(); }

}  // namespace mete
