#include "image/scaled_picture.h"

#include <fmt/format.h>

#include "base/error.h"
#include "image/decode.h"
#include "image/resize.h"
#include "image/stages.h"

namespace mete {
namespace {

Preprocess SettingsOf(const Preprocess& preprocess, const Shape& input) {
  const PictureShape want = PictureShapeOf(input);
  if (!want.known) Invalid("preprocess", "the input takes no pictures; got {}", ToString(input));
  return SettingsFor(preprocess, want);
}

// Each stage leaves a picture as it is that has its size already.
Image AfterFirstStage(const Image& image, const Preprocess& p) {
  if (const std::optional<PictureSize> size = SizeAtFirst(SizeOf(image), p)) return ResizeTo(image, *size, p);
  return CropCenter(image, p.crop_width, p.crop_height);
}

// Whether rows may become narrower before there are fewer of them, as ResizeImage() does it.
bool Narrows(PictureSize from, PictureSize to) {
  return to.width < from.width && to.height <= from.height && CanResizeTo(to.width, to.height, from.height);
}

}  // namespace

Image ScaledPicture(const Image& image, const Preprocess& preprocess, const Shape& input) {
  return AfterFirstStage(image, SettingsOf(preprocess, input));
}

DecodedPicture DecodeScaled(std::span<const std::byte> bytes, const std::string& name,
                            const Preprocess& preprocess, const Shape& input, const DecodeOptions& options) {
  const Preprocess p = SettingsOf(preprocess, input);
  std::optional<PictureSize> whole, narrowed_to;
  const auto width_for = [&](int width, int height) {
    whole = PictureSize{width, height};
    narrowed_to = SizeAtFirst(*whole, p);
    if (narrowed_to && !Narrows(*whole, *narrowed_to)) narrowed_to.reset();
    return narrowed_to ? narrowed_to->width : width;
  };
  const Image image = DecodeNarrowed(bytes, name, options, {width_for, p.interpolation});
  const PictureSize size = whole.value_or(SizeOf(image));
  DecodedPicture decoded{narrowed_to ? ResizeTo(image, *narrowed_to, p) : AfterFirstStage(image, p),
                         int64_t(size.width) * size.height};
  decoded.image.name = name;
  decoded.image.exif_orientation = image.exif_orientation;
  return decoded;
}

std::string PpmOf(const Image& image) {
  std::string bytes = fmt::format("P6\n{} {}\n255\n", image.width, image.height);
  bytes.append(reinterpret_cast<const char*>(image.rgb.data()), image.rgb.size());
  return bytes;
}

}  // namespace mete
