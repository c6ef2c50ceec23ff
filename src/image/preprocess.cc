// Turns a picture into a model's input, stage by stage.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "image/scaled_picture.h"
#include "mete/image.h"

namespace mete {
namespace {

Image ResizeShorter(const Image& image, int side, Interpolation interpolation) {
  const int shorter = std::min(image.width, image.height), longer = std::max(image.width, image.height);
  const int64_t scaled = int64_t(longer) * side / std::max(shorter, 1);
  const int other = int(std::min<int64_t>(scaled, INT32_MAX));  // ResizeImage() refuses too large a side
  return image.width <= image.height ? ResizeImage(image, side, other, interpolation)
                                     : ResizeImage(image, other, side, interpolation);
}

// Scales the picture so that it covers resize_width and resize_height divided by crop_fraction. For a square
// size this and the centre of resize_width x resize_height pixels are torchvision's Resize() to the shorter
// side followed by CenterCrop().
Image Cover(const Image& image, const Preprocess& p) {
  const auto side = [&](int size) { return std::max(size, int(std::lround(size / p.crop_fraction))); };
  int width = side(p.resize_width), height = side(p.resize_height);
  const bool by_width = int64_t(image.width) * height <= int64_t(image.height) * width;
  const auto other = [](int64_t from, int64_t to, int64_t of) {
    return int(std::min<int64_t>(of * to / std::max<int64_t>(from, 1), INT32_MAX));
  };
  if (by_width) height = std::max(height, other(image.width, width, image.height));
  else width = std::max(width, other(image.height, height, image.width));
  return ResizeImage(image, width, height, p.interpolation);
}

// Scales the picture so that it fits into the size.
Image Fit(const Image& image, const Preprocess& p) {
  const double scale = std::min(double(p.resize_width) / image.width, double(p.resize_height) / image.height);
  const auto side = [&](int from, int most) { return std::clamp(int(std::lround(from * scale)), 1, most); };
  return ResizeImage(image, side(image.width, p.resize_width), side(image.height, p.resize_height),
                     p.interpolation);
}

// Puts such a picture into the middle of a picture of one colour.
Image Letterbox(const Image& inner, const Preprocess& p) {
  Image out(p.resize_width, p.resize_height);
  for (size_t i = 0; i < out.rgb.size(); ++i)
    out.rgb[i] = uint8_t(std::lround(std::clamp(p.pad[i % Image::kChannels], 0.0f, 255.0f)));
  const int left = (out.width - inner.width) / 2, top = (out.height - inner.height) / 2;
  for (int y = 0; y < inner.height; ++y)
    std::copy_n(inner.row(y), size_t(inner.width) * Image::kChannels,
                out.row(top + y) + size_t(left) * Image::kChannels);
  return out;
}

Image Stages(Image image, const Preprocess& p) {
  if (p.resize_shorter) image = ResizeShorter(image, p.resize_shorter, p.interpolation);
  if (p.crop_width) image = CropCenter(image, p.crop_width, p.crop_height);
  if (!p.resize_width) return image;
  if (p.crop_fraction > 0) return CropCenter(Cover(image, p), p.resize_width, p.resize_height);
  if (p.letterbox) return Letterbox(Fit(image, p), p);
  return ResizeImage(image, p.resize_width, p.resize_height, p.interpolation);
}

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

void Store(float v, float* to) { *to = v; }
void Store(float v, uint8_t* to) {
  *to = uint8_t(std::nearbyint(std::clamp(std::isnan(v) ? 0.0f : v, 0.0f, 255.0f)));
}

template <class T>
void Fill(const Image& image, const Preprocess& p, int channels, T* to) {
  const int64_t w = image.width, h = image.height;
  const int64_t y_step = p.transpose ? 1 : w, x_step = p.transpose ? h : 1;  // in pixels of the output
  const bool planes = p.layout == TensorOrder::kNchw;
  for (int c = 0; c < channels; ++c)
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x) {
        const int64_t pixel = y * y_step + x * x_step;
        const float value = (float(Pick(image.row(int(y)) + x * 3, c, p.channels)) - p.mean[size_t(c)]) *
                            p.scale[size_t(c)] / p.divisor[size_t(c)];
        Store(value, to + (planes ? c * w * h + pixel : pixel * channels + c));
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
  else Fill(ready, p, ChannelsOf(p), batch.as<uint8_t>() + begin);
}

void CheckSettings(const Preprocess& p) {
  if (p.type != DType::kF32 && p.type != DType::kU8)
    Invalid("preprocess", "cannot make an input of type {}; expected f32 or u8", Name(p.type));
  if (p.crop_fraction < 0 || p.crop_fraction > 1)
    Invalid("crop_fraction", "out of range; got {}, expected 0 to 1", p.crop_fraction);
  if (std::count(p.divisor.begin(), p.divisor.end(), 0.0f) > 0)
    Invalid("divisor", "cannot be 0; expected a number for each channel");
  if (p.letterbox && p.crop_fraction > 0)
    Invalid("preprocess", "letterbox and crop_fraction exclude each other; try one of them");
  if (!p.resize_width && (p.letterbox || p.crop_fraction > 0))
    Invalid("preprocess", "{} needs a size; try resize", p.letterbox ? "letterbox" : "crop_fraction");
}

Shape WithBatch(int64_t count, const Shape& one) {
  Shape shape{count};
  for (const int64_t dim : one) shape.push_back(dim);
  return shape;
}

// Returns the settings, with the input's size as resize_width and resize_height if the settings have none.
Preprocess FittedTo(Preprocess p, const PictureShape& want) {
  if (p.resize_width) return p;
  p.resize_width = int(p.transpose ? want.height : want.width);
  p.resize_height = int(p.transpose ? want.width : want.height);
  return p;
}

constexpr int64_t kMostSide = 1 << 16;  // the limit of ResizeImage()

}  // namespace

PictureShape PictureShapeOf(const Shape& s) {
  if (s.rank() != 4) return {};
  const auto is_channels = [](int64_t dim) { return dim == 1 || dim == 3; };
  PictureShape shape{true, s[0], s[2], s[3], s[1], TensorOrder::kNchw};
  if (is_channels(s[3]) && !is_channels(s[1])) shape = {true, s[0], s[1], s[2], s[3], TensorOrder::kNhwc};
  shape.known = is_channels(shape.channels) && shape.count >= 0 && shape.height > 0 && shape.width > 0 &&
                shape.height <= kMostSide && shape.width <= kMostSide;
  return shape;
}

Tensor MakeInput(const Image& image, const Preprocess& p) {
  CheckSettings(p);
  const Image ready = Stages(image, p);
  Tensor input(p.type, WithBatch(1, ShapeOf(ready, p)));
  FillPicture(ready, p, input.mutable_view(), 0);
  return input;
}

Tensor MakeInput(std::span<const Image> images, const Preprocess& preprocess, const Shape& input) {
  const PictureShape want = PictureShapeOf(input);
  if (!want.known)
    Invalid("preprocess",
            "the input does not take pictures; got {}, expected Nx3xHxW, Nx1xHxW, NxHxWx3 or NxHxWx1",
            ToString(input));
  if (int64_t(images.size()) != want.count)
    Invalid("preprocess", "the input takes {} pictures at once; got {}, expected {}", want.count,
            images.size(), ToString(input));
  if (ChannelsOf(preprocess) != want.channels)
    Invalid("preprocess",
            "the input does not take such pictures; got {} channels, expected {}; try channels = {}",
            ChannelsOf(preprocess), ToString(input), want.channels == 1 ? "gray" : "rgb");
  const Preprocess p = FittedTo(preprocess, want);
  CheckSettings(p);
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

// Each stage leaves a picture as it is that has its size already.
Image ScaledPicture(const Image& image, const Preprocess& preprocess, const Shape& input) {
  const PictureShape want = PictureShapeOf(input);
  if (!want.known) Invalid("preprocess", "the input takes no pictures; got {}", ToString(input));
  const Preprocess p = FittedTo(preprocess, want);
  CheckSettings(p);
  if (p.resize_shorter) return ResizeShorter(image, p.resize_shorter, p.interpolation);
  if (p.crop_width) return CropCenter(image, p.crop_width, p.crop_height);
  if (p.crop_fraction > 0) return Cover(image, p);
  if (p.letterbox) return Fit(image, p);
  return ResizeImage(image, p.resize_width, p.resize_height, p.interpolation);
}

std::string PpmOf(const Image& image) {
  std::string bytes = fmt::format("P6\n{} {}\n255\n", image.width, image.height);
  bytes.append(reinterpret_cast<const char*>(image.rgb.data()), image.rgb.size());
  return bytes;
}

}  // namespace mete
