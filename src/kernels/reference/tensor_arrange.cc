// Kernels of operators that rearrange the elements of a tensor: slices, pads, tiles, blocks.
#include "kernels/reference/indexing.h"
#include "kernels/reference/tensor_kernels.h"

namespace mete {
namespace {

// Returns entry i of the input `input`, which is a list of axes. Returns i if the list is left out.
int AxisAt(const RefArgs& args, size_t input, int64_t i, int rank) {
  return args.has(input) ? WrapAxis(IndexReader(args.in[input])[i], rank) : int(i);
}

int64_t Modulo(int64_t i, int64_t n) { return i % n < 0 ? i % n + n : i % n; }

// Returns the source index for an index outside [0, dim).
int64_t Outside(std::string_view mode, int64_t i, int64_t dim) {
  if (mode == "edge") return std::clamp<int64_t>(i, 0, dim - 1);
  if (mode == "wrap") return Modulo(i, dim);
  if (mode == "constant") return AxisMap::kNone;
  if (dim == 1) return 0;
  const int64_t period = 2 * (dim - 1), at = Modulo(i, period);
  return at < dim ? at : period - at;
}

// What the channels of the deep form count first: the places in a block, or the channels of the wide form.
enum class BlockOrder { kPlacesFirst, kChannelsFirst };

// DepthToSpace and SpaceToDepth convert between a deep form and a wide form of a 4-D tensor. This struct
// holds the wide form as a 6-D shape: n, c, h, row in the block, w, column in the block (in NHWC with c
// last). The steps are those of both forms for an iteration over this shape.
struct BlockWalk {
  Shape shape;
  Steps deep{}, wide{};

  BlockWalk(const Shape& wide_shape, const Attributes& attributes, BlockOrder order) {
    const bool depth_first = order == BlockOrder::kPlacesFirst;
    const bool nhwc = attributes.String("layout", "") == "NHWC";
    const int64_t b = attributes.Int("blocksize", 1), n = wide_shape[0], c = wide_shape[nhwc ? 3 : 1];
    const int64_t h = wide_shape[nhwc ? 1 : 2] / b, w = wide_shape[nhwc ? 2 : 3] / b;
    // The following values are steps in the deep form.
    const int64_t channel = nhwc ? 1 : h * w;                     // to the next channel of the deep form
    const int64_t column = depth_first ? c * channel : channel;   // to the next column of a block
    const int64_t own = depth_first ? channel : b * b * channel;  // to the next channel of the wide form
    // to the next image, and to the next pixel of the deep form
    const int64_t batch = b * b * c * h * w, pixel = nhwc ? b * b * c : 1;
    if (nhwc) {
      shape = {n, h, b, w, b, c};
      deep = {batch, w * pixel, b * column, pixel, column, own};
    } else {
      shape = {n, c, h, b, w, b};
      deep = {batch, own, w * pixel, b * column, pixel, column};
    }
    wide = RowMajorSteps(shape);
  }
};

}  // namespace

void RunSlice(RefArgs& args) {
  const Shape& in = args.in[0].shape;
  AxisMap map(in, args.out[0].shape, args.scratch);
  const IndexReader starts(args.in[1]);
  for (int64_t i = 0, n = args.in[1].elements(); i < n; ++i) {
    const int axis = AxisAt(args, 3, i, in.rank());
    const int64_t dim = in[axis], step = args.has(4) ? IndexReader(args.in[4])[i] : 1;
    const int64_t start = starts[i] < 0 ? starts[i] + dim : starts[i];
    const int64_t first = std::clamp<int64_t>(start, 0, std::max<int64_t>(0, step > 0 ? dim : dim - 1));
    map.Set(axis, [=](int64_t j) { return first + j * step; });
  }
  map.Copy(args.in[0], args.out[0]);
}

void RunTile(RefArgs& args) {
  const Shape& in = args.in[0].shape;
  AxisMap map(in, args.out[0].shape, args.scratch);
  for (int d = 0; d < in.rank(); ++d) map.Set(d, [dim = in[d]](int64_t i) { return i % dim; });
  map.Copy(args.in[0], args.out[0]);
}

void RunPad(RefArgs& args) {
  const Shape& in = args.in[0].shape;
  const auto mode = args.attributes.String("mode", "constant");
  AxisMap map(in, args.out[0].shape, args.scratch);
  const IndexReader pads(args.in[1]);
  for (int64_t i = 0, n = args.in[1].elements() / 2; i < n; ++i) {
    const int axis = AxisAt(args, 3, i, in.rank());
    map.Set(axis, [mode, dim = in[axis], before = pads[i]](int64_t j) {
      const int64_t at = j - before;
      return at >= 0 && at < dim ? at : Outside(mode, at, dim);
    });
  }
  map.Copy(args.in[0], args.out[0], args.has(2) ? args.in[2].data : nullptr);
}

void RunCenterCropPad(RefArgs& args) {
  const Shape &in = args.in[0].shape, &out = args.out[0].shape;
  AxisMap map(in, out, args.scratch);
  for (int d = 0; d < in.rank(); ++d) {
    // If the difference is odd, the additional element is cropped or padded at the end.
    const int64_t shift = in[d] >= out[d] ? (in[d] - out[d]) / 2 : -((out[d] - in[d]) / 2);
    map.Set(d, [shift, dim = in[d]](int64_t i) { return i + shift < dim ? i + shift : AxisMap::kNone; });
  }
  map.Copy(args.in[0], args.out[0]);
}

void RunDepthToSpace(RefArgs& args) {
  const BlockOrder order =
      args.attributes.String("mode", "DCR") == "DCR" ? BlockOrder::kPlacesFirst : BlockOrder::kChannelsFirst;
  const BlockWalk walk(args.out[0].shape, args.attributes, order);
  CopyWalk(args.in[0].type, walk.shape, args.in[0].data, walk.deep, args.out[0].data, walk.wide);
}

void RunSpaceToDepth(RefArgs& args) {
  const BlockWalk walk(args.in[0].shape, args.attributes, BlockOrder::kPlacesFirst);
  CopyWalk(args.in[0].type, walk.shape, args.in[0].data, walk.wide, args.out[0].data, walk.deep);
}

void RunReverseSequence(RefArgs& args) {
  const ConstView& in = args.in[0];
  const bool time_first = args.attributes.Int("time_axis", 0) == 0;
  const int64_t batches = in.shape[time_first ? 1 : 0], steps = in.shape[time_first ? 0 : 1];
  if (in.elements() == 0) return;
  const int64_t inner = in.shape.Elements(2, in.shape.rank()) * int64_t(SizeOf(in.type));
  const IndexReader lengths(args.in[1]);
  for (int64_t b = 0; b < batches; ++b) {
    const int64_t length = lengths[b];
    if (length < 0 || length > steps)
      Fail(Code::kOutOfRange, "ReverseSequence", "sequence length is out of range; got {}, expected 0 to {}",
           length, steps);
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t from = t < length ? length - 1 - t : t;
      const auto row = [&](int64_t time) {
        return (time_first ? time * batches + b : b * steps + time) * inner;
      };
      CopyBytes(args.out[0].as<std::byte>() + row(t), in.as<std::byte>() + row(from), size_t(inner));
    }
  }
}

}  // namespace mete
