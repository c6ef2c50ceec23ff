// What is wrong with a command line that the parser refuses, in our words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mete::cli {

// "[--policy] no such word; got 'adaptve', expected one of ...; try adaptive". `app` has parsed as far as it
// could.
std::string DescribeParseProblem(const CLI::App& app, const CLI::ParseError& error);

// The words of the deepest command that was parsed: "mete zoo make".
std::string CommandPath(const CLI::App& app);

}  // namespace mete::cli
