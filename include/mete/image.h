// Pictures: decoding them, and turning them into the tensor that a model expects. JPEG, PNG, BMP (24 and
// 32 bits, uncompressed) and PGM/PPM (P5, P6, 8 bits). No colour management.
//
//   #include "mete/engine.h"
//   #include "mete/image.h"
//
//   mete::Model model = mete::Model::Load("net.onnx");
//   const mete::Port& input = model.inputs()[0];
//   mete::Preprocess steps = mete::PreprocessFor("net.onnx", input.type, input.shape);  // net.toml, where
//   there is one
//   mete::Tensor tensor = mete::MakeInput(mete::LoadImage("cat.jpg"), steps, input.shape);
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
  // error messages call the picture so: the path, or the name given to DecodeImage()
  std::string name;
  int exif_orientation = 1;  // 1 to 8, what the file said; 1: the pixels were stored upright

  Image() = default;
  Image(int w, int h) : width(w), height(h), rgb(size_t(w) * size_t(h) * kChannels) {}
  const uint8_t* row(int y) const { return rgb.data() + size_t(y) * size_t(width) * kChannels; }
  uint8_t* row(int y) { return rgb.data() + size_t(y) * size_t(width) * kChannels; }
};

// 2^27 pixels: 384 MiB as RGB, and with the 8 bytes a pixel that a progressive CMYK JPEG keeps while it
// is decoded still below 1.5 GiB.
inline constexpr int64_t kMaxImagePixels = int64_t(1) << 27;

struct DecodeOptions {
  // 1, 2, 4 or 8: a JPEG is decoded at that fraction of its size, which is much faster
  int jpeg_denominator = 1;
  // a larger picture is refused (RESOURCE_EXHAUSTED) before memory is asked for
  int64_t max_pixels = kMaxImagePixels;
  // turn and mirror the pixels as the file's EXIF orientation says; false: leave them as they are stored
  bool upright = true;
};

// `name` is for messages. Error DATA_LOSS for corrupt or truncated data, INVALID_ARGUMENT for what is
// not a picture of a known format.
Image DecodeImage(std::span<const std::byte> bytes, const std::string& name,
                  const DecodeOptions& options = {});
Image LoadImage(const std::string& path, const DecodeOptions& options = {});

enum class Interpolation {
  kAntialias,  // triangle filter as wide as the reduction: Pillow's BILINEAR, bit for bit
  // the two nearest pixels a direction whatever the reduction, pixel centres at .5: OpenCV's INTER_LINEAR to
  // within 1
  kBilinear,
  kBicubic,  // cubic filter as wide as the reduction: Pillow's BICUBIC, which is its default
};

Image ResizeImage(const Image& image, int width, int height, Interpolation interpolation);
// an odd margin leaves its extra pixel right and below
Image CropCenter(const Image& image, int width, int height);

enum class ChannelOrder { kRgb, kBgr, kGray };
enum class TensorOrder { kNchw, kNhwc };

// How a picture becomes a model's input. The stages run in the order in which they stand here.
struct Preprocess {
  int resize_shorter = 0;               // shorter side to this, aspect kept; 0: not
  int crop_width = 0, crop_height = 0;  // the centre; 0: not
  // to this size; 0: to the model's input's (MakeInput with its shape), or not
  int resize_width = 0, resize_height = 0;
  // How a picture gets to that size. 0 and false: both sides are stretched on their own.
  // scale the picture to cover size / crop_fraction, and cut out the centre; 0.875 is 224 of 256
  float crop_fraction = 0;
  // scale the picture to fit into the size, in its middle, and fill the rest with `pad`
  bool letterbox = false;
  std::array<float, 3> pad{114, 114, 114};  // RGB, 0..255; 114 is what YOLO's authors train with
  Interpolation interpolation = Interpolation::kAntialias;
  ChannelOrder channels = ChannelOrder::kRgb;
  // (pixel - mean) * scale / divisor with pixels 0..255, a value a channel
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> scale{1, 1, 1};  // in the order of `channels`
  // not kept as 1 / divisor: a quantized model's first rounding sees the last bit
  std::array<float, 3> divisor{1, 1, 1};
  bool transpose = false;  // swaps height and width
  TensorOrder layout = TensorOrder::kNchw;
  DType type = DType::kF32;  // kF32, or kU8 (rounded, and clamped to 0..255)

  // mean, scale, std or a recipe was set; if false, pixels stay 0..255 because nothing says otherwise
  bool values_known = false;

  // Not about pixels, but kept in the same file: how to print a classifier's answer.
  // path of a text file, a class a line; relative to the TOML's folder in the file, resolved here
  std::string labels;
  int top_k = 5;
  bool softmax = false;  // turn scores into probabilities first
  std::string classify;  // the output that has the scores; empty: the only one that can have them
};

// Settings that many models share. A model's own documentation says which ones it was trained with.
struct PreprocessRecipe {
  const char* name;
  const char* settings;     // lines of TOML
  const char* description;  // for whom, and where the numbers come from
};
std::span<const PreprocessRecipe> PreprocessRecipes();

// A field of Preprocess in text: a key of the TOML, and as --key (with '-' for '_') a flag of the command
// line.
struct PreprocessKey {
  const char* key;
  const char* values;  // "N|WxH|none"
  const char* help;
};
std::span<const PreprocessKey> PreprocessKeys();

// Sets one field from text, as in a TOML file or on a command line. The key `preprocess` sets all fields
// about pixels to those of the recipe that its value names. Error INVALID_ARGUMENT naming `where` and the
// keys or values that are known.
void SetPreprocess(Preprocess& preprocess, std::string_view key, std::string_view value,
                   const std::string& where);

// The same keys as TOML: numbers, strings, booleans and arrays (crop = [320, 240], mean = [104, 117, 123]).
// Fields that are not named keep what `defaults` says; a recipe (preprocess = "unit") comes before all other
// keys.
Preprocess ParsePreprocess(std::string_view toml, const std::string& name, const Preprocess& defaults = {});
Preprocess LoadPreprocess(const std::string& path, const Preprocess& defaults = {});
std::string PreprocessPath(const std::string& model_path);  // model.onnx -> model.toml

// The settings for an input of this type and shape (of a Port: mete/engine.h), as far as they can be known:
// layout, channels and type follow from the input, and the TOML beside the model says the rest. Where there
// is none, pixels stay 0..255: most models want something else.
Preprocess PreprocessFor(const std::string& model_path, DType type, const Shape& input);

// A batch of one: 1xCxHxW or 1xHxWxC, of the size that the stages end at.
Tensor MakeInput(const Image& image, const Preprocess& preprocess);

// The same for an input of this shape: as many pictures as its first dimension says, brought to its size
// where `resize_width` does not say another. Error INVALID_ARGUMENT where the pictures' number, size or
// channels cannot be the input's.
Tensor MakeInput(std::span<const Image> images, const Preprocess& preprocess, const Shape& input);
Tensor MakeInput(const Image& image, const Preprocess& preprocess, const Shape& input);

// The pixels of an input of this shape, as pictures see them. Not known where the input cannot take pictures.
struct PictureShape {
  bool known = false;
  int64_t count = 0, height = 0, width = 0, channels = 0;
  TensorOrder layout = TensorOrder::kNchw;  // NHWC only where the last dimension alone can be the channels
};
PictureShape PictureShapeOf(const Shape& input);

}  // namespace mete
