#include <fmt/ranges.h>

#include "kernels/reference/reference.h"
#include "machine/toml_keys.h"
#include "mete/tensor.h"
#include "processor/emulated/emulated.h"

namespace mete {
namespace {

bool IsElementType(const std::string& name) {
  for (int t = int(DType::kF32); t <= int(kLastDType); ++t)
    if (Name(DType(t)) == name) return true;
  return false;
}

bool IsFault(const std::string& text) {
  if (text == "prepare") return true;
  for (const std::string_view stage : {"run ", "hang ", "lost "}) {
    if (!text.starts_with(stage)) continue;
    const std::string number = text.substr(stage.size());
    return !number.empty() && number.size() <= 6 &&
           number.find_first_not_of("0123456789") == std::string::npos;
  }
  return false;
}

// Returns the names that the list `key` has; a `name` that is none of the kind is a problem.
template <class IsName>
std::vector<std::string> NamesIn(TomlKeys& keys, const char* key, const char* kind, const IsName& is_name) {
  std::vector<std::string> names;
  const toml::node* node = keys.Find(key);
  const toml::array* list = node ? node->as_array() : nullptr;
  if (node && !list) keys.Problem(node, "'{}' is no list of names; expected {}", key, kind);
  for (size_t i = 0; list && i < list->size(); ++i) {
    names.push_back((*list)[i].value_or(std::string()));
    if (!is_name(names.back()))
      keys.Problem(&(*list)[i], "is no name; got '{}', expected {}", Printable(names.back()), kind);
  }
  return names;
}

}  // namespace

void ReadEmulation(TomlKeys& keys, ProcessorEntry& entry) {
  constexpr double kMostUs = 1e6;            // guess: a second is more than any device takes
  constexpr double kMostPrepareMs = 60'000;  // guess: more than any device's compiler takes
  Emulation e;
  for (const auto& [key, us] :
       {std::pair{"launch_us", &e.launch_us}, std::pair{"map_us", &e.map_us},
        std::pair{"map_us_per_mib", &e.map_us_per_mib}, std::pair{"wake_us", &e.wake_us}})
    if (keys.Find(key)) *us = keys.Number(key, 0, kMostUs);
  const toml::node* fails = keys.Find("fails");
  if (fails) e.fails = keys.Text("fails");
  if (!e.fails.empty() && !IsFault(e.fails))
    keys.Problem(fails,
                 "is no fault; got '{}', expected prepare, or one of run, hang and lost with the number of a "
                 "run, such as 'run 3'",
                 Printable(e.fails));
  if (keys.Find("prepare_ms")) e.prepare_ms = keys.Number("prepare_ms", 0, kMostPrepareMs);
  e.lacks = NamesIn(keys, "lacks", "an element type such as f32 or i8", IsElementType);
  e.lacks_operators = NamesIn(keys, "lacks_operators", "an operator such as Softmax",
                              [](const std::string& name) { return FindReference(name) != nullptr; });
  entry.timed_settings = fmt::format("{} {} {} {} {} {}", e.launch_us, e.map_us, e.map_us_per_mib, e.wake_us,
                                     fmt::join(e.lacks, ","), fmt::join(e.lacks_operators, ","));
  entry.settings = std::move(e);
}

}  // namespace mete
