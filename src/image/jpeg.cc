// Decodes JPEG through libjpeg, at full size or at 1/2, 1/4 or 1/8 of it. The decoder takes baseline and
// progressive files in grey, colour, and CMYK as Adobe writes it (inverted).
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include <csetjmp>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "image/decode.h"
#include "image/exif.h"
#include "image/resize.h"

namespace mete {
namespace {

// The limit of scans: a hostile progressive file may have any number of them, real files have about 10.
constexpr int kMaxScans = 200;

struct Reader {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump;
  char reason[JMSG_LENGTH_MAX] = "";
  int code = 0;

  Reader() {
    jpeg.err = jpeg_std_error(&errors);
    jpeg.client_data = this;
    errors.error_exit = [](j_common_ptr c) { Of(c)->Stop(); };
    errors.emit_message = [](j_common_ptr c, int level) {
      // Stray bytes between two segments are harmless, and cameras write them. All other warnings mean lost
      // pixels.
      if (level < 0 && c->err->msg_code != JWRN_EXTRANEOUS_DATA) Of(c)->Stop();
    };
    progress.progress_monitor = [](j_common_ptr c) {
      if (Of(c)->jpeg.input_scan_number > kMaxScans) Of(c)->Stop();
    };
  }
  ~Reader() { jpeg_destroy_decompress(&jpeg); }

  static Reader* Of(j_common_ptr c) { return static_cast<Reader*>(c->client_data); }
  [[noreturn]] void Stop() {
    code = errors.msg_code;
    if (jpeg.input_scan_number > kMaxScans)
      std::snprintf(reason, sizeof reason, "more than %d scans", kMaxScans);
    else errors.format_message(reinterpret_cast<j_common_ptr>(&jpeg), reason);
    std::longjmp(jump, 1);
  }
};

// libjpeg-turbo writes rows that are aligned for vectors past the caches, from where a row that becomes
// narrower is read at once: 1920 x 1080 pixels took 12 ms where they take 8 (AMD EPYC, Zen 4).
constexpr size_t kUnaligned = 8;

constexpr int kExifMarker = JPEG_APP0 + 1;

int OrientationOf(const jpeg_decompress_struct& jpeg) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  for (const jpeg_marker_struct* m = jpeg.marker_list; m; m = m->next) {
    const Bytes data = std::as_bytes(std::span(m->data, m->data_length));
    if (m->marker == kExifMarker && data.size() > kExif.size() &&
        std::memcmp(data.data(), kExif.data(), kExif.size()) == 0)
      return ExifOrientation(data.subspan(kExif.size()));
  }
  return 1;
}

// Start(), SetOutput() and ReadPixels() hold no objects with destructors, because libjpeg may leave them with
// longjmp().
bool Start(Reader& r, const std::byte* data, size_t size) {
  if (setjmp(r.jump)) return false;
  jpeg_create_decompress(&r.jpeg);
  r.jpeg.client_data = &r;
  r.jpeg.progress = &r.progress;
  jpeg_save_markers(&r.jpeg, kExifMarker, 0xffff);
  jpeg_mem_src(&r.jpeg, reinterpret_cast<const unsigned char*>(data), static_cast<unsigned long>(size));
  jpeg_read_header(&r.jpeg, TRUE);
  return true;
}

bool SetOutput(Reader& r, int denominator) {
  if (setjmp(r.jump)) return false;
  const bool cmyk = r.jpeg.jpeg_color_space == JCS_CMYK || r.jpeg.jpeg_color_space == JCS_YCCK;
  r.jpeg.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  r.jpeg.scale_num = 1;
  r.jpeg.scale_denom = static_cast<unsigned>(denominator);
  jpeg_calc_output_dimensions(&r.jpeg);
  return true;
}

void CmykToRgb(const uint8_t* cmyk, int width, uint8_t* rgb) {
  for (int x = 0; x < width; ++x)
    for (int c = 0; c < 3; ++c) rgb[x * 3 + c] = uint8_t((cmyk[x * 4 + c] * cmyk[x * 4 + 3] + 127) / 255);
}

// Where ReadPixels() puts the rows. A buffer that is not needed may be null.
struct Rows {
  Image& image;
  uint8_t* cmyk;               // a row of 4 bytes for each pixel
  uint8_t* whole;              // a row before it becomes narrower
  const RowResizer* narrower;  // null: rows stay as they are
};

bool ReadPixels(Reader& r, const Rows& rows) {
  if (setjmp(r.jump)) return false;
  jpeg_start_decompress(&r.jpeg);
  const bool is_cmyk = r.jpeg.out_color_space == JCS_CMYK;
  while (r.jpeg.output_scanline < r.jpeg.output_height) {
    uint8_t* to = rows.image.row(int(r.jpeg.output_scanline));
    uint8_t* rgb = rows.narrower ? rows.whole : to;
    JSAMPROW row = is_cmyk ? rows.cmyk : rgb;
    jpeg_read_scanlines(&r.jpeg, &row, 1);
    if (is_cmyk) CmykToRgb(rows.cmyk, int(r.jpeg.output_width), rgb);
    if (rows.narrower) rows.narrower->Resize(rgb, to);
  }
  jpeg_finish_decompress(&r.jpeg);
  return true;
}

// Returns whether a file of `bytes` bytes can hold the picture. Each Huffman-coded block takes at least one
// bit, and there is at least one block for 4 x 64 pixels.
bool CanHold(size_t bytes, const jpeg_decompress_struct& jpeg) {
  constexpr uint64_t kMaxPixelsPerByte = 8 * 4 * 64;
  return jpeg.arith_code || uint64_t(jpeg.image_width) * jpeg.image_height / kMaxPixelsPerByte <= bytes;
}

}  // namespace

