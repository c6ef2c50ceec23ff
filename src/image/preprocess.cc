// From a picture to a model's input, stage by stage.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "mete/image.h"

namespace mete {
namespace {

Image ResizeShorter(const Image& image, int side, Interpolation interpolation) {
  const int shorter = std::min(image.width, image.height), longer = std::max(image.width, image.height);
  const int64_t scaled = int64_t(longer) * side / std::max(shorter, 1);
  const int other = int(std::min<int64_t>(scaled, INT32_MAX));  // ResizeImage() refuses what is too large
  return image.width <= image.height ? ResizeImage(image, side, other, interpolation) : ResizeImage(image, other, side, interpolation);
}

Image Stages(Image image, const Preprocess& p) {
  if (p.resize_shorter) image = ResizeShorter(image, p.resize_shorter, p.interpolation);
  if (p.crop_width) image = CropCenter(image, p.crop_width, p.crop_height);
  if (p.resize_width) image = ResizeImage(image, p.resize_width, p.resize_height, p.interpolation);
  return image;
}

// ITU-R BT.601 luma in 16-bit fixed point.
uint8_t Gray(const uint8_t* rgb) { return uint8_t((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16); }

uint8_t Pick(const uint8_t* rgb, int channel, ChannelOrder order) {
  switch (order) {
    case ChannelOrder::kRgb: return rgb[channel];
    case ChannelOrder::kBgr: return rgb[2 - channel];
    case ChannelOrder::kGray: break;
  }
  return Gray(rgb);
}

void Store(float v, float* to) { *to = v; }
void Store(float v, uint8_t* to) { *to = uint8_t(std::nearbyint(std::clamp(std::isnan(v) ? 0.0f : v, 0.0f, 255.0f))); }

template <class T>
void Fill(const Image& image, const Preprocess& p, int channels, T* to) {
  const int64_t w = image.width, h = image.height;
  const int64_t y_step = p.transpose ? 1 : w, x_step = p.transpose ? h : 1;  // in pixels of the output
  const bool planes = p.layout == TensorOrder::kNchw;
  for (int c = 0; c < channels; ++c)
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x) {
        const int64_t pixel = y * y_step + x * x_step;
        const float value =
            (float(Pick(image.row(int(y)) + x * 3, c, p.channels)) - p.mean[size_t(c)]) * p.scale[size_t(c)] / p.divisor[size_t(c)];
        Store(value, to + (planes ? c * w * h + pixel : pixel * channels + c));
      }
}

}  // namespace

Tensor MakeInput(const Image& image, const Preprocess& p) {
  const Image ready = Stages(image, p);
  const int channels = p.channels == ChannelOrder::kGray ? 1 : 3;
  const int64_t h = p.transpose ? ready.width : ready.height, w = p.transpose ? ready.height : ready.width;
  if (p.type != DType::kF32 && p.type != DType::kU8)
    Invalid("preprocess", "cannot make an input of type {}; expected f32 or u8", Name(p.type));
  Tensor input(p.type, p.layout == TensorOrder::kNchw ? Shape{1, channels, h, w} : Shape{1, h, w, channels});
  if (p.type == DType::kF32) Fill(ready, p, channels, static_cast<float*>(input.mutable_view().data));
  else Fill(ready, p, channels, static_cast<uint8_t*>(input.mutable_view().data));
  return input;
}

}  // namespace mete
