// Reads Preprocess from text: one field at a time (from flags), or all fields of a TOML file. Recipes are
// TOML texts too.
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/nearest.h"
#include "mete/image.h"

namespace mete {
namespace {

// The argument of a setter: the field's key and value, and the place that error messages name.
struct Text {
  std::string_view key, value;
  const std::string& where;

  [[noreturn]] void Bad(const char* expected) const {
    Invalid(where, "bad value for '{}'; got '{}', expected {}", key, value, expected);
  }
};

std::string_view Trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

template <class T>
std::optional<T> Number(std::string_view s) {
  s = Trim(s);
  T v{};
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return v;
}

int Positive(const Text& t, std::string_view s, const char* expected) {
  const auto v = Number<int>(s);
  if (!v || *v < 1) t.Bad(expected);
  return *v;
}

void SetSize(const Text& t, int& width, int& height) {
  constexpr const char* kExpected = "none, a side, or WIDTHxHEIGHT";
  if (t.value == "none") return void(width = height = 0);
  const size_t x = t.value.find_first_of("xX,");
  width = Positive(t, t.value.substr(0, x), kExpected);
  height = x == t.value.npos ? width : Positive(t, t.value.substr(x + 1), kExpected);
}

std::vector<float> Numbers(const Text& t, const char* expected) {
  std::vector<float> values;
  for (std::string_view rest = t.value;;) {
    const size_t comma = rest.find(',');
    const auto v = Number<float>(rest.substr(0, comma));
    if (!v || !std::isfinite(*v)) t.Bad(expected);
    values.push_back(*v);
    if (comma == rest.npos) return values;
    rest.remove_prefix(comma + 1);
  }
}

std::array<float, 3> Channels(const Text& t) {
  constexpr const char* kExpected = "a number, or three with commas between them";
  const std::vector<float> values = Numbers(t, kExpected);
  if (values.size() == 1) return {values[0], values[0], values[0]};
  if (values.size() != 3) t.Bad(kExpected);
  return {values[0], values[1], values[2]};
}

float Fraction(const Text& t) {
  const auto v = Number<float>(t.value);
  if (!v || !(*v >= 0 && *v <= 1)) t.Bad("a number from 0 to 1");
  return *v;
}

void RefuseZeros(const Text& t, const std::array<float, 3>& values) {
  if (std::count(values.begin(), values.end(), 0.0f) > 0) t.Bad("numbers other than 0");
}

// The keys `scale` and `std` replace each other: each of them alone determines the factor of the pixels.
void SetScale(const Text& t, Preprocess& p) {
  RefuseZeros(t, p.scale = Channels(t));
  p.divisor = {1, 1, 1};
}
void SetStd(const Text& t, Preprocess& p) {
  RefuseZeros(t, p.divisor = Channels(t));
  p.scale = {1, 1, 1};
}

// The ways to crop exclude each other. The last one that is set replaces the others, so that a flag replaces
// the setting of a file or a recipe.
void SetResizeShorter(const Text& t, Preprocess& p) {
  p.resize_shorter = t.value == "none" ? 0 : Positive(t, t.value, "none or a side");
  p.crop_fraction = 0;
}
void SetCrop(const Text& t, Preprocess& p) {
  SetSize(t, p.crop_width, p.crop_height);
  p.crop_fraction = 0;
}
void SetCropFraction(const Text& t, Preprocess& p) {
  constexpr float kLeast = 0.01f;  // this value is a guess: a smaller crop is taken for a mistake
  const auto v = t.value == "none" ? std::optional(0.0f) : Number<float>(t.value);
  if (!v || (*v != 0 && !(*v >= kLeast && *v <= 1))) t.Bad("none, or a fraction of 0.01 to 1");
  p.crop_fraction = *v;
  p.resize_shorter = p.crop_width = p.crop_height = 0;
  p.letterbox = false;
}

// Returns the index of the text in `names`, which have '|' between them.
int Choice(const Text& t, std::string_view names) {
  std::vector<std::string> known;
  while (!names.empty()) {
    known.emplace_back(names.substr(0, names.find('|')));
    if (known.back() == t.value) return int(known.size()) - 1;
    names.remove_prefix(std::min(names.size(), known.back().size() + 1));
  }
  Invalid(t.where, "bad value for '{}'; got '{}'{}", t.key, t.value, ExpectedOneOf(t.value, known));
}

bool Truth(const Text& t) { return Choice(t, "false|true") == 1; }

void SetLetterbox(const Text& t, Preprocess& p) {
  p.letterbox = Truth(t);
  if (p.letterbox) p.crop_fraction = 0;
}

void SetClasses(const Text& t, Preprocess& p) {
  constexpr const char* kExpected = "none, or numbers of classes with commas between them";
  constexpr float kMostClass = 65535;  // a guess: more classes than any detector has
  p.head.classes.clear();
  if (t.value == "none") return;
  for (const float v : Numbers(t, kExpected)) {
    if (!(v >= 0 && v <= kMostClass && v == std::floor(v))) t.Bad(kExpected);
    p.head.classes.push_back(int(v));
  }
  std::vector<int>& classes = p.head.classes;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
}

TensorOrder Layout(const Text& t) { return TensorOrder(Choice(t, "nchw|nhwc")); }

void SetRecipe(const Text& t, Preprocess& p);

struct Field {
  PreprocessKey key;
  void (*set)(const Text&, Preprocess&);
  bool about_values = false;  // setting the field sets Preprocess::values_known
};

constexpr Field kFields[] = {
    {{"preprocess", "NAME", "start from a recipe, which the other keys then change"}, SetRecipe, true},
    {{"resize_shorter", "N|none", "resize so that the shorter side has N pixels"}, SetResizeShorter},
    {{"crop", "N|WxH|none", "then cut out the centre of this width and height"}, SetCrop},
    {{"resize", "N|WxH|none", "then resize to this width and height (default: the input's size)"},
     [](const Text& t, Preprocess& p) { SetSize(t, p.resize_width, p.resize_height); }},
    {{"crop_fraction", "F|none",
      "for that, keep the aspect: cover the size divided by F, and cut out the centre (0.875: 224 pixels of "
      "256)"},
     SetCropFraction},
    {{"letterbox", "true|false", "for that, keep the aspect: fit into the size, and fill the rest"},
     SetLetterbox},
    {{"pad", "a[,b,c]", "what --letterbox fills with, RGB from 0 to 255 (default: 114)"},
     [](const Text& t, Preprocess& p) { p.pad = Channels(t); }},
    {{"interpolation", "antialias|bilinear|bicubic",
      "resize as Pillow's bilinear does (antialias, the default), OpenCV's, or Pillow's bicubic"},
     [](const Text& t, Preprocess& p) {
       p.interpolation = Interpolation(Choice(t, "antialias|bilinear|bicubic"));
     }},
    {{"channels", "rgb|bgr|gray",
      "order of the channels (default: rgb, or gray for an input of one channel)"},
     [](const Text& t, Preprocess& p) { p.channels = ChannelOrder(Choice(t, "rgb|bgr|gray")); }},
    {{"mean", "a[,b,c]", "subtract this from the pixels 0 to 255; one number, or one a channel"},
     [](const Text& t, Preprocess& p) { p.mean = Channels(t); },
     true},
    {{"scale", "a[,b,c]", "then multiply by this; one number, or one a channel"}, SetScale, true},
    {{"std", "a[,b,c]", "then divide by this, instead of scale; one number, or one a channel"}, SetStd, true},
    {{"layout", "nchw|nhwc", "order of the dimensions (default: as the input's shape is)"},
     [](const Text& t, Preprocess& p) { p.layout = Layout(t); }},
    {{"transpose", "true|false", "swap height and width"},
     [](const Text& t, Preprocess& p) { p.transpose = Truth(t); }},
    {{"type", "f32|u8|i8", "type of the elements (default: the input's)"},
     [](const Text& t, Preprocess& p) {
       constexpr DType kTypes[] = {DType::kF32, DType::kU8, DType::kI8};
       p.type = kTypes[Choice(t, "f32|u8|i8")];
     }},
    {{"labels", "FILE", "names of the classes, one a line"},
     [](const Text& t, Preprocess& p) { p.labels = t.value; }},
    {{"top_k", "K", "print the K best classes (default: 5)"},
     [](const Text& t, Preprocess& p) { p.top_k = Positive(t, t.value, "a number from 1 on"); }},
    {{"softmax", "true|false", "turn scores into probabilities first"},
     [](const Text& t, Preprocess& p) { p.softmax = Truth(t); }},
    {{"classify", "NAME", "rank the scores of this output (default: of the only one that can have them)"},
     [](const Text& t, Preprocess& p) { p.classify = t.value; }},
    {{"head", "NAME", "what the outputs say about a picture, for --show: 'mete help heads' lists the names"},
     [](const Text& t, Preprocess& p) { p.head.name = t.value; }},
    {{"output_layout", "nchw|nhwc",
      "order of the dimensions of outputs that are planes, such as scores of each pixel (default: nchw)"},
     [](const Text& t, Preprocess& p) { p.head.layout = Layout(t); }},
    {{"classes", "N[,...]|none", "leave out all but the classes, or points, of these numbers"}, SetClasses},
    {{"least_score", "F", "leave out boxes and points of a lower score (default: 0.5)"},
     [](const Text& t, Preprocess& p) { p.head.least_score = Fraction(t); }},
    {{"overlap", "F",
      "of two boxes of a class that share more of their area, leave out the worse (default: 0.45)"},
     [](const Text& t, Preprocess& p) { p.head.overlap = Fraction(t); }},
    {{"most_boxes", "N", "keep the N best boxes (default: 100)"},
     [](const Text& t, Preprocess& p) { p.head.most = Positive(t, t.value, "a number from 1 on"); }},
    {{"anchors", "w,h[,...]",
      "widths and heights of the anchors of the heads yolo-grid, yolo-v3 and yolo-v4, the finest grid's "
      "first"},
     [](const Text& t, Preprocess& p) { p.head.anchors = Numbers(t, "numbers with commas between them"); }},
    {{"tokenizer", "FILE", "how tokens are text: Hugging Face's tokenizer.json, or llama2.c's tokenizer.bin"},
     [](const Text& t, Preprocess& p) { p.tokenizer = t.value; }},
};

// The settings are those of the networks' own training or evaluation scripts. Crops are written as fractions,
// so that a recipe serves inputs of any size.
constexpr PreprocessRecipe kRecipes[] = {
    {"raw", "",
     "pixels 0 to 255, stretched to the input's size: models that normalize by themselves, most 8-bit ones"},
    {"unit", "std = 255", "0 to 1: many detectors, and networks trained on ToTensor() alone"},
    {"imagenet-torch",
     "crop_fraction = 0.875\n"
     "mean = [123.675, 116.28, 103.53]\n"
     "std = [58.395, 57.12, 57.375]",
     "torchvision's and timm's classifiers"},
    {"mobilenet",
     "crop_fraction = 0.875\n"
     "mean = 127.5\n"
     "std = 127.5",
     "-1 to 1: TensorFlow's MobileNets, Inception and EfficientNet-Lite"},
    {"caffe-bgr",
     "crop_fraction = 0.8867\n"  // AlexNet's 227 of 256 pixels; 224 of 256 in other networks is close
     "channels = \"bgr\"\n"
     "mean = [104, 117, 123]",
     "Caffe's classifiers (AlexNet, VGG, GoogLeNet, ResNet, SqueezeNet)"},
    {"clip",
     "crop_fraction = 1\n"
     "interpolation = \"bicubic\"\n"
     "mean = [122.7709383, 116.7460125, 104.09373615]\n"
     "std = [68.5005327, 66.6321579, 70.32316305]",
     "OpenAI's CLIP and what was trained like it"},
    {"yolo",
     "letterbox = true\n"
     "pad = 114\n"
     "std = 255",
     "Ultralytics' YOLO detectors"},
};

const char* SettingsOf(const Text& t) {
  std::vector<std::string> names;
  for (const PreprocessRecipe& r : kRecipes) {
    if (t.value == r.name) return r.settings;
    names.push_back(r.name);
  }
  Invalid(t.where, "no such recipe; got '{}'{}", t.value, ExpectedOneOf(t.value, names));
}

// Replaces all settings of the pixels by those of the recipe. The settings that follow from the input
// (layout, type) and those of the printed result stay.
void SetRecipe(const Text& t, Preprocess& p) {
  Preprocess fresh;
  if (p.channels == ChannelOrder::kGray) fresh.channels = p.channels;
  fresh.layout = p.layout;
  fresh.type = p.type;
  fresh.labels = p.labels;
  fresh.top_k = p.top_k;
  fresh.softmax = p.softmax;
  fresh.classify = p.classify;
  fresh.head = p.head;
  fresh.tokenizer = p.tokenizer;
  p = ParsePreprocess(SettingsOf(t), std::string(t.value), fresh);
}

// Returns a TOML value as text that SetPreprocess() reads. An array becomes a list with commas, for example
// "1,2,3".
std::string AsText(const toml::node& node, std::string_view key, const std::string& where) {
  if (const auto* s = node.as_string()) return s->get();
  if (const auto* b = node.as_boolean()) return b->get() ? "true" : "false";
  if (const auto* i = node.as_integer()) return fmt::format("{}", i->get());
  if (const auto* f = node.as_floating_point()) return fmt::format("{}", f->get());
  std::string list;
  if (const auto* array = node.as_array())
    for (const toml::node& item : *array) {
      if (item.is_array() || item.is_table()) Invalid(where, "bad value for '{}'; got a nested array", key);
      list += (list.empty() ? "" : ",") + AsText(item, key, where);
    }
  else
    Invalid(where,
            "bad value for '{}'; got a table or a date, expected a number, a text, a boolean or an array",
            key);
  return list;
}

}  // namespace

std::span<const PreprocessRecipe> PreprocessRecipes() { return kRecipes; }

std::span<const PreprocessKey> PreprocessKeys() {
  static const std::vector<PreprocessKey> keys = [] {
    std::vector<PreprocessKey> all;
    for (const Field& f : kFields) all.push_back(f.key);
    return all;
  }();
  return keys;
}

void SetPreprocess(Preprocess& preprocess, std::string_view key, std::string_view value,
                   const std::string& where) {
  std::vector<std::string> known;
  for (const Field& f : kFields) {
    if (key == f.key.key) {
      f.set({key, Trim(value), where}, preprocess);
      preprocess.values_known |= f.about_values;
      return;
    }
    known.push_back(f.key.key);
  }
  Invalid(where, "unknown key '{}'{}", key, ExpectedOneOf(key, known));
}

Preprocess ParsePreprocess(std::string_view text, const std::string& name, const Preprocess& defaults) {
  toml::table table;
  try {
    table = toml::parse(text, std::string_view(name));
  } catch (const toml::parse_error& e) {
    Invalid(fmt::format("{}:{}:{}", name, e.source().begin.line, e.source().begin.column),
            "not valid TOML; {}", e.description());
  }
  for (const char* other : {"crop", "resize_shorter", "letterbox"})
    if (table.contains("crop_fraction") && table.contains(other))
      Invalid(name, "crop_fraction and {} exclude each other; try without one of them", other);
  Preprocess p = defaults;
  const auto set = [&](std::string_view key, const toml::node& node) {
    SetPreprocess(p, key, AsText(node, key, name), fmt::format("{}:{}", name, node.source().begin.line));
  };
  if (const toml::node* recipe = table.get("preprocess")) set("preprocess", *recipe);
  for (const auto& [key, node] : table)
    if (key.str() != "preprocess") set(key.str(), node);
  return p;
}

Preprocess LoadPreprocess(const std::string& path, const Preprocess& defaults) {
  const auto file = MappedFile::Open(path);
  Preprocess p = ParsePreprocess({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()},
                                 path, defaults);
  const auto resolve = [&](std::string& file, const std::string& before) {
    if (!file.empty() && file != before) file = (std::filesystem::path(path).parent_path() / file).string();
  };
  resolve(p.labels, defaults.labels);
  resolve(p.tokenizer, defaults.tokenizer);
  return p;
}

std::string PreprocessPath(const std::string& model_path) {
  return std::filesystem::path(model_path).replace_extension(".toml").string();
}

Preprocess PreprocessFor(const std::string& model_path, DType type, const Shape& input, float step,
                         int zero) {
  Preprocess p;
  if (const PictureShape pictures = PictureShapeOf(input); pictures.known) {
    p.layout = pictures.layout;
    if (pictures.channels == 1) p.channels = ChannelOrder::kGray;
  }
  if (type == DType::kU8 || type == DType::kI8) p.type = type;
  p.step = step;
  p.zero = zero;
  const std::string beside = PreprocessPath(model_path);
  std::error_code ignored;
  return std::filesystem::exists(beside, ignored) ? LoadPreprocess(beside, p) : p;
}

}  // namespace mete
