#include "processor/opencl/share/lowering.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "dispatch/options.h"

namespace mete::opencl {
namespace {

constexpr const char* kWhere = "GPU share";

bool HasArithmetic(DType type) { return type == DType::kF32 || type == DType::kF16 || type == DType::kU8; }

// Returns the same copy over bytes, for elements that no kernel has as numbers.
MapSpec OfBytes(MapSpec spec, int64_t size) {
  const auto widen = [&](MapOperand& operand) {
    for (int64_t& stride : operand.strides) stride *= size;
    operand.strides.push_back(1);
    operand.first *= size;
    operand.type = DType::kU8;
  };
  spec.sizes.push_back(size);
  widen(spec.inputs[0]);
  widen(spec.output);
  return spec;
}

}  // namespace

std::vector<int64_t> DenseStrides(const Shape& shape) {
  std::vector<int64_t> strides(size_t(shape.rank()), 1);
  for (int i = shape.rank() - 1; i > 0; --i) strides[size_t(i) - 1] = strides[size_t(i)] * shape[i];
  return strides;
}

Lowering::Lowering(const Graph& graph, const GpuTarget& target, const ChooseTile& choose)
    : graph_(graph),
      target_(target),
      choose_(choose),
      plan_(PlanMemory(graph)),
      plain_sums_(OptionsFor(graph).plain_sums),
      storage_(target.exact_bytes && HasBytes(graph) ? DType::kF32 : target.storage),
      of_value_(graph.values.size(), -1) {}

Tile Lowering::TileOf(const ConvSpec& spec) const {
  const std::vector<Tile> candidates = ConvTiles(spec, target_.tile);
  return choose_ ? choose_(spec, candidates) : candidates.front();
}

int Lowering::AddBuffer(Space space, int32_t index, int64_t bytes) {
  buffers_.push_back({.space = space, .index = index, .bytes = bytes});
  return int(buffers_.size()) - 1;
}

// `root`: a value that lies in no other value's memory.
DType Lowering::TypeInMemory(ValueId root) const {
  const DType type = graph_.value(root).type;
  if (type == DType::kBool) return DType::kU8;
  return type == DType::kF32 && plan_.home[size_t(root)] == Home::kArena ? storage_ : type;
}

int Lowering::BufferOf(ValueId root) {
  int& buffer = of_value_[size_t(root)];
  if (buffer >= 0) return buffer;
  const Value& v = graph_.value(root);
  const auto port = int32_t(plan_.where[size_t(root)]);
  const int64_t bytes = v.shape.Elements() * int64_t(SizeOf(TypeInMemory(root)));
  switch (plan_.home[size_t(root)]) {
    case Home::kConstant: return buffer = Constant(v.constant).buffer;
    case Home::kInput: return buffer = AddBuffer(Space::kInput, port, bytes);
    case Home::kOutput: return buffer = AddBuffer(Space::kOutput, port, bytes);
    case Home::kArena: return buffer = AddBuffer(Space::kArena, 0, bytes);
    default: Fail(Code::kUnimplemented, v.name, "the value's shape depends on data");
  }
}

Array Lowering::Of(ValueId id) {
  const ValueId root = plan_.alias_of[size_t(id)];
  return {BufferOf(root), TypeInMemory(root), graph_.value(id).shape};
}

Array Lowering::Temporary(DType type, const Shape& shape) {
  return {AddBuffer(Space::kArena, 0, shape.Elements() * int64_t(SizeOf(type))), type, shape};
}

Array Lowering::Constant(const Tensor& tensor) {
  constants_.push_back(tensor);
  const DType type = tensor.type() == DType::kBool ? DType::kU8 : tensor.type();
  return {AddBuffer(Space::kConstant, int32_t(constants_.size()) - 1, int64_t(tensor.bytes())), type,
          tensor.shape()};
}

bool Lowering::IsConstant(const Array& array) const {
  const Space space = buffers_[size_t(array.buffer)].space;
  return space == Space::kConstant || space == Space::kPacked;
}

Array Lowering::Derived(const Array& from, DType type, const Shape& shape) {
  if (!IsConstant(from)) return Temporary(type, shape);
  const int64_t bytes = shape.Elements() * int64_t(SizeOf(type));
  packed_.push_back(bytes);
  return {AddBuffer(Space::kPacked, int32_t(packed_.size()) - 1, bytes), type, shape};
}

Array Lowering::As(const Array& array, DType type) {
  if (array.type == type) return array;
  const Array converted = Derived(array, type, array.shape);
  Copy(array, converted);
  return converted;
}

Array Lowering::Transposed(const Array& array, const std::vector<int>& perm) {
  Shape shape;
  MapSpec spec{.inputs = {{}}, .output = {}, .program = {}};
  const std::vector<int64_t> strides = DenseStrides(array.shape);
  for (int axis : perm) {
    shape.push_back(array.shape[axis]);
    spec.inputs[0].strides.push_back(strides[size_t(axis)]);
  }
  spec.sizes.assign(shape.begin(), shape.end());
  spec.output.strides = DenseStrides(shape);
  const Array transposed = Derived(array, array.type, shape);
  Move(array, transposed, std::move(spec));
  return transposed;
}

namespace {

Tensor SizesOf(const KernelText& text) {
  Tensor sizes(DType::kI32, Shape{int64_t(text.sizes.size())});
  std::copy(text.sizes.begin(), text.sizes.end(), sizes.mutable_view().as<int32_t>());
  return sizes;
}

}  // namespace

void Lowering::Launch(KernelText text, const std::vector<Array>& arguments) {
  const bool once = buffers_[size_t(arguments.back().buffer)].space == Space::kPacked;
  std::vector<Step>& steps = once ? packing_ : steps_;
  Step step{std::move(text), {}, node_, arguments.front().type};
  if (!step.text.sizes.empty()) step.buffers.push_back(Constant(SizesOf(step.text)).buffer);
  for (const Array& array : arguments) {
    Buffer& buffer = buffers_[size_t(array.buffer)];
    if (!once) {
      if (buffer.first < 0) buffer.first = int(steps.size());
      buffer.last = int(steps.size());
    }
    step.buffers.push_back(array.buffer);
  }
  steps.push_back(std::move(step));
}

void Lowering::Move(const Array& from, const Array& to, MapSpec spec) {
  spec.inputs[0].type = from.type;
  spec.output.type = to.type;
  if (from.type == to.type && !HasArithmetic(from.type)) spec = OfBytes(spec, int64_t(SizeOf(from.type)));
  Launch(MapKernel(spec, vector()), {from, to});
}

void Lowering::Copy(const Array& from, const Array& to) {
  if (from.buffer == to.buffer || to.elements() == 0) return;
  Move(from, to,
       {.sizes = {to.elements()}, .inputs = {{.strides = {1}}}, .output = {.strides = {1}}, .program = {}});
}

// A value that is an output twice, or a constant or an input as well, lies elsewhere.
void Lowering::CopyOutputs() {
  node_ = -1;
  for (size_t port = 0; port < graph_.outputs.size(); ++port) {
    const Array value = Of(graph_.outputs[port]);
    const Buffer& buffer = buffers_[size_t(value.buffer)];
    if (buffer.space == Space::kOutput && buffer.index == int32_t(port)) continue;
    const DType type = graph_.value(graph_.outputs[port]).type == DType::kBool
                           ? DType::kU8
                           : graph_.value(graph_.outputs[port]).type;
    const int64_t bytes = value.elements() * int64_t(SizeOf(type));
    Copy(value, {AddBuffer(Space::kOutput, int32_t(port), bytes), type, value.shape});
  }
}

void Lowering::PlaceArena(ShareOnGpu& share) {
  std::vector<Lifetime> lifetimes;
  std::vector<Buffer*> placed;
  for (Buffer& buffer : buffers_) {
    if (buffer.space != Space::kArena || buffer.first < 0) continue;
    lifetimes.push_back({buffer.bytes, buffer.first, buffer.last});
    placed.push_back(&buffer);
  }
  const ArenaPlacement placement = mete::Place(lifetimes, target_.alignment);
  for (size_t i = 0; i < placed.size(); ++i) placed[i]->offset = placement.offsets[i];
  share.arena_bytes = placement.total;
}

void Lowering::CheckBytes(const ShareOnGpu& share) const {
  int64_t most = share.arena_bytes;
  for (const Buffer& buffer : buffers_) most = std::max(most, buffer.bytes);
  if (target_.most_buffer_bytes && most > target_.most_buffer_bytes)
    Fail(Code::kResourceExhausted, kWhere,
         "a buffer is too large for the device; got {}, expected at most {} bytes", most,
         target_.most_buffer_bytes);
}

opencl::Launch Lowering::Placed(const Step& step) const {
  opencl::Launch launch{step.text, {}, step.node, step.type};
  for (int b : step.buffers) {
    const Buffer& buffer = buffers_[size_t(b)];
    launch.arguments.push_back({buffer.space, buffer.index, buffer.offset, buffer.bytes});
  }
  return launch;
}

ShareOnGpu Lowering::Finish() {
  CopyOutputs();
  ShareOnGpu share;
  PlaceArena(share);
  CheckBytes(share);
  for (const Step& step : packing_) share.packing.push_back(Placed(step));
  for (const Step& step : steps_) share.launches.push_back(Placed(step));
  share.constants = std::move(constants_);
  share.packed = std::move(packed_);
  return share;
}

}  // namespace mete::opencl
