// Taking a TOML table apart so that every problem has its line, and unknown keys are found.
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

// A file's text as a table; Error with the place where it is not TOML, or where it is longer than a
// description can be.
toml::table ParseToml(std::string_view text, const std::string& path);

// The three kinds of files that describe hardware look alike from outside.
enum class Description { kMachine, kSimulatedDevices, kPool };

// Which kind a file is, by the tables that only that kind has; nothing where it has none of them.
std::optional<Description> DescriptionOf(const toml::table& table);

// Error where the file is of another kind than `expected`, which says the flag that takes it.
void RefuseOtherDescription(const toml::table& table, const std::string& path, Description expected);

class TomlKeys {
 public:
  // `what` names the table in messages: "cluster 'big'".
  TomlKeys(const toml::table& table, std::string path, std::string what, Problems& problems)
      : table_(table), path_(std::move(path)), what_(std::move(what)), problems_(problems) {}

  // Each takes a key and adds a problem where it is missing or wrong; what is returned then is of no use,
  // since reading fails in the end.
  std::string Text(const char* key);
  Figure TakeFigure(const char* key, double least, double most);
  // without a source: no figure of a machine, or one whose table has it
  double Number(const char* key, double least, double most);
  int Count(const char* key, int most, std::optional<int> otherwise = {});
  const toml::node* Find(const char* key);  // nullptr where it is missing, which is no problem
  std::vector<const toml::table*> Tables(const char* key);

  void RefuseOthers();  // keys that nobody took
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
