// Reads the keys of a TOML table, so that every problem names its line and unknown keys are found.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problems.h"
#include "machine/file.h"

namespace mete {

// Parses the text of a file. Throws Error with the position if it is not TOML, and Error if it is longer than
// a description can be.
toml::table ParseToml(std::string_view text, const std::string& path);

// The two kinds of TOML files that describe hardware: file.h, pool_file.h.
enum class Description { kMachine, kDevices };

// Returns the kind of a file, by the tables that only this kind has; nothing if it has none of them.
std::optional<Description> DescriptionOf(const toml::table& table);

// Throws Error if the file is of another kind than `expected`; the message names the flag that takes the
// file.
void RefuseOtherDescription(const toml::table& table, const std::string& path, Description expected);

class TomlKeys {
 public:
  // `what` names the table in messages: "cluster 'big'".
  TomlKeys(const toml::table& table, std::string path, std::string what, Problems& problems)
      : table_(table), path_(std::move(path)), what_(std::move(what)), problems_(problems) {}

  // Each of these functions reads a key, and adds a problem if the key is missing or its value wrong. The
  // value returned then does not matter, since reading the file fails in the end.
  std::string Text(const char* key);
  Figure TakeFigure(const char* key, double least, double most);
  // a number without a source of its own
  double Number(const char* key, double least, double most);
  int Count(const char* key, int most, std::optional<int> otherwise = {});
  const toml::node* Find(const char* key);  // nullptr if the key is missing, which is not a problem
  std::vector<const toml::table*> Tables(const char* key);

  void RefuseOthers();  // adds a problem for each key that was not read
  template <class... A>
  void Problem(const toml::node* at, fmt::format_string<A...> format, A&&... args) {
    problems_.Try(
        [&] { Invalid(Where(at), "{}: {}", what_, fmt::format(format, std::forward<A>(args)...)); });
  }
  std::string_view what() const { return what_; }

 private:
  const toml::node* Need(const char* key, const char* expected);
  std::string Where(const toml::node* at) const;

  const toml::table& table_;
  const std::string path_, what_;
  Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace mete
