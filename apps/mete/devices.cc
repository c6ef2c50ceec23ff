// mete devices: which workers there are.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <set>

#include "commands.h"
#include "discovery/discovery.h"
#include "model_flags.h"
#include "terminal.h"

namespace mete::cli {
namespace {

struct DevicesFlags {
  double timeout_s = 3;  // guess: Avahi says after a second what it knows, but hosts that sleep answer late
  bool toml = false;
};

std::string Known(const std::string& text) { return text.empty() ? "-" : text; }

Json ToJson(const FoundDevice& d) {
  return {{"name", d.name},
          {"host", d.host},
          {"address", Endpoint(d)},
          {"version", d.version.empty() ? Json() : Json(d.version)},
          {"cores", d.cores > 0 ? Json(d.cores) : Json()}};
}

// Names are ASCII without control characters: two of these would end the text.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

// The file's names are different ones, and the first is ours.
void PrintToml(const std::vector<FoundDevice>& found) {
  fmt::print("name = \"Found on the network\"\n\n[[device]]  # the caller's own\nname = \"self\"\n");
  std::set<std::string> names{"self"};
  for (const FoundDevice& d : found) {
    std::string name = d.name;
    for (int i = 2; !names.insert(name).second; ++i) name = fmt::format("{}-{}", d.name, i);
    fmt::print("\n[[device]]  # {}\nname = {}\naddress = {}\n", d.host, Quoted(name), Quoted(Endpoint(d)));
  }
}

void PrintTable(const std::vector<FoundDevice>& found) {
  if (found.empty()) return PrintNote("no worker found; try a longer --timeout, or whether one runs ('mete worker')");
  Rows rows{{"name", "host", "address", "version", "cores"}};
  for (const FoundDevice& d : found)
    rows.push_back({d.name, d.host, Endpoint(d), Known(d.version), d.cores > 0 ? std::to_string(d.cores) : "-"});
  fmt::print("{}", FormatTable(rows, "llllr"));
}

std::vector<FoundDevice> Find(const DevicesFlags& flags) {
  const Progress progress("asking the network");
  return FindDevices(std::chrono::milliseconds(std::llround(flags.timeout_s * 1e3)));
}

void ShowFound(const DevicesFlags& flags, const Context& context) {
  if (flags.toml && context.json) throw UsageError("[--toml] is another form than --json; try one of them");
  const std::vector<FoundDevice> found = Find(flags);
  if (flags.toml) return PrintToml(found);
  if (!context.json) return PrintTable(found);
  Json json = Json::array();
  for (const FoundDevice& d : found) json.push_back(ToJson(d));
  PrintJson({{"devices", json}});
}

}  // namespace

void AddDevices(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("devices", "list the workers on the local network");
  auto flags = std::make_shared<DevicesFlags>();
  command->add_option("--timeout", flags->timeout_s, "how long to look for them at the longest")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  command->add_flag("--toml", flags->toml, "print what was found as a devices file");
  AddJsonFlag(*command, context);
  command->footer(
      "Workers tell of themselves by mDNS, through Avahi: the packages avahi-daemon and avahi-utils must be there on both ends. Without\n"
      "it, write the file that --toml prints by hand. What the network says is not proven: certificates and tokens (mete keys) are for\n"
      "that.\n"
      "\n"
      "Examples:\n"
      "  mete devices\n"
      "  mete devices --timeout 10 --json\n"
      "  mete devices --toml > devices.toml");
  command->callback([flags, &context] { context.command = [flags, &context] { ShowFound(*flags, context); }; });
}

}  // namespace mete::cli
