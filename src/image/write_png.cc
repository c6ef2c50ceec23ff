// Encodes PNG through libpng's simplified interface, which needs no longjmp().
#include <png.h>

#include "base/error.h"
#include "mete/image.h"

namespace mete {

std::string PngOf(const Image& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = png_uint_32(image.width);
  png.height = png_uint_32(image.height);
  png.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  if (image.width < 1 || image.height < 1 ||
      !png_image_write_to_memory(&png, bytes.data(), &size, 0, image.rgb.data(), 0, nullptr))
    Fail(Code::kInternal, "png", "cannot encode a picture of {}x{} pixels: {}", image.width, image.height,
         png.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace mete
