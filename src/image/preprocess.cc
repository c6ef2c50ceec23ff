// Turns a picture into a model's input, stage by stage.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "image/resize.h"
#include "image/stages.h"
#include "mete/image.h"

namespace mete {
namespace {

// ITU-R BT.601 luma in 16-bit fixed point.
uint8_t Gray(const uint8_t* rgb) {
  return uint8_t((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

uint8_t Pick(const uint8_t* rgb, int channel, ChannelOrder order) {
  switch (order) {
    case ChannelOrder::kRgb: return rgb[channel];
    case ChannelOrder::kBgr: return rgb[2 - channel];
    case ChannelOrder::kGray: break;
  }
  return Gray(rgb);
}

// Whether the values are the pixels themselves, 0..255.
bool KeepsPixels(const Preprocess& p) {
  const auto are = [](const std::array<float, 3>& values, float all) {
    return std::all_of(values.begin(), values.end(), [&](float v) { return v == all; });
  };
  return are(p.mean, 0) && are(p.scale, 1) && are(p.divisor, 1);
}

void Store(float v, const Preprocess&, float* to) { *to = v; }
template <class Integer>
void Store(float v, const Preprocess& p, Integer* to) {
  using Limits = std::numeric_limits<Integer>;
  // Pixels are the integers from the least one on, whatever these stand for.
  v = KeepsPixels(p) ? v + float(Limits::min()) : v / p.step + float(p.zero);
  *to = Integer(
      std::nearbyint(std::clamp(std::isnan(v) ? 0.0f : v, float(Limits::min()), float(Limits::max()))));
}

template <class T>
void Fill(const Image& image, const Preprocess& p, int channels, T* to) {
  const int64_t w = image.width, h = image.height;
  const int64_t y_step = p.transpose ? 1 : w, x_step = p.transpose ? h : 1;  // in pixels of the output
  const bool planes = p.layout == TensorOrder::kNchw;
  for (int c = 0; c < channels; ++c) {
    std::array<T, 256> values;  // of each byte
    for (size_t byte = 0; byte < values.size(); ++byte)
      Store((float(byte) - p.mean[size_t(c)]) * p.scale[size_t(c)] / p.divisor[size_t(c)], p, &values[byte]);
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x) {
        const int64_t pixel = y * y_step + x * x_step;
        to[planes ? c * w * h + pixel : pixel * channels + c] =
            values[Pick(image.row(int(y)) + x * 3, c, p.channels)];
      }
  }
}

int ChannelsOf(const Preprocess& p) { return p.channels == ChannelOrder::kGray ? 1 : 3; }

// Returns the shape of the input for a picture that Stages() returned, without the batch dimension.
Shape ShapeOf(const Image& ready, const Preprocess& p) {
  const int64_t h = p.transpose ? ready.width : ready.height, w = p.transpose ? ready.height : ready.width;
  return p.layout == TensorOrder::kNchw ? Shape{ChannelsOf(p), h, w} : Shape{h, w, ChannelsOf(p)};
}

void FillPicture(const Image& ready, const Preprocess& p, const View& batch, int64_t i) {
  const int64_t begin = i * batch.shape.Elements(1, batch.shape.rank());
  if (p.type == DType::kF32) Fill(ready, p, ChannelsOf(p), batch.as<float>() + begin);
  else if (p.type == DType::kU8) Fill(ready, p, ChannelsOf(p), batch.as<uint8_t>() + begin);
  else Fill(ready, p, ChannelsOf(p), batch.as<int8_t>() + begin);
}

Shape WithBatch(int64_t count, const Shape& one) {
  Shape shape{count};
  for (const int64_t dim : one) shape.push_back(dim);
  return shape;
}

}  // namespace

PictureShape PictureShapeOf(const Shape& s) {
  if (s.rank() != 4) return {};
  const auto is_channels = [](int64_t dim) { return dim == 1 || dim == 3; };
  PictureShape shape{true, s[0], s[2], s[3], s[1], TensorOrder::kNchw};
  if (is_channels(s[3]) && !is_channels(s[1])) shape = {true, s[0], s[1], s[2], s[3], TensorOrder::kNhwc};
  shape.known = is_channels(shape.channels) && shape.count >= 0 && shape.height > 0 && shape.width > 0 &&
                shape.height <= kMostPictureSide && shape.width <= kMostPictureSide;
  return shape;
}

Tensor MakeInput(const Image& image, const Preprocess& p) {
  CheckSettings(p);
  const Image ready = Stages(image, p);
  Tensor input(p.type, WithBatch(1, ShapeOf(ready, p)));
  FillPicture(ready, p, input.mutable_view(), 0);
  return input;
}

PictureShape NeedPictureShape(const Shape& input) {
  const PictureShape shape = PictureShapeOf(input);
  if (!shape.known)
    Invalid("preprocess",
            "the input does not take pictures; got {}, expected Nx3xHxW, Nx1xHxW, NxHxWx3 or NxHxWx1",
            ToString(input));
  return shape;
}

Tensor MakeInput(std::span<const Image> images, const Preprocess& preprocess, const Shape& input) {
  const PictureShape want = NeedPictureShape(input);
  if (int64_t(images.size()) != want.count)
    Invalid("preprocess", "the input takes {} pictures at once; got {}, expected {}", want.count,
            images.size(), ToString(input));
  if (ChannelsOf(preprocess) != want.channels)
    Invalid("preprocess",
            "the input does not take such pictures; got {} channels, expected {}; try channels = {}",
            ChannelsOf(preprocess), ToString(input), want.channels == 1 ? "gray" : "rgb");
  const Preprocess p = SettingsFor(preprocess, want);
  Tensor batch(p.type, input);
  for (size_t i = 0; i < images.size(); ++i) {
    const Image ready = Stages(images[i], p);
    const Shape one = ShapeOf(ready, p);
    if (WithBatch(want.count, one) != input)
      Invalid("preprocess",
              "the settings do not end at the input's size; got {}, expected {}; try resize = {}x{}, or "
              "without resize",
              ToString(WithBatch(want.count, one)), ToString(input), p.transpose ? want.height : want.width,
              p.transpose ? want.width : want.height);
    FillPicture(ready, p, batch.mutable_view(), int64_t(i));
  }
  return batch;
}

Tensor MakeInput(const Image& image, const Preprocess& preprocess, const Shape& input) {
  return MakeInput(std::span(&image, 1), preprocess, input);
}

}  // namespace mete
