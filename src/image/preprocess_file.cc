// Preprocess as text: one field at a time (flags), or a TOML file of them.
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/mapped_file.h"
#include "mete/image.h"

namespace mete {
namespace {

// What a setter gets: the field's text, split at commas, and where to complain.
struct Text {
  std::string_view key, value;
  const std::string& where;

  [[noreturn]] void Bad(const char* expected) const { Invalid(where, "bad value for '{}'; got '{}', expected {}", key, value, expected); }
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

std::array<float, 3> Channels(const Text& t) {
  constexpr const char* kExpected = "a number, or three with commas between them";
  std::vector<float> values;
  for (std::string_view rest = t.value;;) {
    const size_t comma = rest.find(',');
    const auto v = Number<float>(rest.substr(0, comma));
    if (!v || !std::isfinite(*v)) t.Bad(kExpected);
    values.push_back(*v);
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (values.size() == 1) return {values[0], values[0], values[0]};
  if (values.size() != 3) t.Bad(kExpected);
  return {values[0], values[1], values[2]};
}

void SetStd(const Text& t, Preprocess& p) {
  p.divisor = Channels(t);
  p.scale = {1, 1, 1};
  if (std::count(p.divisor.begin(), p.divisor.end(), 0.0f) > 0) t.Bad("numbers other than 0");
}

// The choice's index in `names`.
int Choice(const Text& t, std::initializer_list<std::string_view> names, const char* expected) {
  int i = 0;
  for (std::string_view name : names) {
    if (name == t.value) return i;
    ++i;
  }
  t.Bad(expected);
}

struct Field {
  const char* key;
  void (*set)(Preprocess&, const Text&);
};

constexpr Field kFields[] = {
    {"resize_shorter",
     [](Preprocess& p, const Text& t) { p.resize_shorter = t.value == "none" ? 0 : Positive(t, t.value, "none or a side"); }},
    {"crop", [](Preprocess& p, const Text& t) { SetSize(t, p.crop_width, p.crop_height); }},
    {"resize", [](Preprocess& p, const Text& t) { SetSize(t, p.resize_width, p.resize_height); }},
    {"interpolation",
     [](Preprocess& p, const Text& t) {
       p.interpolation = Interpolation(Choice(t, {"antialias", "bilinear", "bicubic"}, "antialias, bilinear or bicubic"));
     }},
    {"channels", [](Preprocess& p, const Text& t) { p.channels = ChannelOrder(Choice(t, {"rgb", "bgr", "gray"}, "rgb, bgr or gray")); }},
    {"mean", [](Preprocess& p, const Text& t) { p.mean = Channels(t); }},
    {"scale", [](Preprocess& p, const Text& t) { p.scale = Channels(t), p.divisor = {1, 1, 1}; }},
    {"std", [](Preprocess& p, const Text& t) { SetStd(t, p); }},
    {"transpose", [](Preprocess& p, const Text& t) { p.transpose = Choice(t, {"false", "true"}, "true or false") == 1; }},
    {"layout", [](Preprocess& p, const Text& t) { p.layout = TensorOrder(Choice(t, {"nchw", "nhwc"}, "nchw or nhwc")); }},
    {"type", [](Preprocess& p, const Text& t) { p.type = Choice(t, {"f32", "u8"}, "f32 or u8") == 0 ? DType::kF32 : DType::kU8; }},
    {"labels", [](Preprocess& p, const Text& t) { p.labels = t.value; }},
    {"top_k", [](Preprocess& p, const Text& t) { p.top_k = Positive(t, t.value, "a number from 1 on"); }},
};

// A TOML value as SetPreprocess() reads it; arrays become lists with commas.
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
  else Invalid(where, "bad value for '{}'; got a table or a date, expected a number, a text, a boolean or an array", key);
  return list;
}

}  // namespace

std::vector<std::string> PreprocessKeys() {
  std::vector<std::string> keys;
  for (const Field& f : kFields) keys.push_back(f.key);
  return keys;
}

void SetPreprocess(Preprocess& preprocess, std::string_view key, std::string_view value, const std::string& where) {
  for (const Field& f : kFields)
    if (key == f.key) return f.set(preprocess, {key, Trim(value), where});
  Invalid(where, "unknown key '{}'; expected one of {}", key, fmt::join(PreprocessKeys(), ", "));
}

Preprocess ParsePreprocess(std::string_view text, const std::string& name, const Preprocess& defaults) {
  toml::table table;
  try {
    table = toml::parse(text, std::string_view(name));
  } catch (const toml::parse_error& e) {
    Invalid(fmt::format("{}:{}:{}", name, e.source().begin.line, e.source().begin.column), "not valid TOML; {}", e.description());
  }
  Preprocess p = defaults;
  for (const auto& [key, node] : table)
    SetPreprocess(p, key.str(), AsText(node, key.str(), name), fmt::format("{}:{}", name, node.source().begin.line));
  return p;
}

Preprocess LoadPreprocess(const std::string& path, const Preprocess& defaults) {
  const auto file = MappedFile::Open(path);
  Preprocess p = ParsePreprocess({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, path, defaults);
  if (!p.labels.empty() && p.labels != defaults.labels) p.labels = (std::filesystem::path(path).parent_path() / p.labels).string();
  return p;
}

std::string PreprocessPath(const std::string& model_path) { return std::filesystem::path(model_path).replace_extension(".toml").string(); }

}  // namespace mete
