// Decoders of the formats without compression: BMP (24 and 32 bits per pixel) and PGM/PPM.
#include <cstring>
#include <optional>

#include "base/error.h"
#include "image/decode.h"

namespace mete {
namespace {

uint32_t Little(Bytes b, size_t at, int n) {
  uint32_t v = 0;
  for (int i = 0; i < n; ++i) v |= uint32_t(b[at + size_t(i)]) << (8 * i);
  return v;
}

// Offsets in the file header (14 bytes) and the information header behind it.
constexpr size_t kPixelOffset = 10, kInfoSize = 14, kWidth = 18, kHeight = 22, kBits = 28, kCompression = 30,
                 kMasks = 54;
constexpr uint32_t kUncompressed = 0, kBitFields = 3;

bool PlainMasks(Bytes b) {
  return b.size() >= kMasks + 12 && Little(b, kMasks, 4) == 0xff0000 && Little(b, kMasks + 4, 4) == 0xff00 &&
         Little(b, kMasks + 8, 4) == 0xff;
}

void SwapRow(const std::byte* bgr, int width, size_t step, uint8_t* rgb) {
  for (int x = 0; x < width; ++x, bgr += step, rgb += 3)
    for (int c = 0; c < 3; ++c) rgb[c] = uint8_t(bgr[2 - c]);
}

// Returns the next number of a PNM header. White space and comments may precede it; white space or a comment
// must follow it.
std::optional<int64_t> PnmNumber(Bytes b, size_t& at) {
  auto byte = [&] { return at < b.size() ? int(b[at]) : -1; };
  while (byte() == '#' || byte() == ' ' || (byte() >= '\t' && byte() <= '\r')) {
    if (byte() == '#')
      while (byte() != '\n' && byte() >= 0) ++at;
    else ++at;
  }
  const size_t start = at;
  int64_t v = 0;
  for (; byte() >= '0' && byte() <= '9' && at - start < 10; ++at) v = v * 10 + (byte() - '0');
  const bool ended = byte() == ' ' || byte() == '#' || (byte() >= '\t' && byte() <= '\r');
  if (at == start || !ended) return std::nullopt;
  return v;
}

}  // namespace

bool IsBmp(Bytes b) { return b.size() >= 2 && b[0] == std::byte{'B'} && b[1] == std::byte{'M'}; }
bool IsPnm(Bytes b) {
  return b.size() >= 2 && b[0] == std::byte{'P'} && (b[1] == std::byte{'5'} || b[1] == std::byte{'6'});
}

Image DecodeBmp(Bytes b, const std::string& name, const DecodeOptions& options) {
  if (b.size() < kMasks) CorruptImage(name, "BMP", "the file is shorter than its header");
  const int64_t width = int32_t(Little(b, kWidth, 4));
  const int64_t signed_height = int32_t(Little(b, kHeight, 4));  // negative if the top row comes first
  const uint32_t bits = Little(b, kBits, 2), compression = Little(b, kCompression, 4);
  const bool plain =
      compression == kUncompressed || (compression == kBitFields && bits == 32 && PlainMasks(b));
  if (Little(b, kInfoSize, 4) < 40 || (bits != 24 && bits != 32) || !plain)
    Fail(Code::kUnimplemented, name,
         "unsupported kind of BMP; got {} bits with compression {}, expected 24 or 32 bits uncompressed; try "
         "PNG",
         bits, compression);
  const int64_t height = signed_height < 0 ? -signed_height : signed_height;
  CheckImageSize(width, height, name, options);
  const size_t step = bits / 8, stride = (size_t(width) * step + 3) / 4 * 4,
               offset = Little(b, kPixelOffset, 4);
  if (offset > b.size() || (b.size() - offset) / stride < size_t(height))
    CorruptImage(name, "BMP", "the file ends before the last row");
  Image image{int(width), int(height)};
  for (int y = 0; y < image.height; ++y) {
    const size_t stored = size_t(signed_height < 0 ? y : image.height - 1 - y);
    SwapRow(b.data() + offset + stored * stride, image.width, step, image.row(y));
  }
  return image;
}

Image DecodePnm(Bytes b, const std::string& name, const DecodeOptions& options) {
  const bool gray = b[1] == std::byte{'5'};
  size_t at = 2;
  const auto width = PnmNumber(b, at), height = PnmNumber(b, at), most = PnmNumber(b, at);
  if (!width || !height || !most) CorruptImage(name, "PGM or PPM", "the header is not three numbers");
  if (*most < 1 || *most > 255)
    Fail(Code::kUnimplemented, name, "unsupported depth; got a maximum of {}, expected 1 to 255", *most);
  CheckImageSize(*width, *height, name, options);
  ++at;
  const size_t pixels = size_t(*width) * size_t(*height);
  if (b.size() - at < pixels * (gray ? 1 : 3))
    CorruptImage(name, "PGM or PPM", "the file ends before the last row");
  Image image{int(*width), int(*height)};
  auto full = [&](std::byte v) {
    return uint8_t(std::min<int64_t>(255, (int64_t(v) * 255 + *most / 2) / *most));
  };
  for (size_t i = 0; i < pixels * 3; ++i) image.rgb[i] = full(b[at + (gray ? i / 3 : i)]);
  return image;
}

}  // namespace mete
