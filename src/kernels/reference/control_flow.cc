#include "kernels/reference/control_flow.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/dimensions.h"
#include "base/error.h"

namespace mete {
namespace {

// A file may ask for any number of runs, each of which may add to a result: as much as any value may have
// (passes/pass.h).
constexpr int64_t kMostBytes = int64_t(1) << 33;

void Copy(const ConstView& from, const View& to) {
  if (to.present() && from.bytes() > 0) std::memcpy(to.data, from.data, from.bytes());
}

void Give(const ControlFlowArgs& args, size_t i, const ConstView& result) {
  Copy(result, args.output(i, result.type, result.shape));
}

bool FlagOf(const ConstView& view) { return *view.as<uint8_t>() != 0; }

int AxisOf(const Attributes& attributes, std::string_view name, size_t i, int rank) {
  const Ints& axes = attributes.IntList(name);
  const int64_t axis = i < axes.size() ? axes[i] : 0;
  return int(axis < 0 ? axis + rank : axis);
}

bool IsReversed(const Attributes& attributes, std::string_view name, size_t i) {
  const Ints& directions = attributes.IntList(name);
  return i < directions.size() && directions[i] == 1;
}

// Elements that runs of a body have given, one after the other: a scan output, as long as it is not known how
// many there will be.
class Stack {
 public:
  void Push(const ConstView& element) {
    if (count_ > 0 && (element.type != type_ || element.shape != shape_))
      Fail(Code::kInvalidArgument, "scan output",
           "the runs of the body differ in what they give; got {} {} from run {}, expected {} {}",
           Name(element.type), ToString(element.shape), count_, Name(type_), ToString(shape_));
    type_ = element.type;
    shape_ = element.shape;
    if (int64_t(bytes_.size() + element.bytes()) > kMostBytes || count_ == INT32_MAX)
      Fail(Code::kResourceExhausted, "scan output", "is too large after {} runs; expected at most {} bytes",
           count_, kMostBytes);
    const auto* data = element.as<std::byte>();
    bytes_.insert(bytes_.end(), data, data + element.bytes());
    ++count_;
  }

  int64_t count() const { return count_; }
  const Shape& shape() const { return shape_; }  // of an element
  DType type() const { return type_; }

  // Writes all elements along an axis of `to`, the last one first if `reversed`.
  void Write(const View& to, int axis, bool reversed) const {
    if (!to.present() || bytes_.empty()) return;
    const int64_t before = shape_.Elements(0, axis);
    const size_t run = bytes_.size() / size_t(count_) / size_t(std::max<int64_t>(before, 1));
    auto* out = static_cast<std::byte*>(to.data);
    for (int64_t b = 0; b < before; ++b)
      for (int64_t n = 0; n < count_; ++n) {
        const int64_t from = reversed ? count_ - 1 - n : n;
        std::memcpy(out, bytes_.data() + size_t(from * before + b) * run, run);
        out += run;
      }
  }

 private:
  DType type_ = DType::kUnknown;
  Shape shape_;
  std::vector<std::byte> bytes_;
  int64_t count_ = 0;
};

// What a body has given, and what it gives now: two sets of results that take turns.
class Results {
 public:
  explicit Results(size_t outputs) : now_(outputs), next_(outputs) {}
  void Run(Body& body, std::span<const ConstView> inputs) {
    body.Run(inputs, next_);
    std::swap(now_, next_);
  }
  ConstView operator[](size_t i) const { return now_[i].view(); }

