#include <fmt/ranges.h>

#include "machine/toml_keys.h"
#include "mete/tensor.h"
#include "processor/emulated/emulated.h"

namespace mete {
namespace {

bool IsElementType(const std::string& name) {
  for (int t = int(DType::kF32); t <= int(DType::kBool); ++t)
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

}  // namespace

void ReadEmulation(TomlKeys& keys, ProcessorEntry& entry) {
  constexpr double kMostUs = 1e6;  // guess: a second is more than any device takes
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
  const toml::node* lacks = keys.Find("lacks");
  const toml::array* types = lacks ? lacks->as_array() : nullptr;
  if (lacks && !types) keys.Problem(lacks, "'lacks' is no list of element types, such as [\"i8\", \"u8\"]");
  if (types)
    for (const toml::node& type : *types) {
      e.lacks.push_back(type.value_or(std::string()));
      if (!IsElementType(e.lacks.back()))
        keys.Problem(&type, "is no element type; got '{}', expected one like f32 or i8",
                     Printable(e.lacks.back()));
    }
  entry.timed_settings = fmt::format("{} {} {} {} {}", e.launch_us, e.map_us, e.map_us_per_mib, e.wake_us,
                                     fmt::join(e.lacks, ","));
  entry.settings = std::move(e);
}

}  // namespace mete
