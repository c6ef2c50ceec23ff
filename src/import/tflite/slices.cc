// Conversions of operators that take a part of a tensor.
#include <algorithm>
#include <limits>

#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

// What a slice takes along each axis of the file.
struct Part {
  Ints begins, ends, steps;
};

ValueId SliceOf(const Op& op, Order order, const Part& part) {
  Ints axes;
  for (size_t i = 0; i < part.begins.size(); ++i) axes.push_back(AxisIn(order, int64_t(i)));
  return op.Emit("Slice", {op.in(0, order), op.Ints(part.begins), op.Ints(part.ends), op.Ints(axes),
                           op.Ints(part.steps)});
}

// Returns the part of a size that is known, from a begin that is computed: positions count from there. A part
// whose size is computed, or that reaches to the end, has a shape that only the run knows.
ValueId ComputedSlice(const Op& op) {
  ValueId x = op.in();
  const ValueId begins = op.Indices(1);
  const auto sizes = op.KnownInts(2);
  if (!sizes || op.is_open() || std::find(sizes->begin(), sizes->end(), -1) != sizes->end()) {
    const ValueId size = op.Sizes(2), ends = op.Emit("Add", {begins, size});
    const ValueId to_end = op.Emit("Equal", {size, op.Integer(-1)});
    return op.Emit("Slice", {x, begins, op.Emit("Where", {to_end, op.SizesOf(0), ends})});
  }
  const Shape in = op.shape();
  if (int(sizes->size()) != in.rank() || op.shape(1) != Shape{in.rank()})
    op.Bad("{} needs a begin and a size for each dimension of {}", op.kind(), ToString(in));
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t size = (*sizes)[size_t(i)];
    if (size < 0 || size > in[i]) op.Bad("the part is outside; got {} of {}", size, in[i]);
    if (size == in[i]) continue;
    const ValueId begin = op.Emit("Slice", {begins, op.Ints({i}), op.Ints({i + 1})});
    const ValueId steps = op.Emit("Range", {op.Integer(0), op.Integer(size), op.Integer(1)});
    x = op.Emit("Gather", {x, op.Emit("Add", {begin, steps})}, AxisOf(i));
  }
  return x;
}

void Slice(Op& op) {
  if (op.is_computed(1) || op.is_computed(2) || op.is_open())
    return op.Out(0, Order::kFile, ComputedSlice(op));
  const Shape in = op.shape();
  const Ints sizes = op.IntsOf(2, "size");
  Part part{op.IntsOf(1, "begin"), {}, Ints(sizes.size(), 1)};
  if (int(part.begins.size()) != in.rank() || int(sizes.size()) != in.rank())
    op.Bad("{} needs a begin and a size for each dimension of {}", op.kind(), ToString(in));
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t begin = part.begins[size_t(i)], size = sizes[size_t(i)], rest = in[i] - begin;
    if (begin < 0 || rest < 0 || size < -1 || size > rest)
      op.Bad("the part is outside; got {} from {} on in {}", size, begin, in[i]);
    part.ends.push_back(begin + (size == -1 ? rest : size));
  }
  const Order order = in.rank() == 4 ? op.OrderOf(0) : Order::kFile;
  op.Out(0, order, SliceOf(op, order, part));
}

void Reverse(Op& op) {
  const Shape in = op.shape();
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();  // behind the first element, backwards
  Part part{Ints(size_t(in.rank()), 0), {in.begin(), in.end()}, Ints(size_t(in.rank()), 1)};
  for (int64_t given : op.IntsOf(1, "axes")) {
    const size_t axis = size_t(op.Axis(given, in.rank()));
    part.begins[axis] = -1;
    part.ends[axis] = kFirst;
    part.steps[axis] = -1;
  }
  const Order order = in.rank() == 4 ? op.OrderOf(0) : Order::kFile;
  op.Out(0, order, SliceOf(op, order, part));
}

// Reverses the first elements of each line, as many as input 1 says. ONNX has the two axes in front.
void ReverseSequence(Op& op) {
  const auto& o = op.Need<tflite::ReverseSequenceOptions>();
  const int rank = op.shape().rank(), time = op.Axis(o.seq_dim(), rank), batch = op.Axis(o.batch_dim(), rank);
  if (time == batch) op.Bad("the axes of time and batch must differ; got {} for both", time);
  Ints to_front = {batch, time}, back(size_t(rank), 0);
  for (int i = 0; i < rank; ++i)
    if (i != time && i != batch) to_front.push_back(i);
  for (size_t i = 0; i < back.size(); ++i) back[size_t(to_front[i])] = int64_t(i);
  Attributes a;
  a.Set("batch_axis", int64_t{0});
  a.Set("time_axis", int64_t{1});
  const ValueId y =
      op.Emit("ReverseSequence", {op.Transpose(op.in(), to_front), op.Indices(1)}, std::move(a));
  op.Out(0, Order::kFile, op.Transpose(y, back));
}

bool Has(int32_t mask, size_t bit) { return bit < 32 && (uint32_t(mask) >> bit & 1) != 0; }

// The numbers of a STRIDED_SLICE, one for each place in its lists: an axis of the input, a new axis of 1, or
// all axes that the others leave (the ellipsis).
class Strided {
 public:
  explicit Strided(const Op& op)
      : op_(op),
        o_(op.Need<tflite::StridedSliceOptions>()),
        begin_(op.IntsOf(1, "begin")),
        end_(op.IntsOf(2, "end")),
        step_(op.IntsOf(3, "strides")),
        in_(op.shape()) {
    if (begin_.size() != end_.size() || begin_.size() != step_.size())
      op.Bad("{} needs lists of one length; got {}, {} and {}", op.kind(), begin_.size(), end_.size(),
             step_.size());
    if (begin_.size() > 2 * size_t(Shape::kMaxRank))
      op.Bad("{} has too many places; got {}", op.kind(), begin_.size());
    for (size_t place = 0; place < begin_.size(); ++place) Visit(place);
    while (axis_ < in_.rank()) KeepAxis();
  }

