#include "base/json.h"

#include "base/controls.h"
#include "base/error.h"

namespace mete {

using Json = nlohmann::ordered_json;

// The library's own callback for the depth takes time in the square of a list's length.
void CheckJsonDepth(std::string_view text, const std::string& where) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\') ++i;
    else if (c == '"') in_text = !in_text;
    else if (in_text) continue;
    else if (c == ']' || c == '}') --depth;
    else if ((c == '[' || c == '{') && ++depth > kMostJsonDepth)
      Invalid(where, "lists and objects are nested too deep; got {} levels or more, expected {} at most",
              depth, kMostJsonDepth);
  }
}

Json ParseJson(std::string_view text, const std::string& where) {
  CheckJsonDepth(text, where);
  return Json::parse(text);
}

std::string JsonText(const Json& j, int indent) {
  return WithEscapedControls(j.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
}

std::string ReasonOf(const Json::exception& e) {
  const std::string text = e.what();  // "[json.exception.out_of_range.403] key 'steps' not found"
  const size_t end = text.find("] ");
  return text.starts_with("[json.exception.") && end != std::string::npos ? text.substr(end + 2) : text;
}

int64_t WholeNumber(const Json& j, const std::string& where, const char* what, int64_t least, int64_t most) {
  if (!j.is_number_integer())
    Invalid(where, "{} must be a whole number; got a {}", what, j.is_number() ? "broken one" : j.type_name());
  const bool large = j.is_number_unsigned() && j.get<uint64_t>() > uint64_t{INT64_MAX};
  if (large || j.get<int64_t>() < least || j.get<int64_t>() > most)
    Invalid(where, "{} is out of range; got {}, expected {} to {}", what, j.dump(), least, most);
  return j.get<int64_t>();
}

const Json& List(const Json& j, const std::string& where, const char* what) {
  if (!j.is_array()) Invalid(where, "{} must be a list; got a {}", what, j.type_name());
  return j;
}

const Json& Object(const Json& j, const std::string& where, const char* what) {
  if (!j.is_object()) Invalid(where, "{} must be an object; got a {}", what, j.type_name());
  return j;
}

}  // namespace mete
