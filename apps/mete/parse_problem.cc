#include "parse_problem.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/nearest.h"
#include "base/error.h"

namespace mete::cli {
namespace {

const CLI::App* Deepest(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands()[0];
  return at;
}

std::vector<const CLI::App*> Below(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> NamesOf(const std::vector<const CLI::App*>& apps) {
  std::vector<std::string> names;
  for (const CLI::App* a : apps) names.push_back(a->get_name());
  return names;
}

std::vector<std::string> FlagsOf(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

// Collects the commands in and below `app` that have the flag: "mete bench".
void CollectOwners(const CLI::App& app, const std::string& path, const std::string& flag,
                   std::vector<std::string>& owners) {
  const std::vector<std::string> flags = FlagsOf(app);
  if (std::find(flags.begin(), flags.end(), flag) != flags.end()) owners.push_back(fmt::format("'{}'", path));
  for (const CLI::App* sub : Below(app)) CollectOwners(*sub, path + " " + sub->get_name(), flag, owners);
}

std::string HelpOf(const CLI::App& app) { return fmt::format("'{} --help'", CommandPath(app)); }

std::string UnknownFlag(const CLI::App& app, std::string flag) {
  flag = Printable(flag.substr(0, flag.find('=')));
  const std::vector<std::string> own = FlagsOf(*Deepest(app));
  if (std::find(own.begin(), own.end(), flag) != own.end())
    return fmt::format(
        "[{0}] flags stand behind their command; got {0} before it, expected '{1} {0}'; try {2}", flag,
        CommandPath(app), HelpOf(app));
  const std::string head = fmt::format("[{}] '{}' has no such flag", flag, CommandPath(app));
  std::vector<std::string> owners;
  CollectOwners(app, app.get_name(), flag, owners);
  const auto near = NearestNames(flag, own);
  if (owners.empty() && !near.empty())
    return fmt::format("{}; try {}, or {}", head, fmt::join(near, " or "), HelpOf(app));
  if (owners.empty()) return fmt::format("{}; try {}", head, HelpOf(app));
  constexpr size_t kShown = 4;
  const std::string more = owners.size() > kShown ? " and others" : "";
  owners.resize(std::min(owners.size(), kShown));
  return fmt::format("{}; {}{} {} it, behind the command's name; try {}", head, fmt::join(owners, ", "), more,
                     owners.size() + more.size() > 1 ? "have" : "has", HelpOf(app));
}

// Returns for example "mete bench MODEL".
std::string Usage(const CLI::App& app) {
  std::string usage = CommandPath(app);
  for (const CLI::Option* o : Deepest(app)->get_options())
    if (o->get_positional()) usage += o->get_required() ? " " + o->get_name() : " [" + o->get_name() + "]";
  return usage;
}

std::string UnknownWord(const CLI::App& app, const std::string& word) {
  const std::string shown = Printable(word);
  const std::vector<std::string> commands = NamesOf(Below(*Deepest(app)));
  if (commands.empty())
    return fmt::format("[usage] '{}' takes no further argument; got '{}', expected '{}'; try {}",
                       CommandPath(app), shown, Usage(app), HelpOf(app));
  if (word.ends_with(".onnx") || word.ends_with(".tflite") || word.ends_with(".prototxt"))
    return fmt::format(
        "[usage] a command is missing before the model; got '{}', expected one of {}; try '{} run {}'", shown,
        fmt::join(commands, ", "), CommandPath(app), shown);
  const auto near = NearestNames(word, commands);
  return fmt::format("[usage] '{}' has no command '{}'; expected one of {}; try {}{}", CommandPath(app),
                     shown, fmt::join(commands, ", "),
                     near.empty() ? "" : fmt::format("'{} {}' or ", CommandPath(app), near[0]), HelpOf(app));
}

std::string Unexpected(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  for (const std::string& word : words)
    if (word.starts_with("-")) return UnknownFlag(app, word);
  return UnknownWord(app, words.empty() ? "" : words[0]);
}

std::string Missing(const CLI::App& app, const std::string& text) {
  if (!app.remaining(true).empty() && text.starts_with("A subcommand")) return Unexpected(app);
  const std::vector<std::string> commands = NamesOf(Below(*Deepest(app)));
  if (!commands.empty())
    return fmt::format("[usage] '{}' needs a command; expected one of {}; try {}", CommandPath(app),
                       fmt::join(commands, ", "), HelpOf(app));
  return fmt::format("[usage] {} is missing; expected '{}'; try {}",
                     text.substr(0, text.find(" is required")), Usage(app), HelpOf(app));
}

// Splits "--runs: 1 required N missing" or "--threads: got ..." into the flag or argument and the rest.
std::pair<std::string, std::string> SplitName(const std::string& text) {
  const size_t colon = text.find(": ");
  if (colon == std::string::npos || text.substr(0, colon).find(' ') != std::string::npos)
    return {"usage", text};
  return {text.substr(0, colon), text.substr(colon + 2)};
}

template <class Kind>
bool Is(const CLI::ParseError& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

// Returns the last name of "-o,--output".
std::string LongName(const std::string& names) { return names.substr(names.rfind(',') + 1); }

}  // namespace

std::string CommandPath(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands()[0];
    path += " " + at->get_name();
  }
  return path;
}

std::string DescribeParseProblem(const CLI::App& app, const CLI::ParseError& error) {
  const std::string text = error.what(), help = fmt::format("; try {}", HelpOf(app));
  if (Is<CLI::ExtrasError>(error)) return Unexpected(app);
  if (Is<CLI::RequiredError>(error)) return Missing(app, text);
  if (const size_t at = text.find(" excludes "); Is<CLI::ExcludesError>(error) && at != std::string::npos)
    return fmt::format("[{}] excludes {}; got both, expected one of them{}", LongName(text.substr(0, at)),
                       LongName(text.substr(at + 10)), help);
  if (const size_t at = text.find(" requires "); Is<CLI::RequiresError>(error) && at != std::string::npos)
    return fmt::format("[{0}] needs {1}; got {0} alone, expected both{2}", LongName(text.substr(0, at)),
                       LongName(text.substr(at + 10)), help);
  if (const size_t at = text.find(": At Most "); at != std::string::npos)
    return fmt::format("[{}] is given twice; expected it once{}", LongName(text.substr(0, at)), help);
  constexpr std::string_view kConvert = "Could not convert: ";
  if (const size_t at = text.find(" = "); text.starts_with(kConvert) && at != std::string::npos)
    return fmt::format("[{}] not a number; got '{}'{}",
                       LongName(text.substr(kConvert.size(), at - kConvert.size())),
                       Printable(text.substr(at + 3)), help);
  const auto [name, rest] = SplitName(text);
  if (const size_t at = rest.find(" required "); rest.ends_with(" missing") && at != std::string::npos) {
    const std::string type = rest.substr(at + 10, rest.size() - at - 10 - 8);
    return fmt::format("[{0}] its value is missing; expected {0} {1}{2}", LongName(name),
                       type.substr(0, type.find(":{")), help);
  }
  return fmt::format("[{}] {}{}", LongName(name), Printable(rest),
                     rest.find("; try ") == std::string::npos ? help : "");
}

}  // namespace mete::cli
