// mete zoo: writes the architectures of the literature as ONNX files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "checks.h"
#include "commands.h"
#include "model_flags.h"
#include "stopwatch.h"
#include "terminal.h"
#include "zoo/zoo.h"

namespace mete::cli {
namespace {

struct MakeFlags {
  std::string name;
  std::string output;
  uint64_t seed = 1;
};

void List(const Context& context) {
  Rows rows{{"network", "parameters", ""}};
  Json json = Json::array();
  for (const ZooEntry& e : ZooList()) {
    const int64_t parameters = ZooParameters(e.name);
    json.push_back({{"name", e.name}, {"description", e.description}, {"parameters", parameters}});
    rows.push_back({e.name, fmt::format("{:.2f} M", double(parameters) * 1e-6), e.description});
  }
  if (context.json) PrintJson({{"networks", json}});
  else fmt::print("{}", FormatTable(rows, "lrw"));
}

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const ZooEntry& e : ZooList()) names.push_back(e.name);
  return names;
}

// Returns the path of a network's file. -o names the file, or for "all" the folder.
std::string PathFor(const MakeFlags& flags, const std::string& name) {
  if (flags.name != "all") return flags.output.empty() ? name + ".onnx" : flags.output;
  return (std::filesystem::path(flags.output) / (name + ".onnx")).string();
}

void Make(const MakeFlags& flags, const Context& context) {
  const std::vector<std::string> names = flags.name == "all" ? AllNames() : std::vector{flags.name};
  if (flags.name == "all" && !flags.output.empty()) {
    std::error_code error;
    std::filesystem::create_directories(flags.output, error);
    if (!std::filesystem::is_directory(flags.output, error))
      throw Error(Code::kUnavailable, fmt::format("[{}] cannot make the folder", flags.output));
  }
  Json json = Json::array();
  for (const std::string& name : names) {
    CheckCancelled(context);
    const std::string path = PathFor(flags, name);
    const Stopwatch watch;
    {
      const Progress progress(context, "making " + name);
      ZooMake(name, path, flags.seed);
    }
    if (context.cancel && context.cancel->cancelled()) std::filesystem::remove(path);
    CheckCancelled(context);
    const int64_t bytes = int64_t(std::filesystem::file_size(path));
    json.push_back({{"name", name}, {"file", path}, {"bytes", bytes}, {"seed", flags.seed}});
    if (!context.json) fmt::print("{}: {} in {}\n", path, FormatBytes(bytes), FormatMs(watch.ms()));
  }
  if (context.json) PrintJson({{"made", json}});
}

}  // namespace

void AddZoo(CLI::App& app, Context& context) {
  CLI::App* zoo = app.add_subcommand("zoo", "write the architectures of the literature as ONNX files");
  zoo->require_subcommand(1);
  zoo->footer(
      "Examples:\n"
      "  mete zoo list\n"
      "  mete zoo make resnet50 -o resnet50.onnx");

  CLI::App* list = zoo->add_subcommand("list", "the networks, their parameters and inputs");
  AddJsonFlag(*list, context);
  list->footer(
      "Examples:\n"
      "  mete zoo list\n"
      "  mete zoo list --json");
  list->callback([&context] { context.command = [&context] { List(context); }; });

  CLI::App* make = zoo->add_subcommand("make", "write a network, or all of them, with seeded random weights");
  auto flags = std::make_shared<MakeFlags>();
  std::vector<std::string> names = AllNames();
  names.push_back("all");
  make->add_option("NAME", flags->name, "as in 'mete zoo list', or all")->required()->check(OneOf(names));
  make->add_option("-o,--output", flags->output, "the file (default: NAME.onnx); for all: the folder")
      ->type_name("FILE");
  make->add_option("--seed", flags->seed, "equal seeds give equal files")
      ->type_name("N")
      ->capture_default_str();
  AddJsonFlag(*make, context);
  make->footer(
      "Examples:\n"
      "  mete zoo make mobilenet_v2\n"
      "  mete zoo make resnet50 -o resnet50.onnx --seed 7\n"
      "  mete zoo make all -o nets");
  make->callback([flags, &context] { context.command = [flags, &context] { Make(*flags, context); }; });
}

}  // namespace mete::cli
