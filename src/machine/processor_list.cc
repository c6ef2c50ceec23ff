// Processors of this device, as a list names them.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/problems.h"
#include "machine/core_list.h"
#include "machine/gpu_entry.h"
#include "machine/pool_file.h"

namespace mete {
namespace {

ProcessorEntry EntryOf(const std::string& text) {
  if (text == "cpu") return {.name = text};
  if (const auto gpu = ParseGpu(text)) {
    ProcessorEntry entry{.name = text};
    SetGpu(entry, *gpu);
    return entry;
  }
  const auto cores = text.starts_with("cpu:") ? ParseCoreList(text.substr(4)) : std::nullopt;
  if (!cores)
    Invalid("--processors",
            "is no processor; got '{}', expected cpu, or cpu: and a list of cores such as cpu:0-3, or gpu, "
            "gpu:0, gpu:f16",
            Printable(text.substr(0, 80)));
  return {.name = text, .cores = *cores};
}

}  // namespace

bool IsProcessorList(const std::string& text) {
  if (text.ends_with(".toml")) return false;
  for (const std::string kind : {"cpu", "gpu"})
    if (text == kind || text.starts_with(kind + ":") || text.starts_with(kind + ",")) return true;
  return false;
}

// "cpu:0,2,cpu:1": a piece without "cpu" or "gpu" goes on with the list of cores before it.
PoolFile PoolOfList(const std::string& list) {
  PoolFile pool{.name = list, .devices = {{.name = "here"}}};
  std::vector<std::string> texts;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string piece = list.substr(at, end - at);
    if (piece.starts_with("cpu") || piece.starts_with("gpu") || texts.empty()) texts.push_back(piece);
    else texts.back() += "," + piece;
    at = end + 1;
  }
  Problems problems;
  std::set<std::string> names;
  for (const std::string& text : texts)
    problems.Try([&] {
      ProcessorEntry entry = EntryOf(text);
      if (!names.insert(text).second)
        Invalid("--processors", "has a processor twice; got {}", Printable(text));
      if (const std::string why = WhyTwice(entry, pool.devices[0].processors); !why.empty())
        Invalid("--processors", "'{}' {}", text, why);
      pool.devices[0].processors.push_back(std::move(entry));
    });
  problems.ThrowIfAny();
  return pool;
}

}  // namespace mete
