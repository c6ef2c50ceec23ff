#include "image/decode.h"
#include "image/image_testing.h"

#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/errors_testing.h"
#include "mete/error.h"

namespace mete {
namespace {

// Returns the error that decoding throws. The test fails if there is none.
Error ErrorOf(const std::string& bytes, const DecodeOptions& options = {}) {
  try {
    DecodeImage(AsBytes(bytes), "pic", options);
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "decoded without an error";
  return Error(Code::kOk, "");
}

void ExpectError(const Error& e, Code code, const std::string& text) {
  EXPECT_EQ(e.code(), code) << e.what();
  EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  EXPECT_EQ(std::string(e.what()).rfind("[pic] ", 0), 0u) << e.what();
}

int LargestDifference(const Image& a, const Image& b) {
  if (a.width != b.width || a.height != b.height) return 256;
  int most = 0;
  for (size_t i = 0; i < a.rgb.size(); ++i) most = std::max(most, std::abs(int(a.rgb[i]) - int(b.rgb[i])));
  return most;
}

TEST(DecodeJpeg, GivesThePixelsBack) {
  const Image image = Gradient(67, 45);
  EXPECT_LE(LargestDifference(DecodeImage(AsBytes(EncodeJpeg(image)), "pic"), image), 8);
  EXPECT_LE(LargestDifference(DecodeImage(AsBytes(EncodeJpeg(image, {.progressive = true})), "pic"), image),
            8);
}

TEST(DecodeJpeg, ScalesWhileDecoding) {
  const std::string bytes = EncodeJpeg(Gradient(67, 45));
  for (int d : {2, 4, 8}) {
    const Image small = DecodeImage(AsBytes(bytes), "pic", {.jpeg_denominator = d});
    EXPECT_EQ(small.width, (67 + d - 1) / d);
    EXPECT_EQ(small.height, (45 + d - 1) / d);
  }
  ExpectError(ErrorOf(bytes, {.jpeg_denominator = 3}), Code::kInvalidArgument, "1/3");
}

TEST(DecodeJpeg, TruncatedAnywhereIsAnError) {
  for (bool progressive : {false, true}) {
    const std::string bytes = EncodeJpeg(Gradient(64, 64), {.progressive = progressive});
    for (size_t n = 3; n + 2 < bytes.size(); n += 7)
      ExpectError(ErrorOf(bytes.substr(0, n)), Code::kDataLoss, "JPEG");
  }
}

TEST(DecodeJpeg, AHugeHeaderIsRefusedBeforeAllocating) {
  std::string bytes = EncodeJpeg(Gradient(64, 64));
  const size_t sof = bytes.find("\xff\xc0");
  for (unsigned side : {65535u, 65500u}) {
    for (size_t at : {sof + 5, sof + 7}) {
      bytes[at] = char(side >> 8);
      bytes[at + 1] = char(side);
    }
    ExpectError(ErrorOf(bytes), Code::kResourceExhausted, "too large");
  }
  for (size_t at : {sof + 5, sof + 7}) {
    bytes[at] = char(10000 >> 8);
    bytes[at + 1] = char(10000 & 255);
  }
  ExpectError(ErrorOf(bytes), Code::kDataLoss, "too short");
}

TEST(DecodePng, EveryColourTypeBecomesRgb) {
  using Pixels = std::vector<uint8_t>;
  struct Case {
    int color, depth;
    Pixels row, expected;
  };
  const std::vector<png_color> palette = {{1, 2, 3}, {200, 100, 50}};
  for (const Case& c :
       {Case{PNG_COLOR_TYPE_GRAY, 1, {0x40}, {0, 0, 0, 255, 255, 255}},
        Case{PNG_COLOR_TYPE_GRAY, 4, {0x3c}, {51, 51, 51, 204, 204, 204}},
        Case{PNG_COLOR_TYPE_GRAY, 8, {7, 9}, {7, 7, 7, 9, 9, 9}},
        Case{PNG_COLOR_TYPE_GRAY, 16, {7, 1, 9, 2}, {7, 7, 7, 9, 9, 9}},
        Case{PNG_COLOR_TYPE_GRAY_ALPHA, 8, {7, 0, 9, 1}, {7, 7, 7, 9, 9, 9}},
        Case{PNG_COLOR_TYPE_RGB, 16, {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}, {1, 2, 3, 4, 5, 6}},
        Case{PNG_COLOR_TYPE_RGBA, 8, {1, 2, 3, 0, 4, 5, 6, 255}, {1, 2, 3, 4, 5, 6}},
        Case{PNG_COLOR_TYPE_PALETTE, 1, {0x40}, {1, 2, 3, 200, 100, 50}},
        Case{PNG_COLOR_TYPE_PALETTE, 8, {1, 0}, {200, 100, 50, 1, 2, 3}}}) {
    const auto bytes =
        EncodePng(2, 1, c.color, c.depth, {c.row},
                  {.palette = c.color == PNG_COLOR_TYPE_PALETTE ? palette : std::vector<png_color>{}});
    EXPECT_EQ(DecodeImage(AsBytes(bytes), "pic").rgb, c.expected)
        << "colour type " << c.color << ", depth " << c.depth;
  }
}

TEST(DecodePng, InterlacedEqualsPlain) {
  const Image image = Gradient(19, 13);
  EXPECT_EQ(DecodeImage(AsBytes(EncodePng(image)), "pic").rgb, image.rgb);
  EXPECT_EQ(DecodeImage(AsBytes(EncodePng(image, {.interlaced = true})), "pic").rgb, image.rgb);
}

TEST(DecodePng, TruncatedAnywhereIsAnError) {
  const std::string bytes = EncodePng(Gradient(19, 13));
  for (size_t n = 8; n < bytes.size(); n += 5)
    ExpectError(ErrorOf(bytes.substr(0, n)), Code::kDataLoss, "PNG");
}

// Changes the size in a PNG header. The header's checksum is updated too, because libpng stops at a wrong
// one.
std::string WithSize(std::string png, uint32_t width, uint32_t height) {
  for (int i = 0; i < 4; ++i) {
    png[size_t(16 + i)] = char(width >> (24 - 8 * i));
    png[size_t(20 + i)] = char(height >> (24 - 8 * i));
  }
  uint32_t crc = ~0u;
  for (size_t i = 12; i < 29; ++i) {
    crc ^= uint8_t(png[i]);
    for (int b = 0; b < 8; ++b) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1)));
  }
  for (int i = 0; i < 4; ++i) png[size_t(29 + i)] = char(~crc >> (24 - 8 * i));
  return png;
}

