// The stages of a preprocessing that change a picture's size.
#include "image/stages.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace mete {
namespace {

PictureSize WithShorter(PictureSize image, int side) {
  const int shorter = std::min(image.width, image.height), longer = std::max(image.width, image.height);
  const int64_t scaled = int64_t(longer) * side / std::max(shorter, 1);
  const int other = int(std::min<int64_t>(scaled, INT32_MAX));  // ResizeImage() refuses too large a side
  return image.width <= image.height ? PictureSize{side, other} : PictureSize{other, side};
}

// The picture covers resize_width and resize_height divided by crop_fraction then. For a square size this and
// the centre of resize_width x resize_height pixels are torchvision's Resize() to the shorter side followed
// by CenterCrop().
PictureSize Covering(PictureSize image, const Preprocess& p) {
  const auto side = [&](int size) { return std::max(size, int(std::lround(size / p.crop_fraction))); };
  int width = side(p.resize_width), height = side(p.resize_height);
  const bool by_width = int64_t(image.width) * height <= int64_t(image.height) * width;
  const auto other = [](int64_t from, int64_t to, int64_t of) {
    return int(std::min<int64_t>(of * to / std::max<int64_t>(from, 1), INT32_MAX));
  };
  if (by_width) height = std::max(height, other(image.width, width, image.height));
  else width = std::max(width, other(image.height, height, image.width));
  return {width, height};
}

// The picture fits into the size then.
PictureSize Fitting(PictureSize image, const Preprocess& p) {
  const double scale = std::min(double(p.resize_width) / image.width, double(p.resize_height) / image.height);
  const auto side = [&](int from, int most) { return std::clamp(int(std::lround(from * scale)), 1, most); };
  return {side(image.width, p.resize_width), side(image.height, p.resize_height)};
}

// The size by resize_width and resize_height.
PictureSize Final(PictureSize image, const Preprocess& p) {
  if (p.crop_fraction > 0) return Covering(image, p);
  return p.letterbox ? Fitting(image, p) : PictureSize{p.resize_width, p.resize_height};
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

// A stage that changes a picture's size: it scales the picture, cuts out its centre, or fills around it.
struct PictureStage {
  enum class Kind { kResize, kCrop, kFill };
  Kind kind;
  PictureSize to;
};

std::vector<PictureStage> StagesOf(PictureSize image, const Preprocess& p) {
  std::vector<PictureStage> stages;
  const auto add = [&](PictureStage::Kind kind, PictureSize to) {
    stages.push_back({kind, to});
    image = to;
  };
  if (p.resize_shorter) add(PictureStage::Kind::kResize, WithShorter(image, p.resize_shorter));
  if (p.crop_width) add(PictureStage::Kind::kCrop, {p.crop_width, p.crop_height});
  if (!p.resize_width) return stages;
  add(PictureStage::Kind::kResize, Final(image, p));
  if (p.crop_fraction > 0) add(PictureStage::Kind::kCrop, {p.resize_width, p.resize_height});
  else if (p.letterbox) add(PictureStage::Kind::kFill, {p.resize_width, p.resize_height});
  return stages;
}

Image Applied(const PictureStage& stage, const Image& image, const Preprocess& p) {
  switch (stage.kind) {
    case PictureStage::Kind::kResize: return ResizeTo(image, stage.to, p);
    case PictureStage::Kind::kCrop: return CropCenter(image, stage.to.width, stage.to.height);
    case PictureStage::Kind::kFill: break;
  }
  return Letterbox(image, p);
}

}  // namespace

Image ResizeTo(const Image& image, PictureSize size, const Preprocess& p) {
  return ResizeImage(image, size.width, size.height, p.interpolation);
}

Image Stages(Image image, const Preprocess& p) {
  for (const PictureStage& stage : StagesOf(SizeOf(image), p)) image = Applied(stage, image, p);
  return image;
}

std::optional<PictureSize> SizeAtFirst(PictureSize image, const Preprocess& p) {
  const PictureStage first = StagesOf(image, p).front();
  if (first.kind == PictureStage::Kind::kCrop) return std::nullopt;
  return first.to;
}

InputPlace PlaceOf(const Image& image, const Preprocess& preprocess, const Shape& input) {
  const Preprocess p = SettingsFor(preprocess, NeedPictureShape(input));
  PictureSize size = SizeOf(image);
  InputPlace place{.picture_width = size.width, .picture_height = size.height, .transposed = p.transpose};
  for (const PictureStage& stage : StagesOf(size, p)) {
    if (stage.kind == PictureStage::Kind::kResize) {
      place.scale_x *= double(size.width) / stage.to.width;
      place.scale_y *= double(size.height) / stage.to.height;
    } else {
      // CropCenter() and Letterbox() round the margin down, so that an odd pixel is right or below
      const PictureSize larger = stage.kind == PictureStage::Kind::kCrop ? size : stage.to,
                        smaller = stage.kind == PictureStage::Kind::kCrop ? stage.to : size;
      const int sign = stage.kind == PictureStage::Kind::kCrop ? 1 : -1;
      place.left += sign * ((larger.width - smaller.width) / 2) * place.scale_x;
      place.top += sign * ((larger.height - smaller.height) / 2) * place.scale_y;
    }
    size = stage.to;
  }
  place.input_width = p.transpose ? size.height : size.width;
  place.input_height = p.transpose ? size.width : size.height;
  return place;
}

void CheckSettings(const Preprocess& p) {
  if (p.type != DType::kF32 && p.type != DType::kU8 && p.type != DType::kI8)
    Invalid("preprocess", "cannot make an input of type {}; expected f32, u8 or i8", Name(p.type));
  if (!(p.step > 0) || !std::isfinite(p.step))
    Invalid("preprocess", "the step of integers is none; got {}, expected a number above 0", p.step);
  if (p.crop_fraction < 0 || p.crop_fraction > 1)
    Invalid("crop_fraction", "out of range; got {}, expected 0 to 1", p.crop_fraction);
  if (std::count(p.divisor.begin(), p.divisor.end(), 0.0f) > 0)
    Invalid("divisor", "cannot be 0; expected a number for each channel");
  if (p.letterbox && p.crop_fraction > 0)
    Invalid("preprocess", "letterbox and crop_fraction exclude each other; try one of them");
  if (!p.resize_width && (p.letterbox || p.crop_fraction > 0))
    Invalid("preprocess", "{} needs a size; try resize", p.letterbox ? "letterbox" : "crop_fraction");
}

Preprocess SettingsFor(Preprocess p, const PictureShape& want) {
  if (!p.resize_width) {
    p.resize_width = int(p.transpose ? want.height : want.width);
    p.resize_height = int(p.transpose ? want.width : want.height);
  }
  CheckSettings(p);
  return p;
}

}  // namespace mete
