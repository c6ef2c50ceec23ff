// Validators of flags' values. A validator returns the middle part of an error message: "[--policy] got
// 'adaptve', expected one of ...; try adaptive".
#pragma once

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <vector>

#include "base/nearest.h"

namespace mete::cli {

// Accepts one of `words`. Completion scripts read the words from the validator's description.
inline CLI::Validator OneOf(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& word) {
    const bool known = std::find(words.begin(), words.end(), word) != words.end();
    return known ? std::string() : fmt::format("no such word; got '{}'{}", word, ExpectedOneOf(word, words));
  };
  return CLI::Validator(check, fmt::format("{{{}}}", fmt::join(words, ",")));
}

// Accepts a number from `least` to `most`.
inline CLI::Validator Between(double least, double most) {
  const auto check = [=](const std::string& word) {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc() && end == word.data() + word.size() && value >= least && value <= most)
      return std::string();
    return fmt::format("out of range; got '{}', expected {} to {}", word, least, most);
  };
  return CLI::Validator(check, "");
}

// Refuses an option beside any of these options of its command; the command may lack some of them.
inline void ExcludeOthers(CLI::App& command, CLI::Option& option, std::initializer_list<const char*> others) {
  for (const char* name : others)
    if (CLI::Option* other = command.get_option_no_throw(name)) option.excludes(other);
}

inline CLI::Validator Folder() {
  const auto check = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error) ? std::string()
                                                      : fmt::format("no such folder; got '{}'", path);
  };
  return CLI::Validator(check, "");
}

}  // namespace mete::cli
