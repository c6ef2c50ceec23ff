// Decodes PNG through libpng. Every colour type and depth becomes 8-bit RGB; alpha is dropped, not blended.
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "image/decode.h"
#include "image/exif.h"

namespace mete {
namespace {

void OnError(png_structp png, png_const_charp message);
void OnWarning(png_structp, png_const_charp) {}  // warnings are about metadata; lost pixels are errors

struct Reader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Bytes rest;
  char reason[256] = "";

  Reader() = default;
  Reader(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }

  // False: there is no memory for libpng's own state.
  bool Begin(Bytes bytes) {
    rest = bytes;
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, OnError, OnWarning);
    if (png) info = png_create_info_struct(png);
    return info != nullptr;
  }
};

void OnError(png_structp png, png_const_charp message) {
  auto* r = static_cast<Reader*>(png_get_error_ptr(png));
  std::snprintf(r->reason, sizeof r->reason, "%s", message);
  png_longjmp(png, 1);
}

void Read(png_structp png, png_bytep to, size_t n) {
  auto* r = static_cast<Reader*>(png_get_io_ptr(png));
  if (n > r->rest.size()) png_error(png, "the file ends too early");
  std::memcpy(to, r->rest.data(), n);
  r->rest = r->rest.subspan(n);
}

// ReadHeader(), SetOutput() and ReadPixels() hold no objects with destructors, because libpng may leave them
// with longjmp().
bool ReadHeader(Reader& r) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_set_user_limits(r.png, 0x7fffffff, 0x7fffffff);  // CheckImageSize() limits the size instead
  png_set_chunk_malloc_max(r.png, 16 << 20);           // limit for metadata
  png_set_read_fn(r.png, &r, Read);
  png_read_info(r.png, r.info);
  return true;
}

// Asks libpng for pixels of 3 bytes each. Returns false if libpng reports an error.
bool SetOutput(Reader& r, int* passes) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_set_expand(r.png);
  png_set_strip_16(r.png);
  png_set_strip_alpha(r.png);
  png_set_gray_to_rgb(r.png);
  *passes = png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  return true;
}

// Returns the orientation from an eXIf chunk before the pixels, where the specification of the chunk wants
// it. A chunk behind the pixels is not read.
int OrientationOf(Reader& r) {
  png_uint_32 size = 0;
  png_bytep tiff = nullptr;
  if (png_get_eXIf_1(r.png, r.info, &size, &tiff) == 0 || !tiff) return 1;
  return ExifOrientation(std::as_bytes(std::span(tiff, size)));
}

bool ReadPixels(Reader& r, Image& image, int passes) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  for (int pass = 0; pass < passes; ++pass)
    for (int y = 0; y < image.height; ++y) png_read_row(r.png, image.row(y), nullptr);
  png_read_end(r.png, nullptr);
  return true;
}

// Returns whether a file of `bytes` bytes can hold the picture. Deflate expands one byte to at most 1032
// bytes.
bool CanHold(size_t bytes, png_structp png, png_infop info) {
  const uint64_t bits = uint64_t(png_get_image_width(png, info)) * png_get_image_height(png, info) *
                        png_get_bit_depth(png, info) * png_get_channels(png, info);
  return bits / 8 / 1032 <= bytes;
}

}  // namespace

bool IsPng(Bytes b) {
  return b.size() >= 8 && png_sig_cmp(reinterpret_cast<png_const_bytep>(b.data()), 0, 8) == 0;
}

std::optional<int64_t> PixelsOfPng(Bytes bytes) {
  Reader r;
  if (!r.Begin(bytes) || !ReadHeader(r)) return std::nullopt;
  return int64_t(png_get_image_width(r.png, r.info)) * png_get_image_height(r.png, r.info);
}

Image DecodePng(Bytes bytes, const std::string& name, const DecodeOptions& options) {
  Reader r;
  if (!r.Begin(bytes)) Fail(Code::kResourceExhausted, name, "cannot start the PNG decoder");
  if (!ReadHeader(r)) CorruptImage(name, "PNG", r.reason);
  CheckImageSize(png_get_image_width(r.png, r.info), png_get_image_height(r.png, r.info), name, options);
  if (!CanHold(bytes.size(), r.png, r.info))
    CorruptImage(name, "PNG", "the file is too short for its number of pixels");
  int passes = 1;
  if (!SetOutput(r, &passes)) CorruptImage(name, "PNG", r.reason);
  Image image(int(png_get_image_width(r.png, r.info)), int(png_get_image_height(r.png, r.info)));
  image.exif_orientation = OrientationOf(r);
  if (png_get_rowbytes(r.png, r.info) != size_t(image.width) * 3)
    CorruptImage(name, "PNG", "the rows have an unexpected length");
  if (!ReadPixels(r, image, passes)) CorruptImage(name, "PNG", r.reason);
  return image;
}

}  // namespace mete
