#include "text/json_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace mete {
namespace {

const TextJson kNull;

}  // namespace

std::string Shown(const std::string& text) {
  constexpr size_t kMost = 40;  // a guess: as much as a line of a message has room for
  return Printable(text.size() > kMost ? text.substr(0, kMost) + "..." : text);
}

JsonPart::JsonPart(const TextJson& json, std::string where, SharedProblems& problems)
    : json_(json.is_object() ? json : kNull), where_(std::move(where)), problems_(problems) {
  if (!json.is_object() && !json.is_null())
    Refuse("a part is no object", json.type_name(), "an object or null");
}

void JsonPart::Refuse(const std::string& what, const std::string& got, const std::string& expected) const {
  problems_.Add(where_, fmt::format("{}; got {}, expected {}", what, got, expected));
}

void JsonPart::RefuseKind(const std::string& type, const std::string& kinds) const {
  Refuse("a part of a kind that is not understood", given() ? fmt::format("'{}'", Shown(type)) : "null",
         kinds);
}

void JsonPart::RefuseOthers() const {
  if (!given()) return;
  for (const auto& [key, value] : json_.items())
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end() && !value.is_null())
      Refuse("an unknown key", fmt::format("'{}'", Shown(key)), "none that changes tokens");
}

bool JsonPart::HasTooMany(size_t steps) const {
  constexpr size_t kMost = 64;  // a guess: files have less than ten
  if (steps <= kMost) return false;
  Refuse("there are too many steps", fmt::format("{} or more", steps), fmt::format("{} at most", kMost));
  return true;
}

const TextJson& JsonPart::Value(const std::string& key) {
  asked_.push_back(key);
  const auto found = json_.find(key);
  return given() && found != json_.end() ? *found : kNull;
}

std::string JsonPart::Text(const char* key, const std::string& otherwise) {
  const TextJson& value = Value(key);
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_null()) Refuse(fmt::format("'{}' is no text", key), value.type_name(), "a text");
  return otherwise;
}

std::optional<bool> JsonPart::FlagIfAny(const char* key) {
  const TextJson& value = Value(key);
  if (value.is_boolean()) return value.get<bool>();
  if (!value.is_null()) Refuse(fmt::format("'{}' is no truth", key), value.type_name(), "true or false");
  return std::nullopt;
}

int64_t JsonPart::Number(const char* key, int64_t otherwise) {
  const TextJson& value = Value(key);
  return value.is_null() ? otherwise : TokenNumber(value, key, *this).value_or(otherwise);
}

// The whole file's own place ends with a colon.
std::string JsonPart::Inside(const std::string& key) const {
  return fmt::format("{}{}{}", where_, where_.ends_with(':') ? " " : ".", Shown(key));
}

JsonPart JsonPart::Part(const std::string& key) { return {Value(key), Inside(key), problems_}; }

std::vector<JsonPart> JsonPart::Parts(const char* key) {
  const TextJson& value = Value(key);
  std::vector<JsonPart> parts;
  if (!value.is_array() && !value.is_null())
    Refuse(fmt::format("'{}' is no list", key), value.type_name(), "a list");
  if (value.is_array())
    for (size_t i = 0; i < value.size(); ++i)
      parts.emplace_back(value[i], fmt::format("{}[{}]", Inside(key), i), problems_);
  return parts;
}

std::vector<JsonPart> JsonPart::Steps(const char* key) {
  const TextJson& value = Value(key);
  return value.is_array() && HasTooMany(value.size()) ? std::vector<JsonPart>() : Parts(key);
}

void CheckPieceSize(const JsonPart& part, std::string_view piece) {
  constexpr size_t kMost = 512;  // a guess: those of models have at most some 130 characters
  if (piece.size() > kMost)
    part.Refuse("a piece is too long", fmt::format("{} bytes", piece.size()),
                fmt::format("{} at most", kMost));
}

std::optional<int64_t> TokenNumber(const TextJson& json, const char* what, const JsonPart& part) {
  const bool whole = json.is_number_integer() || json.is_number_unsigned();
  if (whole && json >= 0 && json < kMostTokens) return json.get<int64_t>();
  part.Refuse(fmt::format("{} is no number of a token", what), whole ? json.dump() : json.type_name(),
              fmt::format("0 to {}", kMostTokens - 1));
  return std::nullopt;
}

}  // namespace mete
