// Reads JSON from untrusted files: the depth of nesting and the range of numbers are bounded. Writes JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace mete {

// The most levels of lists and objects within each other. This value is a guess: Mete's own files have five.
// The JSON library parses and frees any depth without recursion, but it copies and prints by recursion, which
// takes 200 bytes of stack or more for each level, and each level takes memory.
inline constexpr int kMostJsonDepth = 64;

// Throws INVALID_ARGUMENT, which names `where`, if lists and objects of `text` are nested deeper than
// kMostJsonDepth.
void CheckJsonDepth(std::string_view text, const std::string& where);

// Parses `text`. Throws Json::exception if the text is not JSON, and an Error that names `where` if it is
// nested deeper than kMostJsonDepth.
nlohmann::ordered_json ParseJson(std::string_view text, const std::string& where);

// Returns the text of `j`, in one line if `indent` is negative. Bytes that are no UTF-8, such as those of a
// file's name, are replaced.
std::string JsonText(const nlohmann::ordered_json& j, int indent);

// Returns the text of the exception without the JSON library's own error number, for an error message of
// Mete: "key 'steps' not found".
std::string ReasonOf(const nlohmann::ordered_json::exception& e);

// Returns `j` as an integer. Throws an Error that names `what` if it is no integer or not in `least` to
// `most`.
int64_t WholeNumber(const nlohmann::ordered_json& j, const std::string& where, const char* what,
                    int64_t least = INT64_MIN, int64_t most = INT64_MAX);

// Return `j` if it is a list, or an object, and throw an Error that names `what` if not. The check is needed
// because the JSON library iterates over any value: a number is a list with itself as the only element.
const nlohmann::ordered_json& List(const nlohmann::ordered_json& j, const std::string& where,
                                   const char* what);
const nlohmann::ordered_json& Object(const nlohmann::ordered_json& j, const std::string& where,
                                     const char* what);

}  // namespace mete
