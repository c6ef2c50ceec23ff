// A part of a JSON file whose keys are read one by one. A key that no caller reads is a problem: Mete does
// not know what it changes.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problems.h"

namespace mete {

// The objects of these files have a key for each token, which the library's ordered objects would search from
// the first one.
using TextJson = nlohmann::json;

// Problems are collected, and the values that they concern are then those of a missing key.
class JsonPart {
 public:
  // `json` and `problems` live longer. A part that is null has no keys.
  JsonPart(const TextJson& json, std::string where, SharedProblems& problems);

  bool given() const { return !json_.is_null(); }
  SharedProblems& problems() const { return problems_; }

  // Values of keys; null counts as missing.
  std::string Text(const char* key, const std::string& otherwise = "");
  std::optional<bool> FlagIfAny(const char* key);
  bool Flag(const char* key, bool otherwise) { return FlagIfAny(key).value_or(otherwise); }
  int64_t Number(const char* key, int64_t otherwise);  // from 0 to kMostTokens
  const TextJson& Value(const std::string& key);
  JsonPart Part(const std::string& key);
  std::vector<JsonPart> Parts(const char* key);  // of a list
  std::vector<JsonPart> Steps(const char* key);  // of a list; none, and a problem: HasTooMany()
  void Leave(std::initializer_list<const char*> keys) {
    asked_.insert(asked_.end(), keys.begin(), keys.end());
  }

  // Each adds a problem. Refuse(): Mete does not understand the part. RefuseKind(): the part's type is none
  // of `kinds`. RefuseOthers(): the part has a value under a key that no caller has read.
  void Refuse(const std::string& what, const std::string& got, const std::string& expected) const;
  void RefuseKind(const std::string& type, const std::string& kinds) const;
  void RefuseOthers() const;
  // Returns whether a list has more steps than any real file, and adds a problem if it has. `steps`: those
  // read so far.
  bool HasTooMany(size_t steps) const;

 private:
  std::string Inside(const std::string& key) const;

  const TextJson& json_;
  std::string where_;
  SharedProblems& problems_;
  std::vector<std::string> asked_;
};

// Numbers of tokens are below this bound, which is a guess: no vocabulary has 16 millions, and floats count
// so far.
inline constexpr int64_t kMostTokens = int64_t(1) << 24;

// Returns the number of a token. Nothing, and a problem of the part: it is none.
std::optional<int64_t> TokenNumber(const TextJson& json, const char* what, const JsonPart& part);

// Adds a problem of the part if a piece is longer than any of a real file: at each place of a text, what
// looks for pieces takes as many steps as the longest one has bytes.
void CheckPieceSize(const JsonPart& part, std::string_view piece);

// Returns text of a file for a message: short and without control characters.
std::string Shown(const std::string& text);

}  // namespace mete
