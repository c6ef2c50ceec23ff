#include "base/file_kind.h"

#include <algorithm>
#include <string_view>

namespace mete {
namespace {

using namespace std::string_view_literals;  // because some magic numbers contain zero bytes

struct Magic {
  size_t at;
  std::string_view bytes;
  FileKind kind;
};

constexpr const char* kPictureFirst = "the model first: mete run MODEL IMAGE";
constexpr const char* kDownload = "to download the file itself, which such a page links to";
constexpr const char* kPull = "'git lfs pull', which brings the file itself";

constexpr FileKind Picture(const char* name) { return {name, kPictureFirst}; }

// The first row that matches is used: "ftyp" with an unknown brand is a video because its row follows those
// of the known brands.
constexpr Magic kMagic[] = {
    {0, "\xff\xd8\xff"sv, Picture("JPEG")},
    {0, "\x89PNG"sv, Picture("PNG")},
    {0, "BM"sv, Picture("BMP")},
    {0, "P5"sv, Picture("PGM")},
    {0, "P6"sv, Picture("PPM")},
    {0, "GIF8"sv, Picture("GIF")},
    {8, "WEBP"sv, Picture("WebP")},
    {4, "ftyphei"sv, Picture("HEIC")},
    {4, "ftyphev"sv, Picture("HEIC")},
    {4, "ftypmif1"sv, Picture("HEIC")},
    {4, "ftypmsf1"sv, Picture("HEIC")},
    {4, "ftypavi"sv, Picture("AVIF")},
    {4, "ftyp"sv, {"video (MP4, MOV)", kPictureFirst}},
    {0, "\xff\x0a"sv, Picture("JPEG XL")},
    {4, "JXL "sv, Picture("JPEG XL")},
    {4, "jP  "sv, Picture("JPEG 2000")},
    {0, "\xff\x4f\xff\x51"sv, Picture("JPEG 2000")},
    {0, "II*\0"sv, Picture("TIFF or camera raw")},
    {0, "MM\0*"sv, Picture("TIFF or camera raw")},
    {0, "P1"sv, Picture("PNM as text or of one bit")},
    {0, "P2"sv, Picture("PNM as text or of one bit")},
    {0, "P3"sv, Picture("PNM as text or of one bit")},
    {0, "P4"sv, Picture("PNM as text or of one bit")},
    {0, "P7"sv, Picture("PAM")},
    {0, "qoif"sv, Picture("QOI")},
    {0, "\0\0\1\0"sv, Picture("ICO")},
    {0, "8BPS"sv, Picture("Photoshop")},
    {0, "\x76\x2f\x31\x01"sv, Picture("OpenEXR")},
    {0, "#?RADIANCE"sv, Picture("Radiance HDR")},
    {0, "<svg"sv, Picture("SVG")},
    {0, "<?xml"sv, {"XML, perhaps SVG", kDownload}},
    {0, "%PDF"sv, {"PDF", kDownload}},
    {0, "<!DOCTYPE html"sv, {"HTML, a web page", kDownload, kDownload}},
    {0, "<!doctype html"sv, {"HTML, a web page", kDownload, kDownload}},
    {0, "<html"sv, {"HTML, a web page", kDownload, kDownload}},
    {0, "version https://git-lfs"sv, {"a pointer of Git LFS", kPull, kPull}},
    {4, "TFL3"sv, {"a TensorFlow Lite model", "a name that ends in .tflite"}},
    {0, "\x89HDF"sv, {"HDF5, as Keras writes it", "to convert it (tf2onnx does)"}},
    {0, "GGUF"sv, {"a GGUF model", "a copy of the model in ONNX"}},
    {0,
     "\x93NUMPY"sv,
     {"a NumPy array", "the model first, and --input NAME=FILE behind it", "--input NAME=FILE"}},
    {0,
     "PK\3\4"sv,
     {"a ZIP archive", "torch.onnx.export() in Python if PyTorch wrote it, or to unpack it", "to unpack it"}},
    {0, "\x80\x02"sv, {"a Python pickle", "torch.onnx.export() in Python if PyTorch wrote it"}},
    {0, "\x1f\x8b"sv, {"a gzip archive", "to unpack it", "to unpack it"}},
};

}  // namespace

const FileKind* KindOfFile(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto fits = [&](const Magic& m) {
    return text.size() >= m.at && text.substr(m.at).starts_with(m.bytes);
  };
  const auto found = std::find_if(std::begin(kMagic), std::end(kMagic), fits);
  return found == std::end(kMagic) ? nullptr : &found->kind;
}

}  // namespace mete
