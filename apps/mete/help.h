// Formats --help for the width of the terminal: flags in two columns, texts in paragraphs, examples that can
// be copied.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mete::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// Formats a footer for a terminal. Lines that begin at the margin form paragraphs, which are filled. Indented
// lines stay lines; if one is too long, it continues on the next line, after " \" if it is a command.
std::string FilledText(const std::string& text, int columns);

// UsageOf() returns "--threads N" or "MODEL"; TypeOf() the type of the value, without the words that a
// validator permits.
std::string UsageOf(const CLI::Option& option);
std::string TypeOf(const CLI::Option& option);
// Returns the permitted words of an option: those of a validator, "{bash,zsh,fish}", or of a type,
// "nchw|nhwc". Empty if any value is permitted.
std::vector<std::string> ValuesOf(const CLI::Option& option);
// Returns the option's description with its values, if these are few, and its default.
std::string DescriptionOf(const CLI::Option& option);

}  // namespace mete::cli
