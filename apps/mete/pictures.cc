#include "pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "context.h"
#include "inputs.h"

namespace mete::cli {
namespace {

constexpr const char* kGroup = "Pictures";

std::string FlagOf(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

bool IsSwitch(const PreprocessKey& key) { return std::string_view(key.values) == "true|false"; }

bool IsOfAnswers(std::string_view key) {
  for (const char* other : {"labels", "top_k", "softmax", "classify", "head", "output_layout", "classes",
                            "least_score", "overlap", "most_boxes", "anchors", "tokenizer"})
    if (key == other) return true;
  return false;
}

// Returns the settings before flags: those of the TOML beside the model, with the pixel settings of a recipe
// if one is named; or those of the TOML that is named instead.
Preprocess Start(const std::string& model_path, const Port& port, const std::string& preprocess) {
  const PortScale of = port.scale.value_or(PortScale());
  const auto settings = [&](const std::string& path) {
    return PreprocessFor(path, port.type, port.shape, of.scale, int(of.zero_point));
  };
  if (preprocess.ends_with(".toml")) return LoadPreprocess(preprocess, settings(""));
  Preprocess p = settings(model_path);
  if (!preprocess.empty()) SetPreprocess(p, "preprocess", preprocess, "--preprocess");
  return p;
}

// Returns the width and height that the port requires of pictures before a transpose.
std::pair<int64_t, int64_t> SizeOf(const Port& port, const Preprocess& p) {
  const PictureShape want = PictureShapeOf(port.shape);
  return p.transpose ? std::pair(want.height, want.width) : std::pair(want.width, want.height);
}

// Returns whether the file leaves height and width open.
bool IsSizeOpen(const Port& port) {
  const PictureShape want = PictureShapeOf(port.shape);
  if (!want.known || port.declared.rank() != 4) return false;
  const int height = want.layout == TensorOrder::kNchw ? 2 : 1;
  return port.declared[height] < 0 && port.declared[height + 1] < 0;
}

std::string SizeText(const Port& port, const Preprocess& p) {
  const auto [width, height] = SizeOf(port, p);
  return fmt::format("{}x{}", width, height);
}

// Returns whether a crop in pixels has the size that the port takes.
bool CropFits(const Port& port, const Preprocess& p) {
  return std::pair<int64_t, int64_t>(p.crop_width, p.crop_height) == SizeOf(port, p);
}

// Returns for example "stretched to 224x224 (the size of 'data')".
std::string FitText(const Port& port, const Preprocess& p) {
  const std::string crop = fmt::format("cropped to {}x{}, then stretched to", p.crop_width, p.crop_height);
  const std::string how = p.letterbox           ? "letterboxed into"
                          : p.crop_fraction > 0 ? "scaled and cropped to"
                          : p.crop_width == 0   ? "stretched to"
                          : CropFits(port, p)   ? "cropped to"
                                                : crop;
  const std::string whose =
      p.resize_width ? ""
      : IsSizeOpen(port)
          ? fmt::format(" (assumed: the file leaves the size of '{}' open; --resize says another)", port.name)
          : fmt::format(" (the size of '{}')", port.name);
  return fmt::format("{} {}{}", how, SizeText(port, p), whose);
}

}  // namespace

const char* TurnedText(int orientation) {
  switch (orientation) {
    case 2: return "mirrored";
    case 3: return "turned by 180 degrees";
    case 4: return "mirrored upside down";
    case 5: return "mirrored and turned by 90 degrees to the left";
    case 6: return "turned by 90 degrees to the right";
    case 7: return "mirrored and turned by 90 degrees to the right";
    case 8: return "turned by 90 degrees to the left";
    default: return "";
  }
}

void AddPictureFlags(CLI::App& command, PictureFlags& flags, PictureKeys keys) {
  command
      .add_option("--preprocess", flags.preprocess,
                  "settings for many models at once: a recipe (mete help preprocess), or a TOML of these "
                  "flags (default: the model's name with "
                  ".toml, where there is one)")
      ->type_name("NAME|FILE.toml")
      ->group(kGroup);
  for (const PreprocessKey& row : PreprocessKeys()) {
    const std::string key = row.key;
    if (key == "preprocess" || (keys == PictureKeys::kPixels && IsOfAnswers(key))) continue;
    const auto add = [&flags, key](const std::string& value) { flags.settings.emplace_back(key, value); };
    CLI::Option* option =
        IsSwitch(row)
            ? command.add_flag_function(
                  FlagOf(key), [add](int64_t times) { add(times > 0 ? "true" : "false"); }, row.help)
            : command.add_option_function<std::string>(FlagOf(key), add, row.help)->type_name(row.values);
    option->group(kGroup);
  }
  for (const char* other : {"--crop", "--resize-shorter", "--letterbox"})
    command.get_option("--crop-fraction")->excludes(command.get_option(other));
  command.get_option("--scale")->excludes(command.get_option("--std"));
}

Preprocess PreprocessOf(const std::string& model_path, const Port& port, const PictureFlags& flags) {
  // An error in a flag is a UsageError, because only the command line can correct it; an error in a file
  // stays one.
  const auto as_usage = [](const auto& what) {
    try {
      return what();
    } catch (const Error& e) {
      throw UsageError(e.what());
    }
  };
  const auto start = [&] { return Start(model_path, port, flags.preprocess); };
  Preprocess p = flags.preprocess.empty() || flags.preprocess.ends_with(".toml") ? start() : as_usage(start);
  for (const auto& [key, value] : flags.settings)
    as_usage([&, &key = key, &value = value] { SetPreprocess(p, key, value, FlagOf(key)); });
  return p;
}

bool PictureFlags::given(const std::string& key) const {
  return std::any_of(settings.begin(), settings.end(),
                     [&](const auto& setting) { return setting.first == key; });
}

PictureSetting::PictureSetting(const PictureFlags& flags, const std::string& model_path,
                               const std::string& key)
    : name_(key), where_(key) {
  const bool has_recipe = !flags.preprocess.empty() && !flags.preprocess.ends_with(".toml");
  if (flags.given(key)) {
    name_ = FlagOf(key);
    where_ = name_;
  } else if (has_recipe && !IsOfAnswers(key)) {  // a recipe is about pixels; the others stay the file's
    where_ = fmt::format("{} of --preprocess {}:", key, flags.preprocess);
  } else {
    in_file_ = true;
    where_ = fmt::format("{} in {}:", key,
                         flags.preprocess.ends_with(".toml") ? flags.preprocess : PreprocessPath(model_path));
  }
}

void PictureSetting::Fail(const std::string& problem) const {
  const std::string text = fmt::format("[{}] {}", where_, problem);
  if (in_file_) throw Error(Code::kInvalidArgument, text);
  throw UsageError(text);
}

Shape WantedShape(const Port& port, const Preprocess& p) {
  if (!IsSizeOpen(port)) return port.shape;
  int64_t width = p.resize_width ? p.resize_width : p.crop_width,
          height = p.resize_width ? p.resize_height : p.crop_height;
  if (width == 0) return port.shape;
  if (p.transpose) std::swap(width, height);
  Shape shape = port.shape;
  const int at = PictureShapeOf(port.shape).layout == TensorOrder::kNchw ? 2 : 1;
  shape[at] = height;
  shape[at + 1] = width;
  return shape;
}

void CheckPictures(const Port& port, const Preprocess& p, const PictureFlags& flags,
                   const std::string& model_path) {
  const PictureShape want = PictureShapeOf(port.shape);
  const int channels = p.channels == ChannelOrder::kGray ? 1 : 3;
  const auto fail = [&](const char* key, const auto& problem) {
    const PictureSetting setting(flags, model_path, key);
    setting.Fail(problem(setting.name()));
  };
  if (!want.known)
    throw UsageError(fmt::format(
        "[IMAGE] input {} does not take pictures; expected 1x3xHxW or the like; try --input {}=FILE.npy",
        DescribePort(port), port.name));
  if (want.channels != channels)
    fail("channels", [&](const std::string& name) {
      return fmt::format("input {} does not take such pictures; got {} channel{}, expected {}; try {} {}",
                         DescribePort(port), channels, channels == 1 ? "" : "s", want.channels, name,
                         want.channels == 1 ? "gray" : "rgb");
    });
  if (p.type != port.type)
    fail("type", [&](const std::string& name) {
      return fmt::format("input {} takes another type; got {}, expected {}; try without {}",
                         DescribePort(port), Name(p.type), Name(port.type), name);
    });
  if (p.layout != want.layout)
    fail("layout", [&](const std::string& name) {
      return fmt::format("input {} has another order of dimensions; got {}, expected {}; try without {}",
                         DescribePort(port), p.layout == TensorOrder::kNchw ? "nchw" : "nhwc",
                         want.layout == TensorOrder::kNchw ? "nchw" : "nhwc", name);
    });
  const auto [width, height] = SizeOf(port, p);
  if (p.resize_width && (p.resize_width != width || p.resize_height != height))
    fail("resize", [&](const std::string& name) {
      return fmt::format("input {} takes pictures of another size; got {}x{}, expected {}; try {} {} or none",
                         DescribePort(port), p.resize_width, p.resize_height, SizeText(port, p), name,
                         SizeText(port, p));
    });
}

PictureRemarks RemarksOf(const std::string& model, const Port& port, const Preprocess& p) {
  PictureRemarks remarks;
  const std::string fit = FitText(port, p);
  if (!p.values_known && port.type == DType::kF32) {
    std::string names;
    for (const PreprocessRecipe& r : PreprocessRecipes())
      names += (names.empty() ? "" : ", ") + std::string(r.name);
    remarks.warning = fmt::format(
        "[{}] nothing says how pictures become input '{}', so the answer may be wrong: pixels go in as {} "
        "from 0 to 255, {}; "
        "try --preprocess {} ('mete help preprocess'), or {} beside the model",
        model, port.name,
        p.channels == ChannelOrder::kGray  ? "gray"
        : p.channels == ChannelOrder::kBgr ? "BGR"
                                           : "RGB",
        fit, names, std::filesystem::path(PreprocessPath(model)).filename().string());
    return remarks;
  }
  if (!p.resize_width && !p.crop_width && IsSizeOpen(port))
    remarks.note = fmt::format("pictures are {}", fit);
  return remarks;
}

PictureBatch ReadPictures(std::span<const std::string> paths, const Preprocess& p, const Port& port) {
  PictureBatch batch;
  std::vector<Image>& images = batch.images;
  const bool asked =
      p.resize_width || p.letterbox || p.crop_fraction > 0 || (p.crop_width && CropFits(port, p));
  const auto [width, height] = SizeOf(port, p);
  for (const std::string& path : paths) {
    images.push_back(LoadImage(path));
    const Image& image = images.back();
    batch.turned.push_back(TurnedText(image.exif_orientation));
    if (!asked && (p.crop_width || image.width * height != image.height * width))
      batch.stretched = fmt::format(
          "pictures are {}; try --crop-fraction 0.875 or --letterbox to keep their aspect", FitText(port, p));
  }
  batch.tensor = MakeInput(images, p, port.shape);
  return batch;
}

std::string PreprocessHelp() {
  std::string text =
      "How a picture becomes a model's input: a TOML beside the model (net.onnx, net.toml), --preprocess, "
      "and a flag for each key of the TOML, "
      "with '-' for '_'. Flags come before the TOML. The stages run in the order in which they stand here; "
      "keys that are not named keep their "
      "defaults.\n\nKeys:\n";
  for (const PreprocessKey& key : PreprocessKeys())
    text += fmt::format("  {:<15} {} ({})\n", key.key, key.help, key.values);
  text += "\nRecipes (preprocess = \"NAME\", --preprocess NAME):\n";
  for (const PreprocessRecipe& r : PreprocessRecipes()) {
    std::string settings = r.settings;
    for (size_t at; (at = settings.find('\n')) != std::string::npos;) settings.replace(at, 1, "; ");
    text += fmt::format("  {:<15} {}{}\n", r.name, r.description,
                        settings.empty() ? "" : fmt::format(" ({})", settings));
  }
  return text +
         "\nA model's own documentation says what it was trained with; where that is not known, compare what "
         "it answers on a picture whose class is.\n"
         "\nExamples:\n"
         "  mete run mobilenet_v2.onnx cat.jpg --preprocess mobilenet --labels imagenet.txt\n"
         "  mete run deploy.prototxt cat.jpg --preprocess caffe-bgr --top-k 3\n"
         "  mete run detector.onnx street.jpg --preprocess yolo\n";
}

}  // namespace mete::cli
