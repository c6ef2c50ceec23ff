// Pictures: decoding, and conversion to the tensor that a model expects. The formats are JPEG, PNG, BMP (24
// and 32 bits, uncompressed) and PGM/PPM (P5, P6, 8 bits). There is no colour management.
//
//   #include "mete/engine.h"
//   #include "mete/image.h"
//
//   mete::Model model = mete::Model::Load("net.onnx");
//   const mete::Port& input = model.inputs()[0];
//   // reads net.toml if it exists
//   mete::Preprocess steps = mete::PreprocessFor("net.onnx", input.type, input.shape);
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
  // the name of the picture in error messages: its path, or the name given to DecodeImage()
  std::string name;
  int exif_orientation = 1;  // 1 to 8, from the file; 1: the pixels were stored upright

  Image() = default;
  Image(int w, int h) : width(w), height(h), rgb(size_t(w) * size_t(h) * kChannels) {}
  const uint8_t* row(int y) const { return rgb.data() + size_t(y) * size_t(width) * kChannels; }
  uint8_t* row(int y) { return rgb.data() + size_t(y) * size_t(width) * kChannels; }
};

// 2^27 pixels take 384 MiB as RGB. A progressive CMYK JPEG needs 8 more bytes per pixel while it is decoded,
// which is still below 1.5 GiB together.
inline constexpr int64_t kMaxImagePixels = int64_t(1) << 27;

struct DecodeOptions {
  // 1, 2, 4 or 8: a JPEG is decoded at 1/1, 1/2, 1/4 or 1/8 of its size, which is much faster
  int jpeg_denominator = 1;
  // a larger picture is refused (RESOURCE_EXHAUSTED) before memory is allocated
  int64_t max_pixels = kMaxImagePixels;
  // rotate and mirror the pixels by the file's EXIF orientation; false: keep the stored order
  bool upright = true;
};

// Decodes a picture; `name` is its name in messages. Error DATA_LOSS for corrupt or truncated data,
// INVALID_ARGUMENT for data that is not a picture of a known format.
Image DecodeImage(std::span<const std::byte> bytes, const std::string& name,
                  const DecodeOptions& options = {});
Image LoadImage(const std::string& path, const DecodeOptions& options = {});

enum class Interpolation {
  kAntialias,  // triangle filter as wide as the reduction: Pillow's BILINEAR, bit for bit
  // the two nearest pixels per direction for every reduction, pixel centres at .5: OpenCV's INTER_LINEAR with
  // differences of at most 1
  kBilinear,
  kBicubic,  // cubic filter as wide as the reduction: Pillow's BICUBIC, which is its default
};

// Returns the picture as a PNG file, 8 bits RGB. Error INVALID_ARGUMENT for a picture without pixels, with a
// side of more than 65,536, or with other than 3 bytes a pixel.
std::string PngOf(const Image& image);

Image ResizeImage(const Image& image, int width, int height, Interpolation interpolation);
// Cuts out the centre. If a margin is odd, its extra pixel is at the right or at the bottom.
Image CropCenter(const Image& image, int width, int height);

enum class ChannelOrder { kRgb, kBgr, kGray };
enum class TensorOrder { kNchw, kNhwc };

// What the outputs of a network say about a picture, and which of it counts (mete/answer.h).
struct HeadSettings {
  std::string name;          // of AnswerHeads(); empty: not known
  float least_score = 0.5f;  // boxes and points below it are left out
  float overlap = 0.45f;     // of two boxes of a class that share more of their area the worse is left out
  int most = 100;            // boxes
  std::vector<float> anchors = {};          // width and height in pixels of the input, level by level
  TensorOrder layout = TensorOrder::kNchw;  // of outputs that are planes, such as scores of each pixel
  std::vector<int> classes = {};            // in rising order: others are left out; empty: none is
  int named =
      0;  // classes that have names, which rows and grids of YOLO and NanoDet must have; 0: any number
};

// The conversion of a picture to a model's input. The stages run in the order of these members.
struct Preprocess {
  int resize_shorter = 0;               // new length of the shorter side, aspect ratio kept; 0: no resizing
  int crop_width = 0, crop_height = 0;  // size of the centre that is cut out; 0: no cropping
  // the final size; 0: the size of the model's input (MakeInput with its shape), otherwise no resizing
  int resize_width = 0, resize_height = 0;
  // The next two members tell how a picture gets the final size. With 0 and false, width and height are
  // scaled independently. `crop_fraction` scales the picture to cover size / crop_fraction and cuts out the
  // centre; 0.875 is 224 out of 256.
  float crop_fraction = 0;
  // Scales the picture to fit into the size, centres it, and fills the rest with `pad`.
  bool letterbox = false;
  std::array<float, 3> pad{114, 114, 114};  // RGB, 0..255; YOLO's authors train with 114
  Interpolation interpolation = Interpolation::kAntialias;
  ChannelOrder channels = ChannelOrder::kRgb;
  // (pixel - mean) * scale / divisor with pixels 0..255, one value per channel
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> scale{1, 1, 1};  // in the order of `channels`
  // a division, not a multiplication by 1 / divisor: the last bit can change a quantized model's first
  // rounding
  std::array<float, 3> divisor{1, 1, 1};
  bool transpose = false;  // swaps height and width
  TensorOrder layout = TensorOrder::kNchw;
  DType type = DType::kF32;  // kF32, or kU8 or kI8 (rounded, and clamped)

