// mete help: prints the text of --help, and topics that are no commands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/nearest.h"
#include "commands.h"
#include "help.h"
#include "model_flags.h"
#include "pictures.h"
#include "show.h"
#include "terminal.h"

namespace mete::cli {
namespace {

std::string HelpOf(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "preprocess") return FilledText(PreprocessHelp(), HelpColumns());
  if (words.size() == 1 && words[0] == "heads") return FilledText(HeadsHelp(), HelpColumns());
  const CLI::App* at = &app;
  std::string path = app.get_name();
  for (const std::string& word : words) {
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* sub : at->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(sub->get_name());
      if (sub->get_name() == word) next = sub;
    }
    if (at == &app) names.insert(names.end(), {"preprocess", "heads"});
    if (!next && names.empty())
      throw UsageError(
          fmt::format("[help] '{}' has no further commands; got '{}'; try 'mete help {}'", path, word, word));
    if (!next)
      throw UsageError(fmt::format("[help] no such command or topic of '{}'; got '{}'{}", path, word,
                                   ExpectedOneOf(word, names)));
    at = next;
    path += " " + word;
  }
  // CLI::App::help() would print the help of the command that runs, which is this one
  return at->get_formatter()->make_help(at, path, CLI::AppFormatMode::Normal);
}

}  // namespace

void AddHelp(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("help", "print the help of a command, or of a topic: preprocess, heads");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "a command or topic; none: of all");
  AddJsonFlag(*command, context);
  command->footer(
      "Examples:\n"
      "  mete help zoo make\n"
      "  mete help preprocess");
  command->callback([words, &app, &context] {
    context.command = [words, &app, &context] {
      const std::string text = HelpOf(app, *words);
      if (context.json) PrintJson({{"help", text}});
      else fmt::print("{}", text);
    };
  });
}

}  // namespace mete::cli
