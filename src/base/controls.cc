#include "base/controls.h"

#include <fmt/format.h>

namespace mete {
namespace {

// Returns whether a text has a character from U+0080 to U+009F at a place.
bool HasSecondControl(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  return byte(at) == 0xc2 && byte(at + 1) >= 0x80 && byte(at + 1) <= 0x9f;
}

}  // namespace

std::string WithoutControls(std::string text, std::string_view kept) {
  size_t to = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool two = HasSecondControl(text, i);
    const bool one = static_cast<unsigned char>(text[i]) < ' ' || text[i] == 0x7f;
    text[to++] = two || (one && kept.find(text[i]) == kept.npos) ? '?' : text[i];
    i += two ? 1 : 0;
  }
  text.resize(to);
  return text;
}

std::string WithEscapedControls(std::string json) {
  const auto is_control = [&](size_t at) { return json[at] == 0x7f || HasSecondControl(json, at); };
  size_t at = 0;
  while (at < json.size() && !is_control(at)) ++at;
  if (at == json.size()) return json;  // nearly always
  std::string escaped = json.substr(0, at);
  for (; at < json.size(); ++at) {
    const bool control = is_control(at);
    if (control && json[at] != 0x7f) ++at;
    if (control) escaped += fmt::format("\\u{:04x}", static_cast<unsigned char>(json[at]));
    else escaped += json[at];
  }
  return escaped;
}

}  // namespace mete
