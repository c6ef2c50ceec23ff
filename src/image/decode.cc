#include "image/decode.h"

#include <algorithm>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/mapped_file.h"
#include "image/exif.h"

namespace mete {

void CheckImageSize(int64_t width, int64_t height, const std::string& name, const DecodeOptions& options) {
  if (width <= 0 || height <= 0)
    Fail(Code::kDataLoss, name, "the picture has no pixels; got {} x {}", width, height);
  int64_t pixels;
  if (__builtin_mul_overflow(width, height, &pixels) || pixels > options.max_pixels)
    Fail(Code::kResourceExhausted, name,
         "the picture is too large; got {} x {} pixels, expected at most {} pixels; try a smaller copy of it",
         width, height, options.max_pixels);
}

void CorruptImage(const std::string& name, const char* format, const char* reason) {
  Fail(Code::kDataLoss, name, "corrupt or truncated {}; {}", format, reason);
}

namespace {

[[noreturn]] void RefuseFormat(Bytes bytes, const std::string& name) {
  constexpr const char* kExpected = "expected JPEG, PNG, BMP, PGM or PPM";
  if (const FileKind* kind = KindOfFile(bytes))
    Invalid(name, "this is no picture that can be read; got {}, {}; try {}", kind->name, kExpected,
            kind->instead_of_picture);
  std::string start;
  for (std::byte b : bytes.first(std::min<size_t>(bytes.size(), 4)))
    start += fmt::format(" {:02x}", unsigned(b));
  Invalid(name, "not a picture of a known format; got a file that starts with{}, {}; try a copy as PNG",
          start, kExpected);
}

Image DecodeAsStored(Bytes bytes, const std::string& name, const DecodeOptions& options,
                     const Narrowing& narrowing) {
  if (IsJpeg(bytes)) return DecodeJpeg(bytes, name, options, narrowing);
  if (IsPng(bytes)) return DecodePng(bytes, name, options);
  if (IsBmp(bytes)) return DecodeBmp(bytes, name, options);
  if (IsPnm(bytes)) return DecodePnm(bytes, name, options);
  RefuseFormat(bytes, name);
}

}  // namespace

std::optional<int64_t> PixelsOf(Bytes bytes) {
  if (IsJpeg(bytes)) return PixelsOfJpeg(bytes);
  if (IsPng(bytes)) return PixelsOfPng(bytes);
  return std::nullopt;
}

Image DecodeNarrowed(Bytes bytes, const std::string& name, const DecodeOptions& options,
                     const Narrowing& narrowing) {
  if (bytes.empty()) Fail(Code::kDataLoss, name, "the picture is empty; got 0 bytes");
  Image image = DecodeAsStored(bytes, name, options, narrowing);
  if (options.upright) image = Upright(std::move(image));
  image.name = name;
  return image;
}

Image DecodeImage(std::span<const std::byte> bytes, const std::string& name, const DecodeOptions& options) {
  return DecodeNarrowed(bytes, name, options, {});
}

Image LoadImage(const std::string& path, const DecodeOptions& options) {
  return DecodeImage(MappedFile::Open(path)->bytes(), path, options);
}

}  // namespace mete
