#include "image/exif.h"

#include <cstring>

namespace mete {
namespace {

// Reads numbers of a TIFF in its own byte order. A number beyond the end is 0.
class Tiff {
 public:
  explicit Tiff(Bytes bytes) : bytes_(bytes) {
    little_ = Starts("II*\0");
    good_ = little_ || Starts("MM\0*");
  }

  bool good() const { return good_; }
  uint32_t Number(size_t at, size_t n) const {
    if (n > bytes_.size() || at > bytes_.size() - n) return 0;
    uint32_t v = 0;
    for (size_t i = 0; i < n; ++i) v = v << 8 | uint32_t(bytes_[little_ ? at + n - 1 - i : at + i]);
    return v;
  }

 private:
  bool Starts(const char (&magic)[5]) const {
    return bytes_.size() >= 8 && std::memcmp(bytes_.data(), magic, 4) == 0;
  }

  const Bytes bytes_;
  bool little_ = false, good_ = false;
};

// EXIF 2.32, sections 4.5 and 4.6: the header holds the offset of a directory. The directory is a count
// followed by entries, each with tag, type, count and value.
constexpr size_t kDirectoryOffset = 4, kEntryBytes = 12, kType = 2, kCount = 4, kValue = 8;
constexpr uint32_t kOrientationTag = 0x0112, kShort = 3;

}  // namespace

int ExifOrientation(Bytes bytes) {
  const Tiff tiff(bytes);
  if (!tiff.good()) return 1;
  const size_t directory = tiff.Number(kDirectoryOffset, 4), entries = tiff.Number(directory, 2);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (tiff.Number(entry, 2) != kOrientationTag) continue;
    const uint32_t value = tiff.Number(entry + kValue, 2);
    const bool good = tiff.Number(entry + kType, 2) == kShort && tiff.Number(entry + kCount, 4) == 1 &&
                      value >= 1 && value <= 8;
    return good ? int(value) : 1;
  }
  return 1;
}

Image Upright(Image image) {
  const int o = image.exif_orientation;
  if (o <= 1 || o > 8) return image;
  // These flags say where a pixel of the shown picture is stored: in four cases x and y are exchanged, and
  // each of them may count from the other end.
  const bool swap = o >= 5, flip_x = o == 2 || o == 3 || o == 7 || o == 8,
             flip_y = o == 3 || o == 4 || o == 6 || o == 7;
  Image out(swap ? image.height : image.width, swap ? image.width : image.height);
  out.exif_orientation = o;
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      const int column = swap ? y : x, row = swap ? x : y;
      const uint8_t* from = image.row(flip_y ? image.height - 1 - row : row) +
                            (flip_x ? image.width - 1 - column : column) * Image::kChannels;
      std::memcpy(out.row(y) + x * Image::kChannels, from, Image::kChannels);
    }
  return out;
}

}  // namespace mete
