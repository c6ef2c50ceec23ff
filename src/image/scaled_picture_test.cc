// A scaled picture becomes the same input as the whole one.
#include "image/scaled_picture.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/errors_testing.h"
#include "image/decode.h"
#include "image/image_testing.h"
#include "image/resize.h"

namespace mete {
namespace {

Image Noise(int width, int height) {
  std::mt19937 random(7);
  Image image(width, height);
  for (uint8_t& value : image.rgb) value = uint8_t(random());
  return image;
}

// Sends the picture as the server gets it.
Image Sent(const Image& scaled) {
  const std::string ppm = PpmOf(scaled);
  return DecodeImage(std::as_bytes(std::span(ppm)), "sent");
}

const Shape kInput{1, 3, 24, 32};
constexpr std::pair<int, int> kSizes[] = {{160, 90}, {90, 160}, {97, 61}, {64, 48},
                                          {33, 49},  {20, 60},  {60, 20}};

// Calls `check` with settings of each kind.
template <class F>
void ForAllSettings(F check) {
  std::vector<Preprocess> all(5);
  all[1].crop_fraction = 0.875f;
  all[2].letterbox = true;
  all[3].resize_shorter = 40;
  all[3].crop_width = 32;
  all[3].crop_height = 24;
  all[4].crop_width = 32;
  all[4].crop_height = 40;
  for (Preprocess p : all)
    for (const auto interpolation :
         {Interpolation::kAntialias, Interpolation::kBilinear, Interpolation::kBicubic}) {
      p.interpolation = interpolation;
      check(p);
    }
}

bool CutsOutMore(const Preprocess& p, int width, int height) {
  return !p.resize_shorter && (p.crop_width > width || p.crop_height > height);
}

TEST(ScaledPicture, BecomesTheSameInput) {
  ForAllSettings([](const Preprocess& p) {
    for (const auto& [width, height] : kSizes) {
      if (CutsOutMore(p, width, height)) continue;
      const Image photo = Noise(width, height);
      const Image scaled = ScaledPicture(photo, p, kInput);
      const Tensor whole = MakeInput(photo, p, kInput), sent = MakeInput(Sent(scaled), p, kInput);
      ASSERT_EQ(whole.bytes(), sent.bytes());
      EXPECT_EQ(std::memcmp(whole.data(), sent.data(), whole.bytes()), 0)
          << width << "x" << height << " as " << scaled.width << "x" << scaled.height;
    }
  });
}

void ExpectAsWhole(const std::string& file, const Preprocess& p, const DecodeOptions& options = {}) {
  const Image whole = DecodeImage(AsBytes(file), "photo", options);
  const Image expected = ScaledPicture(whole, p, kInput);
  const DecodedPicture scaled = DecodeScaled(AsBytes(file), "photo", p, kInput, options);
  EXPECT_EQ(scaled.image.width, expected.width);
  EXPECT_EQ(scaled.image.height, expected.height);
  EXPECT_EQ(scaled.image.rgb, expected.rgb);
  EXPECT_EQ(scaled.image.name, "photo");
  EXPECT_EQ(scaled.image.exif_orientation, whole.exif_orientation);
  EXPECT_EQ(scaled.pixels, int64_t(whole.width) * whole.height);
}

TEST(DecodeScaled, HasTheBitsOfTheWholePicture) {
  ForAllSettings([](const Preprocess& p) {
    for (const auto& [width, height] : kSizes) {
      if (CutsOutMore(p, width, height)) continue;
      SCOPED_TRACE(testing::Message() << width << "x" << height);
      const Image photo = Noise(width, height);
      ExpectAsWhole(EncodeJpeg(photo), p);
      ExpectAsWhole(EncodeJpeg(photo, {.progressive = true}), p);
      ExpectAsWhole(EncodeJpeg(photo, {.cmyk = true}), p);
      ExpectAsWhole(EncodePng(photo), p);
      if (width > 2 * kInput[3] && !CutsOutMore(p, width / 2, height / 2))
        ExpectAsWhole(EncodeJpeg(photo), p, {.jpeg_denominator = 2});
    }
  });
}

TEST(DecodeScaled, TurnsPicturesFirst) {
  const std::string jpeg = EncodeJpeg(Noise(160, 90));
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const bool upright : {true, false})
      ExpectAsWhole(WithExif(jpeg, Exif(orientation, std::endian::little)), {}, {.upright = upright});
}

TEST(RowResizer, HasTheSameBitsByVectors) {
  for (const auto interpolation :
       {Interpolation::kAntialias, Interpolation::kBilinear, Interpolation::kBicubic})
    for (const auto& [from, to] :
         {std::pair(1, 1), {1, 5}, {2, 1}, {7, 3}, {33, 32}, {640, 227}, {3840, 224}, {5, 90}}) {
      Image row = Noise(from, 1);
      for (const char* pixels : {"noise", "black and white, which has the largest sums"}) {
        std::vector<uint8_t> portable(size_t(to) * 3), fast(portable.size());
        RowResizer(from, to, interpolation, true).Resize(row.row(0), portable.data());
        RowResizer(from, to, interpolation).Resize(row.row(0), fast.data());
        EXPECT_EQ(portable, fast) << from << " to " << to << ", " << pixels;
        for (uint8_t& value : row.rgb) value = value < 128 ? uint8_t(0) : uint8_t(255);
      }
    }
}

TEST(DecodeNarrowed, GivesRowsThatAreStoredUprightTheirWidth) {
  const std::string jpeg = EncodeJpeg(Noise(160, 90));
  const Narrowing narrowing{[](int width, int height) { return width == 160 && height == 90 ? 32 : 0; }};
  const Image narrow = DecodeNarrowed(AsBytes(jpeg), "photo", {}, narrowing);
  EXPECT_EQ(narrow.width, 32);
  EXPECT_EQ(narrow.rgb, ResizeImage(DecodeImage(AsBytes(jpeg), "photo"), 32, 90, {}).rgb);
  const std::string turned = WithExif(jpeg, Exif(6, std::endian::little));
  EXPECT_EQ(DecodeNarrowed(AsBytes(turned), "photo", {}, narrowing).width, 90);
}

TEST(DecodeScaled, HasTheErrorsOfTheWholePicture) {
  const std::string jpeg = EncodeJpeg(Noise(160, 90));
  EXPECT_TELLS(DecodeScaled(AsBytes(jpeg.substr(0, jpeg.size() / 2)), "photo", {}, kInput),
               "[photo] corrupt");
  EXPECT_TELLS(DecodeScaled({}, "photo", {}, kInput), "is empty");
  EXPECT_TELLS(DecodeScaled(AsBytes(jpeg), "photo", {}, kInput, {.max_pixels = 160 * 90 - 1}), "too large");
  EXPECT_TELLS(DecodeScaled(AsBytes(jpeg), "photo", {}, {1, 2, 3}), "takes no pictures");
  Preprocess p;
  p.resize_width = p.resize_height = 1 << 20;
  EXPECT_TELLS(DecodeScaled(AsBytes(jpeg), "photo", p, kInput), "cannot make a picture of");
}

TEST(ScaledPicture, IsOfTheInputsSizeWhereNothingIsCutOut) {
  const Image scaled = ScaledPicture(Noise(160, 90), {}, {1, 3, 24, 32});
  EXPECT_EQ(scaled.width, 32);
  EXPECT_EQ(scaled.height, 24);
  EXPECT_EQ(PpmOf(scaled).size(), 13u + 32 * 24 * 3);
  EXPECT_TELLS(ScaledPicture(scaled, {}, {1, 2, 3}), "takes no pictures");
}

}  // namespace
}  // namespace mete
