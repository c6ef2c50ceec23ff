// Reading JSON that anybody may have written: nesting and numbers have bounds.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace mete {

// Lists and objects within each other. Guess: ours have five. The library parses and frees any depth with a
// stack of its own, but copies and prints by recursion, 200 bytes of stack and more a level, and each level
// takes memory.
inline constexpr int kMostJsonDepth = 64;

// Json::exception where the text is not JSON, Error that names `where` where it is nested deeper than that.
nlohmann::ordered_json ParseJson(std::string_view text, const std::string& where);

// What such an exception says, for a message of ours: "key 'steps' not found", without the library's own
// number of the error.
std::string ReasonOf(const nlohmann::ordered_json::exception& e);

// Error where it is no whole number, or none of `least` to `most`.
int64_t WholeNumber(const nlohmann::ordered_json& j, const std::string& where, const char* what,
                    int64_t least = INT64_MIN, int64_t most = INT64_MAX);

// The same, where it is a list or an object of members. Error where it is none: the library goes through
// anything as though it was one, a number as a list of itself.
const nlohmann::ordered_json& List(const nlohmann::ordered_json& j, const std::string& where,
                                   const char* what);
const nlohmann::ordered_json& Object(const nlohmann::ordered_json& j, const std::string& where,
                                     const char* what);

}  // namespace mete
