// Encodes PNG through libpng's simplified interface, which needs no longjmp().
#include <png.h>

#include "base/error.h"
#include "image/resize.h"
#include "mete/image.h"

namespace mete {

std::string PngOf(const Image& image) {
  const bool fits = image.width > 0 && image.height > 0 && image.width <= kMostPictureSide &&
                    image.height <= kMostPictureSide &&
                    image.rgb.size() == size_t(image.width) * size_t(image.height) * 3;
  if (!fits)
    Invalid(
        "png",
        "no picture to encode; got {}x{} pixels in {} bytes, expected sides of 1 to {} and 3 bytes a pixel",
        image.width, image.height, image.rgb.size(), kMostPictureSide);
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = png_uint_32(image.width);
  png.height = png_uint_32(image.height);
  png.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&png, bytes.data(), &size, 0, image.rgb.data(), 0, nullptr))
    Fail(Code::kInternal, "png", "cannot encode a picture of {}x{} pixels: {}", image.width, image.height,
         png.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace mete
