// Convolutions and pools. Along a spatial axis, an output row needs the input rows under its window, and a
// share keeps the padding that its windows reach. Along channels, a convolution needs the weights of the
// output channels; a pool or a grouped convolution also needs only some input channels.
#include "partition/rules.h"

#include <initializer_list>

namespace mete {
namespace {

// Writes the padding of `window` as explicit pads in place of auto_pad.
void WritePads(Division& d, const Window& window, int spatial) {
  Ints pads(size_t(2 * spatial));
  for (int i = 0; i < spatial; ++i) {
    const WindowAxis& a = window[size_t(kSpatialDims - spatial + i)];
    pads[size_t(i)] = a.pad;
    pads[size_t(spatial + i)] = a.pad_end;
  }
  // With automatic padding ceil_mode is ignored; with explicit pads it would take effect.
  const std::string_view auto_pad = d.attributes.String("auto_pad", "");
  if (!auto_pad.empty() && auto_pad != "NOTSET") d.attributes.Erase("ceil_mode");
  d.attributes.Erase("auto_pad");
  d.attributes.Set("pads", std::move(pads));
}

// Returns the input rows that output rows `rows` of `a` read, and sets the padding of `a` to what is left at
// the edges. The range is empty if the outputs read only padding.
IndexRange Halo(WindowAxis& a, IndexRange rows) {
  const int64_t begin = a.Input(rows.begin, 0), end = a.Input(rows.end - 1, a.kernel - 1) + 1;
  const IndexRange reads{std::max<int64_t>(0, begin), std::min(a.in, end)};
  a.pad = std::max<int64_t>(0, -begin);
  // With ceil_mode a window may reach beyond the padding; an average does not count the elements there, so
  // they must not become padding.
  a.pad_end = std::clamp<int64_t>(end - a.in, 0, a.pad_end);
  return reads;
}

// Divides along a spatial axis. `x` is the input that the windows slide over. Returns nothing if the rows
// read only padding.
std::optional<Division> Spatial(const DivideContext& c, Window window, int x = 0) {
  const int spatial = c.shape(x).rank() - 2;
  Division d = c.Whole();
  const IndexRange reads = Halo(window[size_t(kSpatialDims - spatial + c.axis - 2)], c.rows);
  if (reads.begin >= reads.end) return std::nullopt;
  d.inputs[size_t(x)] = Part::Of(c.axis, reads);
  WritePads(d, window, spatial);
  return d;
}

bool Resolve(const DivideContext& c, std::span<const int64_t> kernel, WindowKind kind, Window& window,
             int x = 0) {
  return ResolveWindow(c.node.attributes, ImageDimsOf(c.shape(x)), kernel, kind, window).empty();
}

bool IsImage(const DivideContext& c) {
  const int rank = c.shape(0).rank();
  return rank >= 3 && rank <= 2 + kSpatialDims && !IsNhwc(c.node.attributes);
}

// Divides along output channels, which need their weights and their elements of the inputs `of_channels`; an
// input of one element holds for all channels. A grouped convolution computes whole groups and needs their
// input channels.
std::optional<Division> ConvChannels(const DivideContext& c, std::initializer_list<int> of_channels) {
  Division d = c.Whole();
  const Shape& weights = c.shape(c.traits.weights);
  const int64_t group = c.node.attributes.Int("group", 1), reads = weights[1];
  const IndexRange groups = group == 1 ? IndexRange{0, 1} : c.Blocks(d, weights[0] / group);
  const Part channels = Part::Of(0, d.rows.value_or(c.rows));
  d.inputs[size_t(c.traits.weights)] = channels;
  for (const int i : of_channels)
    if (c.has(i) && c.shape(i).Elements() > 1) d.inputs[size_t(i)] = channels;
  if (group == 1) return d;
  d.inputs[0] = Part::Of(1, {groups.begin * reads, groups.end * reads});
  d.attributes.Set("group", groups.size());
  return d;
}

std::optional<Division> Batch(const DivideContext& c) {
  Division d = c.Whole();
  c.SameRows(d, 0, 0);
  return d;
}

}  // namespace

Divided DivideConvolution(const DivideContext& c) {
  if (!IsImage(c) || c.inputs() > 3) return std::nullopt;
  if (c.axis == 0) return Batch(c);
  if (c.axis == 1) return ConvChannels(c, {2});
  Window window;
  if (!Resolve(c, c.shape(1).dims().subspan(2), WindowKind::kConvolution, window)) return std::nullopt;
  return Spatial(c, window);
}

// Zero points, scales and bias have one element, or one for each output channel.
Divided DivideQuantizedConvolution(const DivideContext& c) {
  if (!IsImage(c)) return std::nullopt;
  if (c.axis == 0) return Batch(c);
  if (c.axis == 1) return c.traits.weights == 3 ? ConvChannels(c, {4, 5, 8}) : ConvChannels(c, {3, 4, 5});
  Window window;
  if (!Resolve(c, c.shape(c.traits.weights).dims().subspan(2), WindowKind::kConvolution, window))
    return std::nullopt;
  return Spatial(c, window);
}

Divided DividePool(const DivideContext& c) {
  // A MaxPool with indices is not divided, because they are indices into the whole input.
  if (!IsImage(c) || (c.node.outputs.size() > 1 && c.node.output(1) != kNoValue)) return std::nullopt;
  if (c.axis <= 1) {
    Division d = c.Whole();
    c.SameRows(d, 0, c.axis);
    return d;
  }
  Window window;
  if (!Resolve(c, c.node.attributes.IntList("kernel_shape"), WindowKind::kPool, window)) return std::nullopt;
  return Spatial(c, window);
}

Divided DivideGlobalPool(const DivideContext& c) {
  if (!IsImage(c) || c.axis > 1) return std::nullopt;
  Division d = c.Whole();
  c.SameRows(d, 0, c.axis);
  return d;
}

// Output row o is the sum over the input rows i and taps k with o = i * stride - pad + k * dilation: the
// roles of input and output in the window are exchanged.
Divided DivideTransposedConvolution(const DivideContext& c) {
  if (!IsImage(c) || c.inputs() > 3 || c.axis == 1) return std::nullopt;
  if (c.axis == 0) return Batch(c);
  Window window;
  const int spatial = c.shape(0).rank() - 2;
  if (!ResolveTransposedWindow(c.node.attributes, ImageDimsOf(c.shape(0)), c.shape(1).dims().subspan(2),
                               window)
           .empty())
    return std::nullopt;
  WindowAxis& a = window[size_t(kSpatialDims - spatial + c.axis - 2)];
  // The first and last row, counted in the padded output.
  const int64_t first = c.rows.begin + a.pad, last = c.rows.end - 1 + a.pad;
  const int64_t begin = std::clamp<int64_t>((first - a.extent() + a.stride) / a.stride, 0, first / a.stride);
  const int64_t end = std::min(a.out, last / a.stride + 1);
  if (begin >= end) return std::nullopt;
  Division d = c.Whole();
  d.inputs[0] = Part::Of(c.axis, {begin, end});
  Ints pads(size_t(2 * spatial)), extra(size_t(spatial), 0);
  for (int i = 0; i < spatial; ++i) {
    const WindowAxis& w = window[size_t(kSpatialDims - spatial + i)];
    const bool divided = i == c.axis - 2;
    const int64_t reads = divided ? end - begin : w.out, makes = divided ? c.rows.size() : w.in;
    pads[size_t(i)] = divided ? first - begin * w.stride : w.pad;
    const int64_t over = (reads - 1) * w.stride + w.extent() - pads[size_t(i)] - makes;
    pads[size_t(spatial + i)] = std::max<int64_t>(0, over);
    extra[size_t(i)] = std::max<int64_t>(0, -over);
  }
  d.attributes.Erase("auto_pad");
  d.attributes.Erase("output_shape");
  d.attributes.Set("pads", std::move(pads));
  d.attributes.Set("output_padding", std::move(extra));
  return d;
}

}  // namespace mete
