// mete top: what a server, a worker or a session does now, again and again.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include "checks.h"
#include "commands.h"
#include "terminal.h"
#include "top/screen.h"
#include "top/source.h"
#include "top/watch.h"

namespace mete::cli {
namespace {

// Whether a text means a server: a URL, or HOST:PORT where there is no file of that name.
bool IsServer(const std::string& text) {
  if (text.starts_with("http://") || text.starts_with("https://")) return true;
  const size_t colon = text.rfind(':');
  const bool has_port = colon != text.npos && colon > 0 && colon + 1 < text.size() &&
                        text.find_first_not_of("0123456789", colon + 1) == text.npos;
  std::error_code error;
  return has_port && !std::filesystem::exists(text, error);
}

std::unique_ptr<TopSource> SourceOf(const TopFlags& flags, const Context& context) {
  const std::string& what = flags.model.model;
  if (what.empty() == flags.worker.empty())
    throw UsageError(
        fmt::format("[top] one thing is watched; got {}, expected a model, the address of a server, or "
                    "--worker HOST:PORT; try "
                    "http://127.0.0.1:8080",
                    what.empty() ? "none" : "a model or server and --worker"));
  if (!flags.worker.empty() || IsServer(what)) {
    if (!flags.of_models.empty())
      throw UsageError(fmt::format("[{}] is of a model that is run here; got it for {}; try without it",
                                   flags.of_models[0],
                                   flags.worker.empty() ? what : "--worker " + flags.worker));
    return flags.worker.empty() ? MakeServerSource(what, flags, context) : MakeWorkerSource(flags, context);
  }
  for (const auto& [flag, value] : {std::pair{"--keys", flags.keys}, {"--token", flags.token}})
    if (!value.empty())
      throw UsageError(fmt::format(
          "[{}] is for servers and workers; got the model '{}'; expected an address; try HOST:PORT", flag,
          what));
  return MakeSessionSource(flags, context);
}

// The flags of the command line that neither servers nor workers have.
std::vector<std::string> GivenOfModels(const CLI::App& command) {
  std::vector<std::string> given;
  for (const CLI::Option* option : command.get_options()) {
    const std::string& group = option->get_group();
    const bool is_of_model =
        !option->get_positional() && group != "Network" && group != "Report" && group != "Options";
    if (is_of_model && option->count() > 0) given.push_back(option->get_name());
  }
  return given;
}

bool IsOnScreen(const Context& context) {
  const char* term = std::getenv("TERM");
  const bool draws = term && *term && std::string_view(term) != "dumb";
  if (context.json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !draws) return false;
  if (!Screen::IsBuilt())
    PrintNote(context, "this program was built without ncurses, so that it prints lines");
  return Screen::IsBuilt();
}

void Top(const TopFlags& flags, const Context& context) {
  std::signal(SIGTERM, [](int) { std::raise(SIGINT); });  // the terminal is restored then, too
  const std::unique_ptr<TopSource> source = SourceOf(flags, context);
  if (IsOnScreen(context)) WatchOnScreen(*source, flags, context);
  else WatchInLines(*source, flags, context);
}

constexpr const char* kFooter =
    R"(Shows requests a second, median and p99 of latencies, failures, the queue, how busy every processor is, memory, how far the plan's
prediction is off (drift), and which processors were lost. Rates and quantiles are those of the last --interval.

A server (mete serve) is asked for GET /metrics, a worker (mete worker) by its own protocol. A model is run on random inputs again and
again, in this process, as mete bench does: top then shows its own session. When a server or worker gives no answer, the view says since
when, and goes on asking.

Keys: q or Escape ends, p pauses, s sorts by the next figure, arrows, j and k scroll, ? explains keys and figures. Without a terminal,
and with --json, it prints a line for each interval; --count ends it.

Examples:
  mete top http://127.0.0.1:8080
  mete top https://server:8443 --keys keys/laptop
  mete top --worker pi-1:7077 --keys keys/laptop --name pi-1
  mete top resnet50.onnx --threads 2
  mete top resnet50.onnx --processors cpu:0,cpu:1
  mete top 127.0.0.1:8080 --json --count 1)";

void AddWatchFlags(CLI::App& command, TopFlags& flags) {
  command.add_option("--worker", flags.worker, "watch a worker")->type_name("HOST:PORT")->group("Network");
  command
      .add_option("--name", flags.name,
                  "the worker's name in its certificate, which `mete keys show` tells (default: its host)")
      ->type_name("NAME")
      ->needs("--worker")
      ->group("Network");
  command
      .add_option("--keys", flags.keys,
                  "prove who this host is, and demand a proof: this host's folder of `mete keys make`")
      ->type_name("FOLDER")
      ->group("Network");
  command.add_option("--token", flags.token, "the token that the server or worker asks for")
      ->type_name("FILE")
      ->group("Network");
  command.add_option("--interval", flags.interval_s, "from one poll to the next")
      ->type_name("SECONDS")
      ->check(Between(0.05, 3600))
      ->default_val(1)
      ->group("Report");
  command.add_option("--count", flags.count, "end after so many intervals (default: never)")
      ->type_name("N")
      ->check(Between(1, 1e9))
      ->group("Report");
}

}  // namespace

void AddTop(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("top", "watch requests, latency, queues, processors and memory at work");
  auto flags = std::make_shared<TopFlags>();
  AddLoadFlags(*command, flags->model);
  command->get_option("MODEL")
      ->required(false)
      ->type_name("MODEL|SERVER")
      ->description("a model, which is run here, or the address of a server: HOST:PORT or http://HOST:PORT");
  AddWatchFlags(*command, *flags);
  AddSessionFlags(*command, flags->model);
  AddPoolFlags(*command, flags->pool);
  command->add_option("--lanes", flags->pool.lanes, "with --processors: requests under way at a time")
      ->type_name("N")
      ->check(Between(1, kMostLanes))
      ->capture_default_str()
      ->needs("--processors")
      ->group("Devices");
  command->add_option("--seed", flags->seed, "seed of the random inputs")
      ->type_name("N")
      ->capture_default_str()
      ->group("Measurement");
  AddJsonFlag(*command, context);
  command->footer(kFooter);
  command->callback([command, flags, &context] {
    flags->of_models = GivenOfModels(*command);
    context.command = [flags, &context] { Top(*flags, context); };
  });
}

}  // namespace mete::cli
