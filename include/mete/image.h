// Pictures: decoding them, and turning one into the tensor that a model expects. JPEG, PNG, BMP (24 and
// 32 bits, uncompressed) and PGM/PPM (P5, P6, 8 bits). No colour management and no EXIF rotation:
// pixels come out as they are stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mete/tensor.h"

namespace [[gnu::visibility("default")]] mete {

struct Image {
  static constexpr int kChannels = 3;
  int width = 0, height = 0;
  std::vector<uint8_t> rgb;  // height x width x 3, rows from the top, no padding

  Image() = default;
  Image(int w, int h) : width(w), height(h), rgb(size_t(w) * size_t(h) * kChannels) {}
  const uint8_t* row(int y) const { return rgb.data() + size_t(y) * size_t(width) * kChannels; }
  uint8_t* row(int y) { return rgb.data() + size_t(y) * size_t(width) * kChannels; }
};

// 2^27 pixels: 384 MiB as RGB, and with the 8 bytes a pixel that a progressive CMYK JPEG keeps while it
// is decoded still below 1.5 GiB.
inline constexpr int64_t kMaxImagePixels = int64_t(1) << 27;

struct DecodeOptions {
  int jpeg_denominator = 1;  // 1, 2, 4 or 8: a JPEG is decoded at that fraction of its size, which is much faster
  int64_t max_pixels = kMaxImagePixels;  // a larger picture is refused (RESOURCE_EXHAUSTED) before memory is asked for
};

// `name` is for messages. Error DATA_LOSS for corrupt or truncated data, INVALID_ARGUMENT for what is
// not a picture of a known format.
Image DecodeImage(std::span<const std::byte> bytes, const std::string& name, const DecodeOptions& options = {});
Image LoadImage(const std::string& path, const DecodeOptions& options = {});

enum class Interpolation {
  kAntialias,  // triangle filter as wide as the reduction: Pillow's BILINEAR, bit for bit
  kBilinear,   // the two nearest pixels a direction whatever the reduction, pixel centres at .5: OpenCV's INTER_LINEAR to within 1
  kBicubic,    // cubic filter as wide as the reduction: Pillow's BICUBIC, which is its default
};

Image ResizeImage(const Image& image, int width, int height, Interpolation interpolation);
Image CropCenter(const Image& image, int width, int height);  // an odd margin leaves its extra pixel right and below

enum class ChannelOrder { kRgb, kBgr, kGray };
enum class TensorOrder { kNchw, kNhwc };

// How a picture becomes a model's input. The stages run in the order in which they stand here.
struct Preprocess {
  int resize_shorter = 0;                   // shorter side to this, aspect kept; 0: not
  int crop_width = 0, crop_height = 0;      // the centre; 0: not
  int resize_width = 0, resize_height = 0;  // exactly; 0: not
  Interpolation interpolation = Interpolation::kAntialias;
  ChannelOrder channels = ChannelOrder::kRgb;
  std::array<float, 3> mean{0, 0, 0};   // (pixel - mean) * scale / divisor with pixels 0..255, a value a channel
  std::array<float, 3> scale{1, 1, 1};  // in the order of `channels`
  std::array<float, 3> divisor{1, 1, 1};  // not kept as 1 / divisor: a quantized model's first rounding sees the last bit
  bool transpose = false;               // swaps height and width
  TensorOrder layout = TensorOrder::kNchw;
  DType type = DType::kF32;             // kF32, or kU8 (rounded, and clamped to 0..255)

  // Not about pixels, but kept in the same file: how to print a classifier's answer.
  std::string labels;  // path of a text file, a class a line; relative to the TOML's folder in the file, resolved here
  int top_k = 5;
};

// Sets one field from text, as in a TOML file or on a command line. Keys and values:
//   resize_shorter 256 | crop 224 or 320x240 (width x height) | resize 224 or 320x240 |
//   interpolation antialias|bilinear|bicubic | channels rgb|bgr|gray | mean 127.5 or 104,117,123 |
//   scale 0.0078125 or one a channel | std 127.5 or one a channel (the divisor; each sets the other to 1) | transpose true|false |
//   layout nchw|nhwc | type f32|u8 | labels FILE | top_k 5
// "none" turns resize_shorter, crop and resize off. Error INVALID_ARGUMENT naming `where` and the known keys.
void SetPreprocess(Preprocess& preprocess, std::string_view key, std::string_view value, const std::string& where);
std::vector<std::string> PreprocessKeys();

// The same keys as TOML: numbers, strings, booleans and arrays (crop = [320, 240], mean = [104, 117, 123]).
// Fields that are not named keep what `defaults` says.
Preprocess ParsePreprocess(std::string_view toml, const std::string& name, const Preprocess& defaults = {});
Preprocess LoadPreprocess(const std::string& path, const Preprocess& defaults = {});
std::string PreprocessPath(const std::string& model_path);  // model.onnx -> model.toml

// A batch of one: 1xCxHxW or 1xHxWxC.
Tensor MakeInput(const Image& image, const Preprocess& preprocess);

}  // namespace mete
