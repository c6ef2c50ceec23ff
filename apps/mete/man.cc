// mete --man: the manual page in roff, made from the command tree.
#include <fmt/format.h>

#include <sstream>

#include "commands.h"
#include "help.h"
#include "pictures.h"
#include "show.h"

namespace mete::cli {
namespace {

std::vector<const CLI::App*> Below(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Escapes text that roff would read as a request or a special character.
std::string Escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') out += "\\\\";
    else if (c == '-') out += "\\-";
    else out += c;
  }
  return !out.empty() && (out[0] == '.' || out[0] == '\'') ? "\\&" + out : out;
}

constexpr int kManColumns = 64;  // of 80: man(1) indents twice, and does not break verbatim lines

std::string Spelling(const CLI::Option& option) {
  std::string names;
  auto add = [&](const std::string& dashes, const std::string& name) {
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", Escaped(dashes + name));
  };
  for (const std::string& n : option.get_snames()) add("-", n);
  for (const std::string& n : option.get_lnames()) add("--", n);
  if (names.empty()) return "\\fI" + Escaped(option.get_name()) + "\\fR";
  return option.get_items_expected_max() == 0 ? names : names + " \\fI" + Escaped(TypeOf(option)) + "\\fR";
}

std::string Options(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* option : app.get_options()) {
    out += fmt::format(".TP\n{}\n{}\n", Spelling(*option), Escaped(DescriptionOf(*option)));
  }
  return out;
}

// Formats a footer: lines at the margin form paragraphs, indented lines stay verbatim.
std::string Footer(const std::string& footer) {
  std::istringstream lines(footer);
  std::string out;
  bool verbatim = false;
  const auto set_verbatim = [&](bool on) {
    if (on != verbatim) out += on ? ".PP\n.nf\n.RS\n" : ".RE\n.fi\n";
    verbatim = on;
  };
  for (std::string line; std::getline(lines, line);) {
    set_verbatim(!line.empty() && line[0] == ' ');
    out += line.empty() ? ".PP\n" : Escaped(verbatim ? line.substr(2) : line) + "\n";
  }
  set_verbatim(false);
  return out.empty() ? "" : ".PP\n" + out;
}

std::string Commands(const CLI::App& app, const std::string& prefix) {
  std::string out;
  for (const CLI::App* sub : Below(app)) {
    const std::string name = prefix + " " + sub->get_name();
    std::string usage = "\\fB" + Escaped(name) + "\\fR";
    for (const CLI::Option* option : sub->get_options())
      if (option->get_positional())
        usage += option->get_required() ? fmt::format(" \\fI{}\\fR", Escaped(option->get_name()))
                                        : fmt::format(" [\\fI{}\\fR...]", Escaped(option->get_name()));
    out += fmt::format(".SS {}\n{} [\\fIoptions\\fR]\n.PP\n{}.\n{}{}", Escaped(name), usage,
                       Escaped(sub->get_description()), Options(*sub),
                       Footer(FilledText(sub->get_footer(), kManColumns)));
    out += Commands(*sub, name);
  }
  return out;
}

}  // namespace

std::string ManPage(const CLI::App& app) {
  std::string out = ".TH METE 1 \"\" \"mete " METE_VERSION "\" \"User Commands\"\n";
  out += ".SH NAME\nmete \\- run neural networks on processors of unequal speed\n";
  out += ".SH SYNOPSIS\n\\fBmete\\fR \\fIcommand\\fR [\\fIoptions\\fR]\n";
  out += fmt::format(".SH DESCRIPTION\n{}\n.SH OPTIONS\n{}.SH COMMANDS\n{}", Escaped(app.get_description()),
                     Options(app), Commands(app, "mete"));
  out += ".SH EXIT STATUS\n";
  for (const ExitCodeRow& row : kExitCodes)
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", int(row.code), Escaped(row.meaning));
  out += ".SH ENVIRONMENT\n";
  for (const EnvironmentRow& row : kEnvironment)
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", row.name, Escaped(row.meaning));
  out += ".SH PREPROCESSING\n" + Footer(FilledText(PreprocessHelp(), kManColumns));
  out += ".SH HEADS\n" + Footer(FilledText(HeadsHelp(), kManColumns));
  const std::string footer = app.get_footer();
  return out + ".SH EXAMPLES\n" +
         Footer(FilledText(footer.substr(footer.find("Examples:\n") + 10), kManColumns));
}

}  // namespace mete::cli
