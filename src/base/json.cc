#include "base/json.h"

#include "base/error.h"

namespace mete {

using Json = nlohmann::ordered_json;

Json ParseJson(std::string_view text, const std::string& where) {
  using Event = Json::parse_event_t;
  const auto check_depth = [&](int depth, Event event, const Json&) {  // the outermost value has depth 0
    if (depth >= kMostJsonDepth && (event == Event::array_start || event == Event::object_start))
      Invalid(where, "lists and objects are nested too deep; got {} levels or more, expected {} at most",
              depth + 1, kMostJsonDepth);
    return true;
  };
  return Json::parse(text, check_depth);
}

std::string JsonText(const Json& j, int indent) {
  return j.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
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
