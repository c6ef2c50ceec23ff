// Describes, in the style of Mete's errors, what is wrong with a command line that the parser refuses.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mete::cli {

// Returns for example "[--policy] no such word; got 'adaptve', expected one of ...; try adaptive". `app` is
// in the state in which the parser stopped.
std::string DescribeParseProblem(const CLI::App& app, const CLI::ParseError& error);

// Returns the words of the deepest command that was parsed: "mete zoo make".
std::string CommandPath(const CLI::App& app);

}  // namespace mete::cli
