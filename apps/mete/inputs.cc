#include "inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "context.h"
#include "mete/io.h"
#include "model_flags.h"

namespace mete::cli {
namespace {

// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): small, and
// the same everywhere, which the distributions of <random> are not.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double NextUnit() { return double(Next() >> 11) * 0x1p-52 - 1; }  // [-1, 1)

 private:
  uint64_t state_;
};

template <class T, class F>
void Fill(const View& view, F f) {
  std::generate_n(view.as<T>(), view.elements(), f);
}

// A random half: sign, an exponent below that of 1, mantissa. Magnitudes in [2^-4, 1).
uint16_t RandomHalf(Random& random, int mantissa_bits, int bias) {
  const uint64_t bits = random.Next();
  const uint64_t exponent = uint64_t(bias) - 4 + (bits >> 62);
  return uint16_t((bits & 1) << 15 | exponent << mantissa_bits | ((bits >> 8) & ((uint64_t(1) << mantissa_bits) - 1)));
}

Tensor RandomTensor(const Port& port, Random& random) {
  Tensor tensor(port.type, port.shape);
  const View v = tensor.mutable_view();
  switch (port.type) {
    case DType::kF32: Fill<float>(v, [&] { return float(random.NextUnit()); }); break;
    case DType::kF64: Fill<double>(v, [&] { return random.NextUnit(); }); break;
    case DType::kF16: Fill<uint16_t>(v, [&] { return RandomHalf(random, 10, 15); }); break;
    case DType::kBF16: Fill<uint16_t>(v, [&] { return RandomHalf(random, 7, 127); }); break;
    case DType::kI8:
    case DType::kU8: Fill<uint8_t>(v, [&] { return uint8_t(random.Next() >> 56); }); break;
    case DType::kBool: Fill<uint8_t>(v, [&] { return uint8_t(random.Next() >> 63); }); break;
    case DType::kI16:
    case DType::kU16: Fill<uint16_t>(v, [&] { return uint16_t(random.Next() >> 63); }); break;
    case DType::kI32:
    case DType::kU32: Fill<uint32_t>(v, [&] { return uint32_t(random.Next() >> 63); }); break;
    case DType::kI64:
    case DType::kU64: Fill<uint64_t>(v, [&] { return random.Next() >> 63; }); break;
    case DType::kUnknown: break;
  }
  return tensor;
}

size_t PortIndex(const Model& model, const std::string& name) {
  const auto& ports = model.inputs();
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == name; });
  if (found != ports.end()) return size_t(found - ports.begin());
  std::string names;
  for (const Port& p : ports) names += (names.empty() ? "" : ", ") + DescribePort(p);
  throw UsageError(fmt::format("[--input] the model has no input '{}'; expected one of {}", name, names));
}

Tensor ReadTensor(const std::string& path, const Port& port) {
  const std::string ending = std::filesystem::path(path).extension();
  if (ending == ".npy") return ReadNpy(path);
  if (ending == ".pb") return ReadTensorPb(path);
  if (ending == ".bin") return ReadBin(path, port.type, port.shape);
  throw UsageError(fmt::format("[--input] unknown kind of file; got '{}', expected .npy, .pb or .bin", path));
}

// The height, width and channels that a 4-D input wants. NHWC only where the last dimension alone can
// be the channels.
struct PictureShape {
  bool known = false;
  int64_t height = 0, width = 0, channels = 0;
  TensorOrder order = TensorOrder::kNchw;
};

bool IsChannels(int64_t dim) { return dim == 1 || dim == 3; }

PictureShape PictureShapeOf(const Shape& s) {
  if (s.rank() != 4) return {};
  const bool nhwc = IsChannels(s[3]) && !IsChannels(s[1]);
  if (nhwc) return {true, s[1], s[2], s[3], TensorOrder::kNhwc};
  return {true, s[2], s[3], s[1], TensorOrder::kNchw};
}

struct FlagRow {
  const char* flag;
  const char* key;
  const char* type;
  const char* help;
};
constexpr FlagRow kPreprocessFlags[] = {
    {"--resize-shorter", "resize_shorter", "N", "resize so that the shorter side has N pixels"},
    {"--crop", "crop", "WxH", "then cut out the centre"},
    {"--resize", "resize", "WxH", "then resize to exactly this (default: to what the input wants)"},
    {"--interpolation", "interpolation", "antialias|bilinear|bicubic",
     "how to resize: like Pillow's bilinear (default), OpenCV's, or Pillow's bicubic"},
    {"--channels", "channels", "rgb|bgr|gray", "order of the channels (default: rgb, or gray for one channel)"},
    {"--mean", "mean", "a,b,c", "subtracted from the pixels 0..255, one or one a channel"},
    {"--scale", "scale", "a[,b,c]", "then multiplied, one or one a channel"},
    {"--std", "std", "a[,b,c]", "instead of --scale: then divided"},
    {"--layout", "layout", "nchw|nhwc", "order of the dimensions (default: what the input's shape looks like)"},
    {"--transpose", "transpose", "true|false", "swap height and width"},
    {"--labels", "labels", "FILE", "names of the classes, one a line"},
    {"--top", "top_k", "K", "print the K best classes (default: 5)"},
};

