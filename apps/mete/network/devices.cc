// mete devices: which workers there are, and whether those of a file are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <set>

#include "checks.h"
#include "commands.h"
#include "network/discovery/discovery.h"
#include "network/workers.h"
#include "processor/make/make_processor.h"
#include "model_flags.h"
#include "terminal.h"

namespace mete::cli {
namespace {

struct DevicesFlags {
  double timeout_s = 3;  // guess: Avahi says after a second what it knows, but hosts that sleep answer late
  bool toml = false;
  std::string file;  // whose devices are asked; empty: the network is
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

// The file's names are different ones, and the first is ours. How workers know us the network does not say.
void PrintToml(const std::vector<FoundDevice>& found) {
  fmt::print(
      "name = \"Found on the network\"\n"
      "keys = \"keys/self\"  # this device's folder of 'mete keys make'; or token = FILE, or insecure = "
      "true\n\n"
      "[[device]]  # the caller's own\nname = \"self\"\n");
  std::set<std::string> names{"self"};
  for (const FoundDevice& d : found) {
    std::string name = d.name;
    for (int i = 2; !names.insert(name).second; ++i) name = fmt::format("{}-{}", d.name, i);
    fmt::print("\n[[device]]  # {}\nname = {}\naddress = {}\n", d.host, Quoted(name), Quoted(Endpoint(d)));
  }
}

void PrintTable(const std::vector<FoundDevice>& found, const Context& context) {
  if (found.empty())
    return PrintNote(context, "no worker found; try a longer --timeout, or whether one runs ('mete worker')");
  Rows rows{{"name", "host", "address", "version", "cores"}};
  for (const FoundDevice& d : found)
    rows.push_back(
        {d.name, d.host, Endpoint(d), Known(d.version), d.cores > 0 ? std::to_string(d.cores) : "-"});
  fmt::print("{}", FormatTable(rows, "llllr"));
}

std::chrono::milliseconds TimeoutOf(const DevicesFlags& flags) {
  return std::chrono::milliseconds(std::llround(flags.timeout_s * 1e3));
}

std::vector<FoundDevice> Find(const DevicesFlags& flags, const Context& context) {
  const Progress progress(context, "asking the network");
  return FindDevices(TimeoutOf(flags));
}

Json ToJson(const HostState& s) {
  const bool there = s.why_not.empty(), remote = !s.host.address.empty();
  Json json{{"name", s.host.name},
            {"address", remote ? Json(s.host.address) : Json()},
            {"there", there},
            {"state", s.state},
            {"problem", there ? Json() : Json(s.why_not)},
            {"version", there ? Json(s.hello.version) : Json()}};
  if (there && remote)
    json.update({{"machine", s.hello.machine},
                 {"threads", s.hello.threads},
                 {"deployments", s.hello.deployments},
                 {"round_trip_ms", s.round_trip_ms}});
  return json;
}

void PrintStates(const std::vector<HostState>& states) {
  Rows rows{{"name", "address", "state", "version", "machine", "threads", "deployments", "round trip"}};
  for (const HostState& s : states) {
    if (s.why_not.empty() && !s.host.address.empty())
      rows.push_back({s.host.name, s.host.address, s.state, s.hello.version, Known(s.hello.machine),
                      std::to_string(s.hello.threads), std::to_string(s.hello.deployments),
                      FormatMs(s.round_trip_ms)});
    else
      rows.push_back(
          {s.host.name, Known(s.host.address), s.state, Known(s.hello.version), "-", "-", "-", "-"});
  }
  fmt::print("{}", FormatTable(rows, "lllllrrr"));
  for (const HostState& s : states)
    if (!s.why_not.empty()) PrintText(s.why_not);
}

// Asks the workers of a file. FAILURE in the end where one of them is not there.
void ShowStates(const DevicesFlags& flags, const Context& context) {
  const std::vector<HostState> states = [&] {
    const PoolFile file = ReadPoolThatIsThere(flags.file);
    const Progress progress(context, "asking workers");
    return AskHosts(file, TimeoutOf(flags), context);
  }();
  Json json = Json::array();
  std::vector<std::string> missing;
  for (const HostState& s : states) {
    json.push_back(ToJson(s));
    if (!s.why_not.empty()) missing.push_back(s.host.name);
  }
  if (context.json) PrintJson({{"devices", json}});
  else PrintStates(states);
  if (!missing.empty())
    throw Error(Code::kUnavailable,
                fmt::format("[{}] {} of {} workers cannot be used: {}; try 'mete worker' there", flags.file,
                            missing.size(), states.size() - 1, fmt::join(missing, ", ")));
}

void ShowFound(const DevicesFlags& flags, const Context& context) {
  if (flags.toml && context.json) throw UsageError("[--toml] is another form than --json; try one of them");
  const std::vector<FoundDevice> found = Find(flags, context);
  if (flags.toml) return PrintToml(found);
  if (!context.json) return PrintTable(found, context);
  Json json = Json::array();
  for (const FoundDevice& d : found) json.push_back(ToJson(d));
  PrintJson({{"devices", json}});
}

constexpr const char* kFooter =
    R"(Workers tell of themselves by mDNS, through Avahi: the packages avahi-daemon and avahi-utils must be there on both ends. Without
it, write the file that --toml prints by hand. What the network says is not proven: certificates and tokens (mete keys) are for
that.

With --processors it asks the workers of a file instead, all at a time, as run and bench would: what is wrong with an address, a key,
a token or a version is told, and the exit code is 1 unless all are there.

Examples:
  mete devices
  mete devices --timeout 10 --json
  mete devices --toml > devices.toml
  mete devices --processors devices.toml)";

}  // namespace

void AddDevices(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("devices", "list the workers on the local network, or ask those of a file");
  auto flags = std::make_shared<DevicesFlags>();
  CLI::Option* file =
      command->add_option("--processors", flags->file, "ask the workers of this file whether they are there")
          ->type_name("FILE.toml");
  command
      ->add_option("--timeout", flags->timeout_s,
                   "how long to look for them, or to wait for an answer, at the longest")
      ->type_name("SECONDS")
      ->check(Between(0.1, 600))
      ->capture_default_str();
  command->add_flag("--toml", flags->toml, "print what was found as a devices file")->excludes(file);
  AddJsonFlag(*command, context);
  command->footer(kFooter);
  command->callback([flags, &context] {
    context.command = [flags, &context] {
      if (flags->file.empty()) ShowFound(*flags, context);
      else ShowStates(*flags, context);
    };
  });
}

}  // namespace mete::cli
