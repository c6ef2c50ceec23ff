// mete keys: certificates and tokens by which callers and workers know each other.
#include "network/keys/keys.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "checks.h"
#include "commands.h"
#include "network/keys/list.h"
#include "network/keys/make.h"
#include "model_flags.h"
#include "terminal.h"

namespace mete::cli {
namespace {

struct MakeFlags {
  std::string folder;
  std::vector<std::string> hosts;
  int days = kHostDays;
  bool renew = false;
};

std::string Joined(const std::vector<std::string>& texts) {
  return texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, " "));
}

// What is wrong with a NAME only the command line can mend.
std::vector<Host> ParseHosts(const std::vector<std::string>& texts) try {
  std::vector<Host> hosts;
  for (const std::string& text : texts) hosts.push_back(ParseHost(text));
  return hosts;
} catch (const Error& e) {
  throw UsageError(e.what());
}

Json HostsToJson(const std::vector<MadeHost>& hosts) {
  Json json = Json::array();
  for (const MadeHost& h : hosts)
    json.push_back({{"name", h.name},
                    {"folder", h.folder},
                    {"addresses", h.addresses},
                    {"valid_until", FormatTimestamp(h.valid_until)}});
  return json;
}

void Make(const MakeFlags& flags, const Context& context) {
  const MadeKeys made =
      MakeKeys(flags.folder, ParseHosts(flags.hosts), {.days = flags.days, .renew = flags.renew});
  if (context.json)
    return PrintJson({{"folder", flags.folder},
                      {"made_authority", made.made_authority},
                      {"hosts", HostsToJson(made.hosts)}});
  Rows rows{{"host", "addresses", "valid until", "copy this folder to the host"}};
  for (const MadeHost& h : made.hosts)
    rows.push_back({h.name, Joined(h.addresses), FormatDate(h.valid_until), h.folder});
  fmt::print("{}", FormatTable(rows, "lllw"));
  if (made.made_authority)
    PrintText(fmt::format("\n{}/{} signs for further hosts: it stays here, and nobody else should have it.",
                          flags.folder, kAuthorityKeyFile));
}

void Token(const std::string& path, const Context& context) {
  MakeToken(path);
  if (context.json) PrintJson({{"file", path}});
  else
    PrintText(fmt::format("{}: give each host a copy; every program that has it may use the workers", path));
}

Json ToJson(const CertificateFacts& c) {
  Json json{{"file", c.file},
            {"name", c.name},
            {"addresses", c.addresses},
            {"authority", c.is_authority},
            {"signed", c.is_signed}};
  if (!c.sha256.empty()) {
    json["valid_from"] = FormatTimestamp(c.valid_from);
    json["valid_until"] = FormatTimestamp(c.valid_until);
    json["days_left"] = DaysUntil(c.valid_until);
    json["sha256"] = c.sha256;
  }
  json["problem"] = c.problem.empty() ? Json() : Json(c.problem);
  return json;
}

// The fingerprint has a line of its own: it is longer than all else together.
// On one line, as other programs print it, or on two of a terminal that is too narrow for 32 bytes.
std::string FingerprintText(const std::string& sha256) {
  constexpr size_t kIndent = 4, kHalf = 3 * 16;  // "1E:"
  const size_t columns = size_t(TerminalColumns(1));
  if (columns == 0 || kIndent + sha256.size() <= columns || sha256.size() < kHalf)
    return fmt::format("    {}\n", sha256);
  return fmt::format("    {}\n    {}\n", sha256.substr(0, kHalf), sha256.substr(kHalf));
}

void PrintTable(const std::vector<CertificateFacts>& all) {
  Rows rows{{"name", "addresses", "valid until", "days left", "state"}};
  for (const CertificateFacts& c : all) {
    const bool is_read = !c.sha256.empty();
    const std::string good = c.is_authority ? "good, the authority" : "good";
    rows.push_back({is_read ? c.name : "?", Joined(c.addresses), is_read ? FormatDate(c.valid_until) : "-",
                    is_read ? std::to_string(DaysUntil(c.valid_until)) : "-",
                    c.problem.empty() ? good : c.problem});
  }
  fmt::print("{}\nSHA-256 fingerprints\n", FormatTable(rows, "lllrw"));
  for (const CertificateFacts& c : all)
    if (!c.sha256.empty()) fmt::print("  {}\n{}", c.file, FingerprintText(c.sha256));
}