bool IsSize(const Preprocess& p, const PictureShape& want) {
  const int64_t width = p.transpose ? want.height : want.width, height = p.transpose ? want.width : want.height;
  return p.resize_width == width && p.resize_height == height;
}

}  // namespace

std::string DescribePort(const Port& port) { return fmt::format("'{}' {} {}", port.name, Name(port.type), ToString(port.shape)); }

std::vector<Tensor> ReadInputs(const Model& model, const std::vector<std::string>& assignments) {
  std::vector<Tensor> inputs(model.inputs().size());
  for (const std::string& text : assignments) {
    const bool unnamed = inputs.size() == 1 && text.find('=') == std::string::npos;
    const auto [name, path] = unnamed ? std::pair(model.inputs()[0].name, text) : SplitAssignment(text, "--input");
    const size_t i = PortIndex(model, name);
    if (inputs[i].has_value()) throw UsageError(fmt::format("[--input] '{}' is given twice", name));
    inputs[i] = ReadTensor(path, model.inputs()[i]);
  }
  return inputs;
}

int FirstMissing(const std::vector<Tensor>& inputs) {
  const auto found = std::find_if(inputs.begin(), inputs.end(), [](const Tensor& t) { return !t.has_value(); });
  return found == inputs.end() ? -1 : int(found - inputs.begin());
}

void FillRandom(const Model& model, uint64_t seed, std::vector<Tensor>& inputs) {
  Random random(seed);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = model.inputs()[i];
    if (inputs[i].has_value()) continue;
    if (!port.shape.known() || port.type == DType::kUnknown)
      throw UsageError(fmt::format("[--shape] input '{}' has no known shape; try --shape {}=...", port.name, port.name));
    inputs[i] = RandomTensor(port, random);
  }
}

void AddPreprocessFlags(CLI::App& command, PreprocessFlags& flags) {
  for (const FlagRow& row : kPreprocessFlags)
    command
        .add_option_function<std::string>(
            row.flag, [&flags, key = row.key](const std::string& value) { flags.settings.emplace_back(key, value); }, row.help)
        ->type_name(row.type)->group("Pictures");
  command.add_option("--preprocess", flags.file, "a TOML with these settings (default: the model's name with .toml, where there is one)")
      ->type_name("FILE.toml")->group("Pictures");
}

Preprocess PreprocessFor(const std::string& model_path, const Port& port, const PreprocessFlags& flags) {
  Preprocess preprocess;
  const PictureShape want = PictureShapeOf(port.shape);
  preprocess.layout = want.order;
  if (want.channels == 1) preprocess.channels = ChannelOrder::kGray;
  if (port.type == DType::kU8) preprocess.type = DType::kU8;
  const std::string beside = PreprocessPath(model_path);
  std::error_code ignored;
  if (!flags.file.empty()) preprocess = LoadPreprocess(flags.file, preprocess);
  else if (std::filesystem::exists(beside, ignored)) preprocess = LoadPreprocess(beside, preprocess);
  for (const auto& [key, value] : flags.settings) {
    try {
      std::string flag = "--" + (key == "top_k" ? "top" : key);
      std::replace(flag.begin(), flag.end(), '_', '-');
      SetPreprocess(preprocess, key, value, flag);
    } catch (const Error& e) {
      throw UsageError(e.what());
    }
  }
  return preprocess;
}

Tensor ReadPicture(const std::string& path, Preprocess preprocess, const Port& port, std::string* note) {
  const Image image = LoadImage(path);
  const PictureShape want = PictureShapeOf(port.shape);
  const int64_t channels = preprocess.channels == ChannelOrder::kGray ? 1 : 3;
  if (!want.known || want.channels != channels)
    throw Error(Code::kInvalidArgument,
                fmt::format("[{}] the input does not take such a picture; got {} channels, expected {}; try --channels, or --input {}=FILE",
                            port.name, channels, DescribePort(port), port.name));
  if (port.shape[0] != 1) {
    Shape one = port.shape;
    one[0] = 1;
    throw Error(Code::kInvalidArgument, fmt::format("[{0}] the input takes {1} pictures at once; got 1; try --shape {0}={2}", port.name,
                                                    port.shape[0], ToString(one)));
  }
  Tensor tensor = MakeInput(image, preprocess);
  if (tensor.shape() == port.shape || IsSize(preprocess, want)) return tensor;
  preprocess.resize_width = int(preprocess.transpose ? want.height : want.width);
  preprocess.resize_height = int(preprocess.transpose ? want.width : want.height);
  *note = fmt::format("pictures are resized to {}x{}, which input '{}' wants", preprocess.resize_width, preprocess.resize_height,
                      port.name);
  return MakeInput(image, preprocess);
}

}  // namespace mete::cli