bool IsJpeg(Bytes b) {
  return b.size() >= 3 && b[0] == std::byte{0xff} && b[1] == std::byte{0xd8} && b[2] == std::byte{0xff};
}

std::optional<int64_t> PixelsOfJpeg(Bytes bytes) {
  Reader r;
  if (!Start(r, bytes.data(), bytes.size())) return std::nullopt;
  return int64_t(r.jpeg.image_width) * r.jpeg.image_height;
}

Image DecodeJpeg(Bytes bytes, const std::string& name, const DecodeOptions& options,
                 const Narrowing& narrowing) {
  const int d = options.jpeg_denominator;
  if (d != 1 && d != 2 && d != 4 && d != 8)
    Invalid(name, "a JPEG cannot be decoded at 1/{}; expected 1, 2, 4 or 8", d);
  Reader r;
  if (!Start(r, bytes.data(), bytes.size())) {
    if (r.code == JERR_IMAGE_TOO_BIG) CheckImageSize(r.jpeg.image_width, r.jpeg.image_height, name, options);
    CorruptImage(name, "JPEG", r.reason);
  }
  CheckImageSize(r.jpeg.image_width, r.jpeg.image_height, name, options);
  if (!CanHold(bytes.size(), r.jpeg))
    CorruptImage(name, "JPEG", "the file is too short for its number of pixels");
  if (!SetOutput(r, d)) CorruptImage(name, "JPEG", r.reason);
  const int width = int(r.jpeg.output_width), height = int(r.jpeg.output_height);
  const int orientation = OrientationOf(r.jpeg);
  const bool may_narrow = narrowing.width && orientation == 1;
  Image image(may_narrow ? narrowing.width(width, height) : width, height);
  image.exif_orientation = orientation;
  std::vector<uint8_t> cmyk_row(r.jpeg.out_color_space == JCS_CMYK ? size_t(width) * 4 : 0);
  std::optional<RowResizer> narrower;
  if (image.width != width) narrower.emplace(width, image.width, narrowing.interpolation);
  std::vector<uint8_t> whole_row(narrower ? size_t(width) * Image::kChannels + kUnaligned : 0);
  if (!ReadPixels(r, {image, cmyk_row.data(), whole_row.data() + (narrower ? kUnaligned : 0),
                      narrower ? &*narrower : nullptr}))
    CorruptImage(name, "JPEG", r.reason);
  return image;
}

}  // namespace mete