TEST(DecodePng, AHugeHeaderIsRefusedBeforeAllocating) {
  const std::string bytes = EncodePng(Gradient(19, 13));
  ExpectError(ErrorOf(WithSize(bytes, 100000, 100000)), Code::kResourceExhausted, "100000 x 100000");
  ExpectError(ErrorOf(WithSize(bytes, 0x7fffffff, 0x7fffffff)), Code::kResourceExhausted, "too large");
  ExpectError(ErrorOf(WithSize(bytes, 10000, 10000)), Code::kDataLoss, "too short");
}

TEST(DecodeBmp, RowsFromBelowAndFromAbove) {
  const std::string two_rows = std::string("\1\2\3\4\5\6\0\0", 8) + std::string("\7\10\11\12\13\14\0\0", 8);
  EXPECT_EQ(DecodeImage(AsBytes(BmpHeader(2, 2, 24) + two_rows), "pic").rgb,
            (std::vector<uint8_t>{9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(DecodeImage(AsBytes(BmpHeader(2, -2, 24) + two_rows), "pic").rgb,
            (std::vector<uint8_t>{3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10}));
  EXPECT_EQ(DecodeImage(AsBytes(BmpHeader(1, 1, 32) + "\1\2\3\4"), "pic").rgb,
            (std::vector<uint8_t>{3, 2, 1}));
}

TEST(DecodeBmp, WrongFilesAreErrors) {
  ExpectError(ErrorOf(BmpHeader(100000, 100000, 24)), Code::kResourceExhausted, "too large");
  ExpectError(ErrorOf(BmpHeader(INT32_MIN, INT32_MIN, 24)), Code::kDataLoss, "no pixels");
  ExpectError(ErrorOf(BmpHeader(2, INT32_MIN, 24)), Code::kResourceExhausted, "too large");
  ExpectError(ErrorOf(BmpHeader(2, 2, 24) + "12345678"), Code::kDataLoss, "last row");
  ExpectError(ErrorOf(BmpHeader(2, 2, 8)), Code::kUnimplemented, "8 bits");
  ExpectError(ErrorOf("BM"), Code::kDataLoss, "header");
}

TEST(DecodePnm, GrayAndColour) {
  EXPECT_EQ(DecodeImage(AsBytes("P6 # a comment\n1 2\n255\n\1\2\3\4\5\6"), "pic").rgb,
            (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(DecodeImage(AsBytes("P5 2 1 15\n\17\5"), "pic").rgb,
            (std::vector<uint8_t>{255, 255, 255, 85, 85, 85}));
  ExpectError(ErrorOf("P6 100000 100000 255\n"), Code::kResourceExhausted, "too large");
  ExpectError(ErrorOf("P6 99999999999 1 255\n"), Code::kDataLoss, "three numbers");
  ExpectError(ErrorOf("P6 2 2 255\n123"), Code::kDataLoss, "last row");
}

TEST(DecodeImage, OtherFilesAreNamedForWhatTheyAre) {
  ExpectError(ErrorOf(""), Code::kDataLoss, "0 bytes");
  ExpectError(ErrorOf("<!DOCTYPE html>"), Code::kInvalidArgument,
              "got HTML, a web page, expected JPEG, PNG, BMP, PGM or PPM; try to download the file itself");
  ExpectError(ErrorOf(std::string("RIFF\x24\0\0\0WEBPVP8 ", 16)), Code::kInvalidArgument, "got WebP");
  ExpectError(ErrorOf(std::string("\0\0\0\x18"
                                  "ftypheic",
                                  12)),
              Code::kInvalidArgument, "got HEIC");
  ExpectError(ErrorOf(std::string("\0\0\0\x1c"
                                  "ftypavif",
                                  12)),
              Code::kInvalidArgument, "got AVIF");
  ExpectError(ErrorOf("GIF89a"), Code::kInvalidArgument, "got GIF");
  ExpectError(ErrorOf("\x93NUMPY"), Code::kInvalidArgument,
              "got a NumPy array, expected JPEG, PNG, BMP, PGM or PPM; try --input NAME=FILE");
  ExpectError(ErrorOf("\xde\xad\xbe\xef"), Code::kInvalidArgument, "starts with de ad be ef");
  EXPECT_THROW(LoadImage("no/such/file.jpg"), Error);
}

// The cases come from EXIF 2.32, section 4.6.4.A, which says on which sides of the shown picture the first
// row and the first column of the stored picture are.
TEST(Exif, PicturesComeOutUpright) {
  const Image stored = Gradient(64, 32);  // red grows to the right, green downwards
  const std::string jpeg = EncodeJpeg(stored);
  struct Case {
    int orientation;
    const char* row;     // the side on which the first stored row is shown
    const char* column;  // the side on which the first stored column is shown
  };
  // Returns whether the channel's smallest values are on that side.
  const auto dark = [](const Image& image, const std::string& side, int channel) {
    const bool vertical = side == "left" || side == "right";
    const int last = (vertical ? image.width : image.height) - 1,
              at = side == "left" || side == "top" ? 0 : last;
    const uint8_t* here =
        vertical ? image.row(image.height / 2) + at * 3 : image.row(at) + image.width / 2 * 3;
    const uint8_t* there =
        vertical ? image.row(image.height / 2) + (last - at) * 3 : image.row(last - at) + image.width / 2 * 3;
    return here[channel] + 150 < there[channel];
  };
  for (const Case& c : {Case{1, "top", "left"}, Case{2, "top", "right"}, Case{3, "bottom", "right"},
                        Case{4, "bottom", "left"}, Case{5, "left", "top"}, Case{6, "right", "top"},
                        Case{7, "right", "bottom"}, Case{8, "left", "bottom"}}) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
      const std::string bytes = WithExif(jpeg, Exif(c.orientation, order));
      const Image shown = DecodeImage(AsBytes(bytes), "pic");
      EXPECT_EQ(shown.exif_orientation, c.orientation);
      EXPECT_EQ(shown.width, c.orientation >= 5 ? 32 : 64);
      EXPECT_TRUE(dark(shown, c.row, 1)) << c.orientation;
      EXPECT_TRUE(dark(shown, c.column, 0)) << c.orientation;
      const Image as_stored = DecodeImage(AsBytes(bytes), "pic", {.upright = false});
      EXPECT_EQ(as_stored.width, 64);
      EXPECT_EQ(as_stored.exif_orientation, c.orientation);
    }
  }
}

TEST(Exif, DamagedDataLeavesThePictureAsItIs) {
  const std::string jpeg = EncodeJpeg(Gradient(64, 32)), good = Exif(6, std::endian::little);
  for (size_t n = 0; n < good.size() - 4; ++n)
    EXPECT_EQ(DecodeImage(AsBytes(WithExif(jpeg, good.substr(0, n))), "pic").exif_orientation, 1) << n;
  std::string far = good;
  far[7] = '\x7f';  // the offset of the directory is about 2 GB
  EXPECT_EQ(DecodeImage(AsBytes(WithExif(jpeg, far)), "pic").width, 64);
  EXPECT_EQ(DecodeImage(AsBytes(WithExif(jpeg, Exif(9, std::endian::little))), "pic").width, 64);
}

TEST(Exif, PngHasItToo) {
  const std::string tiff = Exif(8, std::endian::big);
  const Image image = DecodeImage(AsBytes(EncodePng(Gradient(19, 13), {.exif = tiff})), "pic");
  EXPECT_EQ(image.exif_orientation, 8);
  EXPECT_EQ(image.width, 13);
}

TEST(PixelsOf, AreThoseOfTheHeader) {
  for (const std::string& file :
       {EncodeJpeg(Gradient(40, 24)), EncodeJpeg(Gradient(40, 24), {.progressive = true}),
        EncodePng(Gradient(40, 24))}) {
    EXPECT_EQ(PixelsOf(AsBytes(file)), 40 * 24);
    EXPECT_EQ(PixelsOf(AsBytes(file.substr(0, file.size() - 20))), 40 * 24);  // the header is whole
    for (size_t size = 0; size < 12; ++size) EXPECT_FALSE(PixelsOf(AsBytes(file.substr(0, size)))) << size;
  }
  EXPECT_FALSE(PixelsOf(AsBytes("P6 2 2 255\n............")));
  EXPECT_FALSE(PixelsOf(AsBytes("\xff\xd8" + std::string(1000, '\xff'))));
}

TEST(DecodeImage, FlippedBitsNeverCrash) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const Image image = Gradient(40, 30);
  for (const std::string& good : {EncodeJpeg(image), EncodeJpeg(image, {.progressive = true}),
                                  EncodePng(image), EncodePng(image, {.interlaced = true})})
    for (int i = 0; i < 300; ++i) {
      std::string bad = good;
      for (int flips = 0; flips < 3; ++flips) bad[random() % bad.size()] ^= char(1 << (random() % 8));
      try {
        DecodeImage(AsBytes(bad), "pic");
      } catch (const Error&) {}
    }
}

TEST(LoadImage, ReadsTheSamples) {
  const char* shared = std::getenv("METE_SHARED");
  const std::filesystem::path folder =
      std::filesystem::path(shared ? shared : "../shared") / "images/samples";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << folder << " is missing: the sample pictures are not in the repository";
  const Image cat = LoadImage(folder / "cat.bmp"), face = LoadImage(folder / "face.jpg"),
              hopper = LoadImage(folder / "grace_hopper.bmp");
  EXPECT_EQ(cat.width * 1000 + cat.height, 512341);
  EXPECT_EQ(face.width * 1000 + face.height, 512355);
  EXPECT_EQ(hopper.width * 1000 + hopper.height, 512600);
}

TEST(PngOf, RefusesWhatIsNoPicture) {
  const auto told = [](const Image& image) { return mete::ErrorOf([&] { PngOf(image); }); };
  EXPECT_NE(told(Image()).find("no picture to encode; got 0x0 pixels in 0 bytes"), std::string::npos);
  Image wrong(3, 2);
  wrong.width = 4;
  EXPECT_NE(told(wrong).find("got 4x2 pixels in 18 bytes, expected sides of 1 to 65536 and 3 bytes a pixel"),
            std::string::npos);
}

}  // namespace
}  // namespace mete
