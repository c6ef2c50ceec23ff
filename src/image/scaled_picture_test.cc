// A scaled picture becomes the same input as the whole one.
#include "image/scaled_picture.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/errors_testing.h"

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

TEST(ScaledPicture, BecomesTheSameInput) {
  const Shape input{1, 3, 24, 32};
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
         {Interpolation::kAntialias, Interpolation::kBilinear, Interpolation::kBicubic})
      for (const auto& [width, height] : {std::pair(160, 90), {90, 160}, {97, 61}, {64, 48}, {33, 49}}) {
        p.interpolation = interpolation;
        const Image photo = Noise(width, height);
        const Image scaled = ScaledPicture(photo, p, input);
        const Tensor whole = MakeInput(photo, p, input), sent = MakeInput(Sent(scaled), p, input);
        ASSERT_EQ(whole.bytes(), sent.bytes());
        EXPECT_EQ(std::memcmp(whole.data(), sent.data(), whole.bytes()), 0)
            << width << "x" << height << " as " << scaled.width << "x" << scaled.height;
      }
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
