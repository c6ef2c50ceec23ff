// Pictures for tests, encoded in memory.
#pragma once

#include <cstdint>
#include <cstdio>

#include <jpeglib.h>
#include <png.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "mete/image.h"

namespace mete {

inline std::span<const std::byte> AsBytes(const std::string& s) {
  return std::as_bytes(std::span(s.data(), s.size()));
}

// Returns a smooth picture, which JPEG compression hardly changes.
inline Image Gradient(int width, int height) {
  Image image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      uint8_t* p = image.row(y) + x * 3;
      p[0] = uint8_t(x * 255 / width);
      p[1] = uint8_t(y * 255 / height);
      p[2] = 40;
    }
  return image;
}

struct JpegForm {
  bool progressive = false;
  bool cmyk = false;  // as Adobe writes it (inverted), without black
};

inline std::string EncodeJpeg(const Image& image, const JpegForm& form = {}) {
  jpeg_compress_struct c{};
  jpeg_error_mgr errors{};
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* out = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &out, &size);
  c.image_width = unsigned(image.width);
  c.image_height = unsigned(image.height);
  c.input_components = form.cmyk ? 4 : 3;
  c.in_color_space = form.cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, 95, TRUE);
  if (form.progressive) jpeg_simple_progression(&c);
  jpeg_start_compress(&c, TRUE);
  std::vector<uint8_t> cmyk(size_t(image.width) * 4, 255);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) std::copy_n(image.row(y) + x * 3, 3, cmyk.data() + x * 4);
    JSAMPROW row = form.cmyk ? cmyk.data() : const_cast<uint8_t*>(image.row(y));
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  std::string bytes(reinterpret_cast<char*>(out), size);
  std::free(out);
  return bytes;
}

struct PngForm {
  std::vector<png_color> palette = {};
  bool interlaced = false;
  std::string exif = {};
};

// Encodes rows whose bytes have PNG's form for the given colour type and depth.
inline std::string EncodePng(int width, int height, int color, int depth,
                             const std::vector<std::vector<uint8_t>>& rows, PngForm form = {}) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  std::string bytes;
  png_set_write_fn(
      png, &bytes,
      [](png_structp p, png_bytep data, size_t n) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(data), n);
      },
      nullptr);
  png_set_IHDR(png, info, unsigned(width), unsigned(height), depth, color,
               form.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!form.palette.empty()) png_set_PLTE(png, info, form.palette.data(), int(form.palette.size()));
  if (!form.exif.empty())
    png_set_eXIf_1(png, info, png_uint_32(form.exif.size()), reinterpret_cast<png_bytep>(form.exif.data()));
  png_write_info(png, info);
  const int passes = png_set_interlace_handling(png);
  for (int pass = 0; pass < passes; ++pass)
    for (const auto& row : rows) png_write_row(png, row.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

inline std::string EncodePng(const Image& image, const PngForm& form = {}) {
  std::vector<std::vector<uint8_t>> rows;
  for (int y = 0; y < image.height; ++y) rows.emplace_back(image.row(y), image.row(y) + image.width * 3);
  return EncodePng(image.width, image.height, PNG_COLOR_TYPE_RGB, 8, rows, form);
}

// Returns a BMP header for uncompressed pixels. `bits` is 24 or 32; a negative height means that the top row
// comes first.
inline std::string BmpHeader(int32_t width, int32_t height, int bits) {
  std::string h = "BM";
  auto put = [&](uint32_t v, int n) {
    for (int i = 0; i < n; ++i) h += char(v >> (8 * i));
  };
  put(0, 4);
  put(0, 4);
  put(54, 4);
  put(40, 4);
  put(uint32_t(width), 4);
  put(uint32_t(height), 4);
  put(1, 2);
  put(uint32_t(bits), 2);
  for (int i = 0; i < 6; ++i) put(0, 4);
  return h;
}

// Returns a TIFF header and a directory of two entries; the second entry is the orientation.
inline std::string Exif(int orientation, std::endian order) {
  const bool little = order == std::endian::little;
  std::string tiff = little ? std::string("II*\0", 4) : std::string("MM\0*", 4);
  const auto put = [&](uint32_t v, int n) {
    for (int i = 0; i < n; ++i) tiff += char(v >> (8 * (little ? i : n - 1 - i)));
  };
  put(8, 4);
  put(2, 2);
  put(0x010f, 2);
  put(2, 2);
  put(4, 4);
  tiff += std::string("Me\0\0", 4);
  put(0x0112, 2);
  put(3, 2);
  put(1, 4);
  put(uint32_t(orientation), 2);
  put(0, 2);
  return tiff;
}

inline std::string WithExif(const std::string& jpeg, const std::string& tiff) {
  const std::string content = std::string("Exif\0\0", 6) + tiff;
  const size_t n = content.size() + 2;
  return jpeg.substr(0, 2) + "\xff\xe1" + char(n >> 8) + char(n) + content + jpeg.substr(2);
}

}  // namespace mete