  const Part& part() const { return part_; }
  const Shape& out() const { return out_; }

 private:
  void KeepAxis() {
    part_.begins.push_back(0);
    part_.ends.push_back(in_[axis_]);
    part_.steps.push_back(1);
    out_.push_back(in_[axis_++]);
  }

  void Visit(size_t place) {
    if (Has(o_.ellipsis_mask(), place)) {
      int behind = 0;  // axes that later places take
      for (size_t p = place + 1; p < begin_.size(); ++p) behind += !Has(o_.new_axis_mask(), p);
      while (axis_ < in_.rank() - behind) KeepAxis();
    } else if (Has(o_.new_axis_mask(), place)) {
      out_.push_back(1);
    } else {
      TakePart(place);
    }
  }

  void TakePart(size_t place) {
    if (axis_ >= in_.rank()) op_.Bad("{} has more places than {} has dimensions", op_.kind(), ToString(in_));
    const int64_t size = in_[axis_], step = step_[place];
    if (step == 0 || std::abs(step) > std::numeric_limits<int32_t>::max())
      op_.Bad("a stride is out of range; got {}", step);
    int64_t begin = Limited(begin_[place], size, step);
    int64_t end = Limited(end_[place] + (o_.offset() ? begin_[place] : 0), size, step);
    if (Has(o_.begin_mask(), place)) begin = step > 0 ? 0 : size - 1;
    if (Has(o_.end_mask(), place)) end = step > 0 ? size : -1;
    const bool shrinks = Has(o_.shrink_axis_mask(), place);
    if (shrinks && (begin >= size || begin < 0)) op_.Bad("position {} is outside of {}", begin_[place], size);
    if (shrinks) end = begin + (step > 0 ? 1 : -1);
    const int64_t count = std::max<int64_t>(0, (end - begin + step + (step > 0 ? -1 : 1)) / step);
    part_.begins.push_back(begin);
    // A negative position counts from the end, so that the place before the first needs one far before it.
    part_.ends.push_back(end < 0 ? std::numeric_limits<int64_t>::min() : end);
    part_.steps.push_back(step);
    if (!shrinks) out_.push_back(count);
    ++axis_;
  }

  // Returns a position from 0 on, and at most where a walk by `step` ends.
  static int64_t Limited(int64_t position, int64_t size, int64_t step) {
    if (position < 0) position += size;
    return step > 0 ? std::clamp<int64_t>(position, 0, size) : std::clamp<int64_t>(position, -1, size - 1);
  }

  const Op& op_;
  const tflite::StridedSliceOptions& o_;
  const Ints begin_, end_, step_;
  const Shape in_;
  int axis_ = 0;
  Part part_;
  Shape out_;
};

// Returns the elements of a list that a part takes.
Ints PartOf(const Ints& list, const Part& part) {
  Ints taken;
  const int64_t step = part.steps[0], end = std::max<int64_t>(part.ends[0], -1);
  for (int64_t i = part.begins[0]; step > 0 ? i < end : i > end; i += step) taken.push_back(list[size_t(i)]);
  return taken;
}

// A computed begin may only say which element of an axis is taken; other axes are taken whole.
void ComputedStridedSlice(Op& op, const tflite::StridedSliceOptions& o) {
  const Ints steps = op.IntsOf(3, "strides");
  ValueId x = op.in();
  const ValueId begins = op.Indices(1);
  int axis = 0;
  for (size_t place = 0; place < steps.size(); ++place) {
    if (Has(o.shrink_axis_mask(), place) && !Has(o.begin_mask(), place)) {
      x = op.Emit("Gather", {x, op.Emit("Gather", {begins, op.Integer(int64_t(place))})}, AxisOf(axis));
    } else if (Has(o.begin_mask(), place) && Has(o.end_mask(), place) && steps[place] == 1 &&
               !Has(o.shrink_axis_mask(), place)) {
      ++axis;
    } else {
      op.Unsupported("its begin depends on the data of a run");
    }
  }
  op.Out(0, Order::kFile, x);
}

void StridedSlice(Op& op) {
  if (const auto& options = op.Need<tflite::StridedSliceOptions>();
      op.is_computed(1) && options.ellipsis_mask() == 0 && options.new_axis_mask() == 0)
    return ComputedStridedSlice(op, options);
  const Strided strided(op);
  if (const auto list = op.KnownInts(0); list && op.shape().rank() == 1)
    return op.OutInts(0, PartOf(*list, strided.part()), strided.out());
  const auto& o = op.Need<tflite::StridedSliceOptions>();
  const bool same_axes = o.shrink_axis_mask() == 0 && o.new_axis_mask() == 0;
  const Order order = op.shape().rank() == 4 && same_axes ? op.OrderOf(0) : Order::kFile;
  const ValueId y = SliceOf(op, order, strided.part());
  if (order == Order::kPlanar) op.Out(0, order, y);
  else op.Out(0, order, y, strided.out());
}

using Code = tflite::BuiltinOperator;

constexpr Row kSlicesRows[] = {
    {Code::REVERSE_SEQUENCE, 2, 2, 1, ReverseSequence},
    {Code::REVERSE_V2, 2, 2, 1, Reverse},
    {Code::SLICE, 3, 3, 1, Slice},
    {Code::STRIDED_SLICE, 4, 4, 1, StridedSlice},
};

}  // namespace

std::span<const Row> SliceRows() { return kSlicesRows; }

}  // namespace mete::tflite_import
