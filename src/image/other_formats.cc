// Files that are no pictures for us, by name: a user who is told "WebP" knows what to do, one who is told bytes does not.
#include <string_view>

#include "base/error.h"
#include "image/decode.h"

namespace mete {
namespace {

struct Format {
  const char* name;
  size_t at;
  std::string_view magic;
};

using namespace std::string_view_literals;  // some have zeros

constexpr Format kFormats[] = {
    {"GIF", 0, "GIF8"sv},
    {"WebP", 8, "WEBP"sv},
    {"HEIC", 4, "ftyphei"sv},
    {"HEIC", 4, "ftyphev"sv},
    {"HEIC", 4, "ftypmif1"sv},
    {"HEIC", 4, "ftypmsf1"sv},
    {"AVIF", 4, "ftypavi"sv},
    {"video (MP4, MOV)", 4, "ftyp"sv},
    {"JPEG XL", 0, "\xff\x0a"sv},
    {"JPEG XL", 4, "JXL "sv},
    {"JPEG 2000", 4, "jP  "sv},
    {"JPEG 2000", 0, "\xff\x4f\xff\x51"sv},
    {"TIFF or camera raw", 0, "II*\0"sv},
    {"TIFF or camera raw", 0, "MM\0*"sv},
    {"PNM as text or of one bit", 0, "P1"sv},
    {"PNM as text or of one bit", 0, "P2"sv},
    {"PNM as text or of one bit", 0, "P3"sv},
    {"PNM as text or of one bit", 0, "P4"sv},
    {"PAM", 0, "P7"sv},
    {"QOI", 0, "qoif"sv},
    {"ICO", 0, "\0\0\1\0"sv},
    {"Photoshop", 0, "8BPS"sv},
    {"OpenEXR", 0, "\x76\x2f\x31\x01"sv},
    {"Radiance HDR", 0, "#?RADIANCE"sv},
    {"SVG", 0, "<svg"sv},
    {"XML, perhaps SVG", 0, "<?xml"sv},
    {"PDF", 0, "%PDF"sv},
    {"HTML, a web page", 0, "<!DOCTYPE html"sv},
    {"HTML, a web page", 0, "<!doctype html"sv},
    {"HTML, a web page", 0, "<html"sv},
    {"a pointer of Git LFS", 0, "version https://git-lfs"sv},
    {"a ZIP archive", 0, "PK\3\4"sv},
    {"a gzip archive", 0, "\x1f\x8b"sv},
};

bool Has(Bytes bytes, const Format& f) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.size() >= f.at && text.substr(f.at).starts_with(f.magic);
}

}  // namespace

void RefuseFormat(Bytes bytes, const std::string& name) {
  constexpr const char* kExpected = "expected JPEG, PNG, BMP, PGM or PPM";
  if (Has(bytes, {"", 0, "\x93NUMPY"sv})) Invalid(name, "not a picture; got a NumPy array, {}; try --input NAME={}", kExpected, name);
  for (const Format& f : kFormats)
    if (Has(bytes, f)) Invalid(name, "pictures of this format cannot be read; got {}, {}; try a copy as PNG", f.name, kExpected);
  std::string start;
  for (std::byte b : bytes.first(std::min<size_t>(bytes.size(), 4))) start += fmt::format(" {:02x}", unsigned(b));
  Invalid(name, "not a picture of a known format; got a file that starts with{}, {}", start, kExpected);
}

}  // namespace mete
