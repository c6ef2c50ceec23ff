// --help as wide as the terminal: flags in two columns, texts in paragraphs, examples that can be copied.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mete::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// A footer for a terminal: lines that begin at the margin are paragraphs and are filled; those that are
// indented stay lines, and what is too long of them goes on below, behind " \" where it is a command.
std::string FilledText(const std::string& text, int columns);

// "--threads N", "MODEL"; the type is that of the value, without the words that a check allows.
std::string UsageOf(const CLI::Option& option);
std::string TypeOf(const CLI::Option& option);
// The words that it takes: of a check, "{bash,zsh,fish}", or of a type, "nchw|nhwc". Empty where anything
// goes.
std::vector<std::string> ValuesOf(const CLI::Option& option);
// What is said of it: its description, its values where these are few, and its default.
std::string DescriptionOf(const CLI::Option& option);

}  // namespace mete::cli
