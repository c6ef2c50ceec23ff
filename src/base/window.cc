#include "base/window.h"

#include <fmt/format.h>

namespace mete {
namespace {

// The largest size or attribute, so that every product of two of them below fits in i64.
constexpr int64_t kLargest = int64_t(1) << 30;

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

enum class AutoPad { kNotSet, kUpper, kLower, kValid };

std::string ParseAutoPad(const Attributes& attributes, AutoPad& auto_pad) {
  const std::string_view name = attributes.String("auto_pad", "NOTSET");
  if (name == "NOTSET" || name.empty()) auto_pad = AutoPad::kNotSet;
  else if (name == "SAME_UPPER") auto_pad = AutoPad::kUpper;
  else if (name == "SAME_LOWER") auto_pad = AutoPad::kLower;
  else if (name == "VALID") auto_pad = AutoPad::kValid;
  else
    return fmt::format("auto_pad is unknown; got {}, expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", name);
  return "";
}

std::string CheckList(const char* name, const Ints& list, size_t count, int64_t least) {
  if (list.empty()) return "";
  if (list.size() != count)
    return fmt::format("{} has the wrong length; got {}, expected {}", name, list.size(), count);
  for (int64_t v : list)
    if (v < least || v > kLargest)
      return fmt::format("{} is out of range; got {}, expected {} to {}", name, v, least, kLargest);
  return "";
}

int64_t At(const Ints& list, size_t i, int64_t fallback) { return list.empty() ? fallback : list[i]; }

// Reads all attributes into `window`, but does not compute the sizes that follow from them.
std::string ReadWindow(const Attributes& attributes, const ImageDims& x, std::span<const int64_t> kernel,
                       AutoPad auto_pad, Window& window) {
  const size_t n = size_t(x.spatial);
  const Ints &strides = attributes.IntList("strides"), &dilations = attributes.IntList("dilations"),
             &pads = attributes.IntList("pads");
  if (kernel.size() != n)
    return fmt::format("kernel_shape has the wrong length; got {}, expected {}", kernel.size(), n);
  for (const std::string& problem :
       {CheckList("strides", strides, n, 1), CheckList("dilations", dilations, n, 1),
        CheckList("pads", pads, 2 * n, 0)})
    if (!problem.empty()) return problem;
  window = Window{};
  for (size_t i = 0; i < n; ++i) {
    WindowAxis& a = window[kSpatialDims - n + i];
    const int64_t size = x.size[kSpatialDims - n + i];
    if (kernel[i] < 1 || kernel[i] > kLargest)
      return fmt::format("kernel is out of range; got {}, expected 1 to {}", kernel[i], kLargest);
    if (size > kLargest)
      return fmt::format("input is too large; got a dimension of {}, expected at most {}", size, kLargest);
    a = {kernel[i], At(strides, i, 1), At(dilations, i, 1)};
    if (auto_pad == AutoPad::kNotSet) {
      a.pad = At(pads, i, 0);
      a.pad_end = At(pads, n + i, 0);
    }
  }
  return "";
}

// An odd padding has its larger half behind the input with kUpper, and before it otherwise.
void SplitPadding(WindowAxis& a, int64_t total, AutoPad auto_pad) {
  total = std::max<int64_t>(0, total);
  a.pad = auto_pad == AutoPad::kUpper ? total / 2 : total - total / 2;
  a.pad_end = total - a.pad;
}

std::string ResolveOutput(WindowAxis& a, AutoPad auto_pad, bool ceil) {
  if (auto_pad == AutoPad::kUpper || auto_pad == AutoPad::kLower) {
    a.out = (a.in + a.stride - 1) / a.stride;
    SplitPadding(a, (a.out - 1) * a.stride + a.extent() - a.in, auto_pad);
    return "";
  }
  const int64_t room = a.in + a.pad + a.pad_end - a.extent();
  a.out = FloorDiv(room + (ceil ? a.stride - 1 : 0), a.stride) + 1;
  // Both ONNX and Caffe require that no window starts in the padding behind the input.
  if (ceil && (a.out - 1) * a.stride >= a.in + a.pad) --a.out;
  if (a.out < 1)
    return fmt::format(
        "the window is larger than the padded input; got {} over {}, expected at most the input", a.extent(),
        a.in + a.pad + a.pad_end);
  return "";
}

std::string ResolveTransposed(WindowAxis& a, AutoPad auto_pad, int64_t output_padding, int64_t wanted) {
  const int64_t full = a.stride * (a.out - 1) + output_padding + a.extent();
  const bool same = auto_pad == AutoPad::kUpper || auto_pad == AutoPad::kLower;
  if (wanted < 0 && same) wanted = a.out * a.stride;
  if (wanted >= 0) {
    a.in = wanted;
    SplitPadding(a, full - wanted, auto_pad);
  } else {
    a.in = full - a.pad - a.pad_end;
  }
  if (a.in < 1)
    return fmt::format("the output is empty; got {} - {} of padding, expected at least 1", full,
                       a.pad + a.pad_end);
  return "";
}

// The spatial dimensions are the windows' `size`.
Shape ImageShape(const ImageDims& like, int64_t channels, const Window& window, int64_t WindowAxis::*size,
                 TensorOrder order) {
  Shape shape{like.batch};
  if (order == TensorOrder::kNchw) shape.push_back(channels);
  for (int i = kSpatialDims - like.spatial; i < kSpatialDims; ++i) shape.push_back(window[size_t(i)].*size);
  if (order == TensorOrder::kNhwc) shape.push_back(channels);
  return shape;
}

}  // namespace

IndexRange WindowAxis::PaddedTapsOfOutput(int64_t o) const {
  WindowAxis padded = *this;
  padded.in = pad + in + pad_end;
  padded.pad = 0;
  return padded.TapsOfOutput(o);
}

bool IsNhwc(const Attributes& attributes) { return attributes.String("layout", "") == "NHWC"; }

TensorOrder OrderOf(const Attributes& attributes) {
  return IsNhwc(attributes) ? TensorOrder::kNhwc : TensorOrder::kNchw;
}

ImageDims ImageDimsOf(const Shape& shape, TensorOrder order) {
  const bool nhwc = order == TensorOrder::kNhwc;
  ImageDims d;
  d.spatial = shape.rank() - 2;
  const int channel_at = nhwc ? shape.rank() - 1 : 1, spatial_at = nhwc ? 1 : 2,
            first = kSpatialDims - d.spatial;
  d.batch = shape[0];
  d.channels = shape[channel_at];
  d.batch_stride = shape.Elements(1, shape.rank());
  d.channel_stride = shape.Elements(channel_at + 1, shape.rank());
  for (int i = 0; i < d.spatial; ++i) {
    d.size[size_t(first + i)] = shape[spatial_at + i];
    d.stride[size_t(first + i)] = shape.Elements(spatial_at + i + 1, shape.rank());
  }
  return d;
}

Shape OutputShape(const ImageDims& like, int64_t channels, const Window& window, TensorOrder order) {
  return ImageShape(like, channels, window, &WindowAxis::out, order);
}

Shape InputShape(const ImageDims& like, int64_t channels, const Window& window, TensorOrder order) {
  return ImageShape(like, channels, window, &WindowAxis::in, order);
}

std::optional<Ints> StatedPads(const Attributes& attributes, size_t spatial) {
  AutoPad auto_pad;
  const Ints& pads = attributes.IntList("pads");
  if (!ParseAutoPad(attributes, auto_pad).empty()) return std::nullopt;
  if (auto_pad == AutoPad::kUpper || auto_pad == AutoPad::kLower) return std::nullopt;
  if (auto_pad == AutoPad::kValid || pads.empty()) return Ints(2 * spatial, 0);
  return pads.size() == 2 * spatial ? std::optional(pads) : std::nullopt;
}

std::string ResolveWindow(const Attributes& attributes, const ImageDims& x, std::span<const int64_t> kernel,
                          WindowKind kind, Window& window) {
  AutoPad auto_pad;
  if (std::string problem = ParseAutoPad(attributes, auto_pad); !problem.empty()) return problem;
  if (std::string problem = ReadWindow(attributes, x, kernel, auto_pad, window); !problem.empty())
    return problem;
  const bool ceil =
      kind == WindowKind::kPool && auto_pad == AutoPad::kNotSet && attributes.Int("ceil_mode", 0) != 0;
  for (size_t i = size_t(kSpatialDims - x.spatial); i < kSpatialDims; ++i) {
    window[i].in = x.size[i];
    if (std::string problem = ResolveOutput(window[i], auto_pad, ceil); !problem.empty()) return problem;
  }
  return "";
}

std::string ResolveTransposedWindow(const Attributes& attributes, const ImageDims& x,
                                    std::span<const int64_t> kernel, Window& window) {
  AutoPad auto_pad;
  if (std::string problem = ParseAutoPad(attributes, auto_pad); !problem.empty()) return problem;
  if (std::string problem = ReadWindow(attributes, x, kernel, auto_pad, window); !problem.empty())
    return problem;
  const size_t n = size_t(x.spatial), first = kSpatialDims - n;
  const Ints &output_padding = attributes.IntList("output_padding"),
             &output_shape = attributes.IntList("output_shape");
  if (std::string problem = CheckList("output_padding", output_padding, n, 0); !problem.empty())
    return problem;
  // Some exporters write batch and channels in front of the spatial dimensions.
  const size_t skip = output_shape.size() == n + 2 ? 2 : 0;
  if (std::string problem = CheckList("output_shape", output_shape, n + skip, 0); !problem.empty())
    return problem;
  for (size_t i = 0; i < n; ++i) {
    WindowAxis& a = window[first + i];
    a.out = x.size[first + i];
    if (a.out < 1) return "the input is empty; got a dimension of 0, expected at least 1";
    if (std::string problem =
            ResolveTransposed(a, auto_pad, At(output_padding, i, 0), At(output_shape, i + skip, -1));
        !problem.empty())
      return problem;
  }
  return "";
}

}  // namespace mete
