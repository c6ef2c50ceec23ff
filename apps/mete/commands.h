// The commands, a file each. Every function adds its command to the tree; when the parser finds the command,
// it sets context.command.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "context.h"

namespace mete::cli {

void AddRun(CLI::App& app, Context& context);
void AddBench(CLI::App& app, Context& context);
void AddCompare(CLI::App& app, Context& context);
void AddDevices(CLI::App& app, Context& context);
void AddHelp(CLI::App& app, Context& context);
void AddInspect(CLI::App& app, Context& context);
void AddKeys(CLI::App& app, Context& context);
void AddMachine(CLI::App& app, Context& context);
void AddPlan(CLI::App& app, Context& context);
void AddProfile(CLI::App& app, Context& context);
void AddQuantize(CLI::App& app, Context& context);
void AddReport(CLI::App& app, Context& context);
void AddServe(CLI::App& app, Context& context);
void AddSimulate(CLI::App& app, Context& context);
void AddTop(CLI::App& app, Context& context);
void AddWorker(CLI::App& app, Context& context);
void AddZoo(CLI::App& app, Context& context);
void AddCompletion(CLI::App& app, Context& context);

// Builds the whole tree of commands.
void BuildCli(CLI::App& app, Context& context);

// These texts are made from the tree, in completion.cc and man.cc.
std::string CompletionScript(const CLI::App& app, const std::string& shell);  // bash, zsh or fish
std::string ManPage(const CLI::App& app);

}  // namespace mete::cli
