#include "machine/toml_keys.h"

#include <algorithm>
#include <cmath>

#include "base/nearest.h"

namespace mete {
namespace {

constexpr size_t kMostBytes = 1 << 20;  // this value is a guess: a board's file has some kilobytes
constexpr size_t kMostText = 1000;      // this value is a guess: sources are sentences

std::string Shown(const toml::node& node) {
  if (const auto* v = node.as_string()) return fmt::format("'{}'", Printable(v->get().substr(0, 40)));
  if (const auto v = node.value<double>()) return fmt::format("{}", *v);
  return node.is_table() ? "a table" : node.is_array() ? "an array" : "something else";
}

}  // namespace

toml::table ParseToml(std::string_view text, const std::string& path) {
  if (text.size() > kMostBytes)
    Invalid(path, "too long for a description; got {} bytes, expected {} at most", text.size(), kMostBytes);
  try {
    return toml::parse(text, std::string_view(path));
  } catch (const toml::parse_error& e) {
    Invalid(fmt::format("{}:{}:{}", path, e.source().begin.line, e.source().begin.column),
            "not valid TOML; {}", Printable(std::string(e.description())));
  }
}

std::string TomlKeys::Where(const toml::node* at) const {
  return fmt::format("{}:{}", path_, (at ? at->source() : table_.source()).begin.line);
}

const toml::node* TomlKeys::Find(const char* key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  return table_.get(key);
}

const toml::node* TomlKeys::Need(const char* key, const char* expected) {
  const toml::node* node = Find(key);
  if (!node) Problem(nullptr, "'{}' is missing; expected {}", key, expected);
  return node;
}

std::string TomlKeys::Text(const char* key) {
  const toml::node* node = Need(key, "a text");
  if (!node) return "";
  const auto* text = node->as_string();
  const bool good =
      text && text->get().find_first_not_of(" \t\n") != std::string::npos && text->get().size() <= kMostText;
  if (!good)
    Problem(node, "'{}' is wrong; got {}, expected a text of 1 to {} letters", key, Shown(*node), kMostText);
  return good ? Printable(text->get()) : "";
}

double TomlKeys::Number(const char* key, double least, double most) {
  const toml::node* node = Need(key, "a number");
  if (!node) return least;
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (value && *value >= least && *value <= most) return *value;  // false for NaN
  Problem(node, "'{}' is not believed; got {}, expected a number from {} to {}", key, Shown(*node), least,
          most);
  return least;
}

int TomlKeys::Count(const char* key, int most, std::optional<int> otherwise) {
  if (otherwise && !table_.contains(key)) {
    known_.push_back(key);
    return *otherwise;
  }
  const double value = Number(key, 1, most);
  if (value != std::floor(value))
    Problem(table_.get(key), "'{}' is wrong; got {}, expected a whole number", key, value);
  return int(value);
}

Figure TomlKeys::TakeFigure(const char* key, double least, double most) {
  const toml::node* node = Need(key, "{ value = ..., source = \"...\" }");
  if (!node) return {};
  const toml::table* table = node->as_table();
  if (!table) {
    Problem(node,
            "'{}' has no source; got {}, expected {{ value = ..., source = \"...\" }}; try source = "
            "\"estimate\" where it is one",
            key, Shown(*node));
    return {};
  }
  TomlKeys keys(*table, path_, fmt::format("{}: {}", what_, key), problems_);
  const Figure figure{keys.Number("value", least, most), keys.Text("source")};
  keys.RefuseOthers();
  return figure;
}

std::optional<Description> DescriptionOf(const toml::table& table) {
  if (table.contains("cluster")) return Description::kMachine;
  if (table["device"].is_array()) return Description::kDevices;
  return {};
}

void RefuseOtherDescription(const toml::table& table, const std::string& path, Description expected) {
  const std::optional<Description> got = DescriptionOf(table);
  if (!got || *got == expected) return;
  if (expected == Description::kMachine)
    Invalid(path, "describes several devices, not one machine; try it as --processors of plan or simulate",
            path);
  Invalid(path, "describes one machine, not several devices; try --machine {}", path);
}

std::vector<const toml::table*> TomlKeys::Tables(const char* key) {
  const toml::node* node = Need(key, "an array of tables");
  std::vector<const toml::table*> tables;
  if (!node) return tables;
  const toml::array* array = node->as_array();
  for (size_t i = 0; array && i < array->size(); ++i)
    if (const toml::table* table = (*array)[i].as_table()) tables.push_back(table);
  if (!array || array->empty() || tables.size() != array->size())
    Problem(node, "'{}' is wrong; got {}, expected an array of one table or more", key, Shown(*node));
  return tables;
}

void TomlKeys::RefuseOthers() {
  for (const auto& [key, node] : table_)
    if (std::find(known_.begin(), known_.end(), key.str()) == known_.end())
      Problem(&node, "unknown key '{}'{}", Printable(std::string(key.str().substr(0, 40))),
              ExpectedOneOf(key.str(), known_));
}

}  // namespace mete