 private:
  std::vector<GrowingTensor> now_, next_;
};

// No run: the scan output has no elements, of a shape that only the body knows, if it does.
void GiveNone(const ControlFlowArgs& args, size_t output, const ConstView& expected, int axis) {
  const bool known = expected.shape.known();
  args.output(output, expected.present() ? expected.type : DType::kF32,
              known ? WithDimension(expected.shape, axis, 0) : Shape{0});
}

// The inputs of a body, with the captures behind the parameters.
std::vector<ConstView> InputsFor(const ControlFlowArgs& args, size_t parameters) {
  std::vector<ConstView> inputs(parameters);
  inputs.insert(inputs.end(), args.in.end() - std::ptrdiff_t(args.captures), args.in.end());
  return inputs;
}

// Element t of `from` along an axis, without data if there is none; `memory` has it where it is not in one
// piece.
ConstView Slice(const ConstView& from, int axis, int64_t t, std::vector<std::byte>& memory) {
  const Shape shape = WithoutDimension(from.shape, axis);
  const int64_t before = from.shape.Elements(0, axis), length = from.shape[axis];
  const size_t run = size_t(from.shape.Elements(axis + 1, from.shape.rank())) * SizeOf(from.type);
  const auto* data = from.as<std::byte>();
  if (length == 0) return {nullptr, from.type, shape};
  if (before == 1) return {data + size_t(t) * run, from.type, shape};
  memory.resize(size_t(before) * run + 1);
  for (int64_t b = 0; b < before; ++b)
    std::memcpy(memory.data() + size_t(b) * run, data + size_t(b * length + t) * run, run);
  return {memory.data(), from.type, shape};
}

}  // namespace

void RunIf(const ControlFlowArgs& args, Body& then_branch, Body& else_branch) {
  Body& body = FlagOf(args.in[0]) ? then_branch : else_branch;
  std::vector<GrowingTensor> results(body.outputs());
  body.Run(args.in.last(args.captures), results);
  for (size_t i = 0; i < results.size(); ++i) Give(args, i, results[i].view());
}

void RunLoop(const ControlFlowArgs& args, Body& body) {
  const size_t carried = args.in.size() - 2 - args.captures, scans = body.outputs() - 1 - carried;
  const int64_t most = args.in[0].present() ? *args.in[0].as<int64_t>() : INT64_MAX;
  const uint8_t always = 1;
  int64_t run = 0;
  std::vector<ConstView> inputs = InputsFor(args, 2 + carried);
  inputs[0] = {&run, DType::kI64, {}};
  inputs[1] = args.in[1].present() ? args.in[1] : ConstView{&always, DType::kBool, {}};
  std::copy_n(args.in.begin() + 2, carried, inputs.begin() + 2);
  Results results(body.outputs());
  std::vector<Stack> stacks(scans);
  for (; run < most && FlagOf(inputs[1]); ++run) {
    results.Run(body, inputs);
    inputs[1] = results[0];
    for (size_t i = 0; i < carried; ++i) inputs[2 + i] = results[1 + i];
    for (size_t i = 0; i < scans; ++i) stacks[i].Push(results[1 + carried + i]);
  }
  for (size_t i = 0; i < carried; ++i) Give(args, i, inputs[2 + i]);
  for (size_t i = 0; i < scans; ++i) {
    const Stack& stack = stacks[i];
    if (stack.count() == 0) GiveNone(args, carried + i, body.Expected(inputs, 1 + carried + i), 0);
    else
      stack.Write(args.output(carried + i, stack.type(), WithDimension(stack.shape(), 0, stack.count())), 0,
                  false);
  }
}

void RunScan(const ControlFlowArgs& args, Body& body) {
  const size_t scanned = size_t(args.attributes.Int("num_scan_inputs", 0));
  const size_t states = args.in.size() - args.captures - scanned, scans = body.outputs() - states;
  const auto axis_of_input = [&](size_t i) {
    return AxisOf(args.attributes, "scan_input_axes", i, args.in[states + i].shape.rank());
  };
  const int64_t length = args.in[states].shape[axis_of_input(0)];
  std::vector<ConstView> inputs = InputsFor(args, states + scanned);
  std::copy_n(args.in.begin(), states, inputs.begin());
  std::vector<std::vector<std::byte>> slices(scanned);
  Results results(body.outputs());
  std::vector<Stack> stacks(scans);
  const auto take = [&](int64_t t) {
    for (size_t i = 0; i < scanned; ++i) {
      const int64_t at = IsReversed(args.attributes, "scan_input_directions", i) ? length - 1 - t : t;
      inputs[states + i] = Slice(args.in[states + i], axis_of_input(i), at, slices[i]);
    }
  };
  for (int64_t t = 0; t < length; ++t) {
    take(t);
    results.Run(body, inputs);
    for (size_t i = 0; i < states; ++i) inputs[i] = results[i];
    for (size_t i = 0; i < scans; ++i) stacks[i].Push(results[states + i]);
  }
  if (length == 0) take(0);  // for the shapes alone
  for (size_t i = 0; i < states; ++i) Give(args, i, inputs[i]);
  for (size_t i = 0; i < scans; ++i) {
    const Stack& stack = stacks[i];
    const ConstView expected =
        length > 0 ? ConstView{nullptr, stack.type(), stack.shape()} : body.Expected(inputs, states + i);
    const int axis = AxisOf(args.attributes, "scan_output_axes", i,
                            (expected.shape.known() ? expected.shape.rank() : 0) + 1);
    if (length == 0) GiveNone(args, states + i, expected, axis);
    else
      stack.Write(args.output(states + i, stack.type(), WithDimension(stack.shape(), axis, length)), axis,
                  IsReversed(args.attributes, "scan_output_directions", i));
  }
}

}  // namespace mete