  // whether mean, scale, std or a recipe was set; if false, pixels stay 0..255 because no setting is known
  bool values_known = false;
  // kU8 and kI8: the integer of a value is value / step + zero. They are the scale and the zero point that
  // the model's file gives to its input (Port::scale). Where mean, scale and divisor change nothing, pixels
  // are the integers 0..255, or -128..127, instead.
  float step = 1;
  int zero = 0;

  // The following members are in the same file but not about pixels: how to print a classifier's result.
  // `labels` is the path of a text file with one class per line; the TOML file has it relative to its own
  // folder, and this member is the resolved path.
  std::string labels;
  int top_k = 5;
  bool softmax = false;  // convert scores to probabilities first
  std::string classify;  // name of the output with the scores; empty: the only output that can have them
  HeadSettings head;
  std::string tokenizer;  // path of the file that says how tokens are text, as that of `labels`
};

// A set of values that many models share. The documentation of a model tells which values it was trained
// with.
struct PreprocessRecipe {
  const char* name;
  const char* settings;     // lines of TOML
  const char* description;  // the models that use the recipe, and the source of its numbers
};
std::span<const PreprocessRecipe> PreprocessRecipes();

// A field of Preprocess as text: a key of the TOML file, and as --key (with '-' for '_') a flag of the
// command line.
struct PreprocessKey {
  const char* key;
  const char* values;  // "N|WxH|none"
  const char* help;
};
std::span<const PreprocessKey> PreprocessKeys();

// Sets one field from text, as in a TOML file or on a command line. The key `preprocess` sets all fields
// about pixels to those of the recipe that its value names. Error INVALID_ARGUMENT with `where` and the known
// keys or values.
void SetPreprocess(Preprocess& preprocess, std::string_view key, std::string_view value,
                   const std::string& where);

// Reads the same keys from TOML: numbers, strings, booleans and arrays (crop = [320, 240], mean = [104, 117,
// 123]). Fields without a key keep their values in `defaults`. A recipe (preprocess = "unit") is applied
// before all other keys.
Preprocess ParsePreprocess(std::string_view toml, const std::string& name, const Preprocess& defaults = {});
Preprocess LoadPreprocess(const std::string& path, const Preprocess& defaults = {});
std::string PreprocessPath(const std::string& model_path);  // model.onnx -> model.toml

// Returns the settings for an input of this type and shape (those of a Port, mete/engine.h): layout, channels
// and type follow from the input, and the TOML file beside the model has the other settings. Without this
// file pixels stay 0..255, which is wrong for most models.
// `step` and `zero` are those of Port::scale, if the port has it.
Preprocess PreprocessFor(const std::string& model_path, DType type, const Shape& input, float step = 1,
                         int zero = 0);

// Returns a batch of one picture: 1xCxHxW or 1xHxWxC, in the size that the last stage gives.
Tensor MakeInput(const Image& image, const Preprocess& preprocess);

// Returns a tensor for an input of shape `input`, whose first dimension is the number of pictures. The
// pictures are resized to the input's size unless `resize_width` gives another size. Error INVALID_ARGUMENT
// if the number, the size or the channels of the pictures do not fit the input.
Tensor MakeInput(std::span<const Image> images, const Preprocess& preprocess, const Shape& input);
Tensor MakeInput(const Image& image, const Preprocess& preprocess, const Shape& input);

// Where the pixels of a model's input lie in the picture that they were made from.
struct InputPlace {
  int picture_width = 0, picture_height = 0;
  int input_width = 0, input_height = 0;  // as the model has them: swapped by Preprocess::transpose
  // Before a transpose, position x of the input is left + x * scale_x of the picture. Positions are those of
  // edges: 0 is the left edge of the first pixel.
  double left = 0, top = 0, scale_x = 1, scale_y = 1;
  bool transposed = false;

  // Returns the position in the picture (x, y) of a position of the input; it may lie outside.
  std::array<double, 2> InPicture(double x, double y) const {
    return transposed ? std::array{left + y * scale_x, top + x * scale_y}
                      : std::array{left + x * scale_x, top + y * scale_y};
  }
  // The reverse of InPicture().
  std::array<double, 2> InInput(double x, double y) const {
    const double across = (x - left) / scale_x, down = (y - top) / scale_y;
    return transposed ? std::array{down, across} : std::array{across, down};
  }
};
// Returns the place for a picture of which MakeInput() has made, with the same arguments, the input.
InputPlace PlaceOf(const Image& image, const Preprocess& preprocess, const Shape& input);

// The dimensions of an input as pictures. `known` is false if the input cannot take pictures.
struct PictureShape {
  bool known = false;
  int64_t count = 0, height = 0, width = 0, channels = 0;
  TensorOrder layout = TensorOrder::kNchw;  // NHWC only if no dimension but the last can be the channels
};
PictureShape PictureShapeOf(const Shape& input);

}  // namespace mete
