// mete completion: completion scripts for shells, made from the command tree so that they are always up to
// date.
#include <fmt/format.h>

#include <memory>

#include "checks.h"
#include "commands.h"
#include "help.h"
#include "model_flags.h"

namespace mete::cli {
namespace {

// A command and the words that lead to it: {"zoo", "make"}.
struct Place {
  std::vector<std::string> path;
  const CLI::App* app;
};

void Collect(const CLI::App& app, const std::vector<std::string>& path, std::vector<Place>& places) {
  places.push_back({path, &app});
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    auto below = path;
    below.push_back(sub->get_name());
    Collect(*sub, below, places);
  }
}

std::vector<Place> Places(const CLI::App& app) {
  std::vector<Place> places;
  Collect(app, {}, places);
  return places;
}

std::vector<std::string> Subcommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> Spellings(const CLI::Option& option) {
  std::vector<std::string> all;
  for (const std::string& n : option.get_snames()) all.push_back("-" + n);
  for (const std::string& n : option.get_lnames()) all.push_back("--" + n);
  return all;
}

bool IsFlag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// Returns the permitted words of the command's first argument.
std::vector<std::string> ArgumentValues(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional()) return ValuesOf(*option);
  return {};
}

// Quotes a text as '...' of a shell script.
std::string Quoted(std::string text) {
  for (size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

std::string BashCase(const Place& place) {
  std::vector<std::string> words;
  for (const CLI::Option* option : place.app->get_options())
    for (const std::string& s : Spellings(*option)) words.push_back(s);
  auto next = Subcommands(*place.app);
  if (next.empty()) next = ArgumentValues(*place.app);
  return fmt::format("    {}) flags='{}'; words='{}' ;;\n",
                     Quoted(fmt::format("{}", fmt::join(place.path, " "))), fmt::join(words, " "),
                     fmt::join(next, " "));
}

// Returns the cases for options that take one of a few words.
std::string BashValues(const Place& place) {
  std::string out;
  for (const CLI::Option* option : place.app->get_options())
    for (const std::string& s : Spellings(*option))
      if (const auto values = ValuesOf(*option); !values.empty())
        out +=
            fmt::format("    {}) words='{}' ;;\n",
                        Quoted(fmt::format("{} {}", fmt::join(place.path, " "), s)), fmt::join(values, " "));
  return out;
}

std::string Bash(const CLI::App& app) {
  std::string names, cases, values;
  for (const Place& place : Places(app)) {
    cases += BashCase(place);
    values += BashValues(place);
    if (!place.path.empty())
      names += fmt::format("{}{}", names.empty() ? "" : "|",
                           Quoted(fmt::format("{}", fmt::join(place.path, " "))));
  }
  return fmt::format(
      "# bash completion for mete; try: source <(mete completion bash)\n"
      "_mete() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" path='' next='' flags='' words='' i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    next=\"${{path:+$path }}${{COMP_WORDS[i]}}\"\n"
      "    case \"$next\" in {}) path=\"$next\" ;; esac\n"
      "  done\n"
      "  case \"$path\" in\n{}  esac\n"
      "  case \"$path ${{COMP_WORDS[COMP_CWORD - 1]}}\" in\n{}  esac\n"
      "  COMPREPLY=()\n"
      "  if [[ $current == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n"
      "  elif [[ -n $words ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  else\n"
      "    compopt -o default 2>/dev/null\n"
      "  fi\n"
      "}}\n"
      "complete -F _mete mete\n",
      names, cases, values);
}

std::string ZshWords(const std::vector<std::string>& words) {
  return words.empty() ? "_files" : fmt::format("({})", fmt::join(words, " "));
}

// Returns an argument of zsh's _arguments for an option: '*' permits repetition; ':' and '[' are special and
// need a backslash.
std::string ZshOption(const CLI::Option& option, const std::string& spelling) {
  std::string help = option.get_description();
  for (size_t at = 0; (at = help.find_first_of("[]:\\", at)) != std::string::npos; at += 2)
    help.insert(at, "\\");
  return Quoted(
      fmt::format("*{}[{}]{}", spelling, help, IsFlag(option) ? "" : ":value:" + ZshWords(ValuesOf(option))));
}

std::string ZshName(const Place& place) {
  return fmt::format("_mete{}{}", place.path.empty() ? "" : "_", fmt::join(place.path, "_"));
}

std::string ZshFunction(const Place& place) {
  const auto commands = Subcommands(*place.app), values = ArgumentValues(*place.app);
  std::string out =
      ZshName(place) +
      "() {\n  local curcontext=\"$curcontext\" state line\n  typeset -A opt_args\n  _arguments -C";
  for (const CLI::Option* option : place.app->get_options())
    for (const std::string& s : Spellings(*option)) out += " \\\n    " + ZshOption(*option, s);
  if (commands.empty())
    return out + fmt::format(" \\\n    '{}:argument:{}'\n}}\n", values.empty() ? "*" : "1", ZshWords(values));
  out += fmt::format(" \\\n    '1:command:({})' \\\n    '*::argument:->rest'\n", fmt::join(commands, " "));
  out += "  [[ $state == rest ]] || return\n  case $words[1] in\n";
  for (const std::string& c : commands) out += fmt::format("    {}) {}_{} ;;\n", c, ZshName(place), c);
  return out + "  esac\n}\n";
}

std::string Zsh(const CLI::App& app) {
  std::string out = "#compdef mete\n# zsh completion for mete; try: mete completion zsh > ~/.zfunc/_mete\n";
  for (const Place& place : Places(app)) out += ZshFunction(place);
  return out + "if [ \"$funcstack[1]\" = _mete ]; then _mete \"$@\"; else compdef _mete mete; fi\n";
}

// Returns a fish condition that is true if the words so far lead to the place.
std::string FishCondition(const Place& place) {
  if (place.path.empty()) return "__fish_use_subcommand";
  std::string condition;
  for (const std::string& word : place.path)
    condition += fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ", word);
  const auto below = Subcommands(*place.app);
  return below.empty()
             ? condition
             : condition + fmt::format("; and not __fish_seen_subcommand_from {}", fmt::join(below, " "));
}

std::string FishOption(const CLI::Option& option, const std::string& condition) {
  if (Spellings(option).empty()) return "";
  std::string line = fmt::format("complete -c mete -n {}", Quoted(condition));
  for (const std::string& n : option.get_snames()) line += " -s " + n;
  for (const std::string& n : option.get_lnames()) line += " -l " + n;
  const auto values = ValuesOf(option);
  if (!values.empty()) line += fmt::format(" -x -a '{}'", fmt::join(values, " "));
  else if (!IsFlag(option)) line += " -r";
  return line + fmt::format(" -d {}\n", Quoted(option.get_description()));
}

std::string Fish(const CLI::App& app) {
  std::string out =
      "# fish completion for mete; try: mete completion fish > ~/.config/fish/completions/mete.fish\n";
  for (const Place& place : Places(app)) {
    const std::string condition = FishCondition(place);
    for (const CLI::App* sub : place.app->get_subcommands([](const CLI::App*) { return true; }))
      out += fmt::format("complete -c mete -f -n {} -a {} -d {}\n", Quoted(condition), sub->get_name(),
                         Quoted(sub->get_description()));
    if (const auto values = ArgumentValues(*place.app); !values.empty())
      out += fmt::format("complete -c mete -f -n {} -a '{}'\n", Quoted(condition), fmt::join(values, " "));
    for (const CLI::Option* option : place.app->get_options()) out += FishOption(*option, condition);
  }
  return out;
}

}  // namespace

std::string CompletionScript(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return Bash(app);
  return shell == "zsh" ? Zsh(app) : Fish(app);
}

void AddCompletion(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("completion", "print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(OneOf({"bash", "zsh", "fish"}));
  AddJsonFlag(*command, context);
  command->footer(
      "Examples:\n"
      "  source <(mete completion bash)\n"
      "  mete completion fish > ~/.config/fish/completions/mete.fish");
  command->callback([shell, &app, &context] {
    context.command = [shell, &app, &context] {
      const std::string script = CompletionScript(app, *shell);
      if (context.json) fmt::print("{}\n", Json{{"shell", *shell}, {"script", script}}.dump(2));
      else fmt::print("{}", script);
    };
  });
}

}  // namespace mete::cli
