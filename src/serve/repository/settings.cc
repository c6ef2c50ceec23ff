#include "serve/repository/settings.h"

#include <algorithm>
#include <optional>

#include "machine/toml_keys.h"

namespace mete::serve {
namespace {

// The bounds are guesses at what is no mistake.
constexpr int kMostQueuePerSlot = 10'000;
constexpr int kMostDeadlineMs = 24 * 3600 * 1000;
constexpr int kMostRows = 1024;
constexpr int kMostWarmUpRuns = 1000;
constexpr size_t kMostListed = 100;

std::optional<int> WholeIn(const toml::node& node, int least, int most) {
  const auto* number = node.as_integer();
  if (!number || number->get() < least || number->get() > most) return {};
  return int(number->get());
}

int Whole(TomlKeys& keys, const char* key, int least, int most, int otherwise) {
  const toml::node* node = keys.Find(key);
  if (!node) return otherwise;
  const std::optional<int> number = WholeIn(*node, least, most);
  if (!number) keys.Problem(node, "'{}' is wrong; expected a whole number from {} to {}", key, least, most);
  return number.value_or(otherwise);
}

bool Truth(TomlKeys& keys, const char* key, bool otherwise) {
  const toml::node* node = keys.Find(key);
  if (node && !node->is_boolean()) keys.Problem(node, "'{}' is wrong; expected true or false", key);
  return node ? node->value_or(otherwise) : otherwise;
}

int MostInBatch(TomlKeys& keys) {
  const toml::node* node = keys.Find("batch");
  if (!node || node->value_or(std::string()) == "measured") return 0;
  if (node->value_or(std::string()) == "off") return 1;
  const std::optional<int> rows = WholeIn(*node, 1, kMostRows);
  if (!rows)
    keys.Problem(node, "'batch' is wrong; expected \"measured\", \"off\" or the most rows, 1 to {}",
                 kMostRows);
  return rows.value_or(0);
}

std::optional<std::vector<int64_t>> Listed(const toml::array* list) {
  if (!list || list->empty() || list->size() > kMostListed) return {};
  std::vector<int64_t> versions;
  for (const toml::node& item : *list) {
    const auto* version = item.as_integer();
    if (!version || version->get() < 1) return {};
    versions.push_back(version->get());
  }
  std::sort(versions.begin(), versions.end());
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  return versions;
}

VersionChoice Versions(TomlKeys& keys) {
  const toml::node* node = keys.Find("versions");
  if (!node || node->value_or(std::string()) == "latest") return {};
  if (node->value_or(std::string()) == "all") return {VersionChoice::kAll, {}};
  auto listed = Listed(node->as_array());
  if (!listed)
    keys.Problem(
        node,
        "'versions' is wrong; expected \"latest\", \"all\" or a list of 1 to {} whole numbers from 1 on, "
        "such as [1, 3]",
        kMostListed);
  return {VersionChoice::kListed, std::move(listed).value_or(std::vector<int64_t>())};
}

}  // namespace

ModelSettings ParseSettings(std::string_view text, const std::string& path) {
  const toml::table table = ParseToml(text, path);
  Problems problems;
  TomlKeys keys(table, path, "settings", problems);
  const ModelSettings defaults;
  ModelSettings settings;
  settings.versions = Versions(keys);
  settings.queue_per_slot = Whole(keys, "queue_per_slot", 1, kMostQueuePerSlot, defaults.queue_per_slot);
  settings.deadline_ms = Whole(keys, "deadline_ms", 1, kMostDeadlineMs, defaults.deadline_ms);
  settings.most_in_batch = MostInBatch(keys);
  if (keys.Find("precision")) settings.precision = keys.Text("precision");
  settings.warm_up_runs = Whole(keys, "warm_up_runs", 0, kMostWarmUpRuns, defaults.warm_up_runs);
  settings.load = Truth(keys, "load", defaults.load);
  keys.RefuseOthers();
  problems.ThrowIfAny();
  return settings;
}

}  // namespace mete::serve