void Show(const std::string& folder, const Context& context) {
  const std::vector<CertificateFacts> all = ListCertificates(folder);
  if (!context.json) return PrintTable(all);
  Json json = Json::array();
  for (const CertificateFacts& c : all) json.push_back(ToJson(c));
  PrintJson({{"certificates", json}});
}

constexpr const char* kFooter =
    R"(FOLDER gets ca.pem and ca-key.pem, the authority, which stays with you, and a folder for each host with ca.pem, cert.pem and
key.pem: copy only that one to the host. A host that is called by an IP address needs it here. Certificates are valid from a day
ago, because boards' clocks may be behind; a host's for 2 years, the authority's for 10.

Examples:
  mete keys make keys laptop pi-1 pi-2=192.168.1.20
  mete keys make keys pi-3=192.168.1.21,pi-3.local
  mete keys make keys pi-1 --renew)";

void AddMake(CLI::App& keys, Context& context) {
  CLI::App* make =
      keys.add_subcommand("make", "make keys and certificates for hosts, and the authority that signs them");
  auto flags = std::make_shared<MakeFlags>();
  make->add_option("FOLDER", flags->folder, "where they go; an authority that is there signs")->required();
  make->add_option("NAME", flags->hosts,
                   "a host, perhaps with other names and IP addresses: NAME=ADDRESS,ADDRESS")
      ->required();
  make->add_option("--days", flags->days, "how long the hosts' certificates are valid")
      ->type_name("N")
      ->check(Between(1, kAuthorityDays))
      ->capture_default_str();
  make->add_flag("--renew", flags->renew,
                 "new keys for hosts that have some; with NAME alone they keep their addresses");
  AddJsonFlag(*make, context);
  make->footer(kFooter);
  make->callback([flags, &context] { context.command = [flags, &context] { Make(*flags, context); }; });
}

void AddToken(CLI::App& keys, Context& context) {
  CLI::App* token =
      keys.add_subcommand("token", "make a random token, for networks where certificates are too much");
  auto path = std::make_shared<std::string>();
  token->add_option("FILE", *path, "the new file")->required();
  AddJsonFlag(*token, context);
  token->footer(
      "A token says which callers may use a worker; it hides nothing from other programs on the network. "
      "Certificates do both.\n"
      "\n"
      "Examples:\n"
      "  mete keys token token.txt\n"
      "  mete keys token ~/.mete-token --json");
  token->callback([path, &context] { context.command = [path, &context] { Token(*path, context); }; });
}

void AddShow(CLI::App& keys, Context& context) {
  CLI::App* show = keys.add_subcommand(
      "show",
      "list certificates: their hosts, how long they are valid, and whether the authority has signed them");
  auto folder = std::make_shared<std::string>();
  show->add_option("FOLDER", *folder, "of 'mete keys make', or the folder of a host")->required();
  AddJsonFlag(*show, context);
  show->footer(
      "Examples:\n"
      "  mete keys show keys\n"
      "  mete keys show keys/pi-1\n"
      "  mete keys show keys --json | jq '.certificates[] | select(.days_left < 30).name'");
  show->callback([folder, &context] { context.command = [folder, &context] { Show(*folder, context); }; });
}

}  // namespace

void AddKeys(CLI::App& app, Context& context) {
  CLI::App* keys = app.add_subcommand(
      "keys", "make and list the certificates by which callers and workers know each other");
  keys->require_subcommand(1);
  keys->footer(
      "Examples:\n"
      "  mete keys make keys laptop pi-1 pi-2=192.168.1.20\n"
      "  mete keys show keys");
  AddMake(*keys, context);
  AddToken(*keys, context);
  AddShow(*keys, context);
}

}  // namespace mete::cli
