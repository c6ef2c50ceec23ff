// mete worker: computes this device's share of others' requests.
#include "network/worker/worker.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "checks.h"
#include "commands.h"
#include "network/discovery/discovery.h"
#include "network/listen.h"
#include "network/workers.h"
#include "processor/make/make_processor.h"
#include "machine/affinity.h"
#include "machine/machine.h"
#include "mete/device.h"
#include "model_flags.h"
#include "terminal.h"

namespace mete::cli {
namespace {

struct WorkerFlags {
  ModelFlags machine;  // of it --threads, --cores, --policy, --tune
  std::string listen = "127.0.0.1:7077";
  std::string processors;  // a list or a file; empty: the CPU alone
  std::string keys, token;
  bool insecure = false;
  std::string weights_folder;
  double weights_gib = 8, memory_gib = 2;
  int deployments = 8;
  std::string announce;
  bool announced = false;
};

PoolFile FileOf(const std::string& processors) {
  if (!IsProcessorList(processors)) return ReadPoolThatIsThere(processors);
  try {
    return PoolOfList(processors);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

// What the worker offers, by --processors; empty: its CPU.
std::vector<std::shared_ptr<Processor>> ProcessorsOf(const WorkerFlags& flags) {
  if (flags.processors.empty()) return {};
  const PoolFile pool = FileOf(flags.processors);
  if (pool.devices.size() > 1)
    throw UsageError(fmt::format(
        "[--processors] a worker offers processors of its own; got a file with {} devices, expected one",
        pool.devices.size()));
  CheckCores(pool, AllowedCores());
  return MakeProcessors(pool.devices[0].processors, SessionOptionsOf(flags.machine));
}

WorkerOptions OptionsOf(const WorkerFlags& flags, const Context& context) {
  CheckListen("--listen", flags.listen);
  WorkerOptions options;
  options.listen = flags.listen;
  options.security = SecurityFor("--listen", flags.listen, ReadSecurity(flags.keys, flags.token, context),
                                 flags.insecure, context);
  options.session = SessionOptionsOf(flags.machine);
  options.processors = ProcessorsOf(flags);
  // callers are told how many
  if (options.session.threads == 0) options.session.threads = ReadMachine().default_threads();
  const std::string cache = CacheFolder();
  options.weights_folder = !flags.weights_folder.empty() ? flags.weights_folder
                           : cache.empty()               ? ""
                                                         : cache + "/received";
  options.weights_bytes = int64_t(flags.weights_gib * 1024 * 1024 * 1024);
  options.memory_bytes = int64_t(flags.memory_gib * 1024 * 1024 * 1024);
  options.max_deployments = flags.deployments;
  return options;
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "worker";
}

void Work(const WorkerFlags& flags, const Context& context) {
  CheckCores(flags.machine);
  std::signal(SIGTERM, [](int) { std::raise(SIGINT); });  // a service is stopped so
  const WorkerOptions options = OptionsOf(flags, context);
  // Shares come and go, and threads have heaps of their own: what is freed shall go back to the system, not
  // stay there in pieces. With
  // --memory-gib 1 GoogLeNet's groups, one after the other, kept 1.9 GiB without this and 1.2 GiB with it.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  const Worker worker(options);
  std::unique_ptr<Announcement> announcement;
  if (flags.announced) {
    const std::string name = flags.announce.empty() ? HostName() : flags.announce;
    const std::map<std::string, std::string> facts{{"version", METE_VERSION},
                                                   {"cores", std::to_string(options.session.threads)}};
    announcement = std::make_unique<Announcement>(name, worker.port(), facts);
  }
  const std::string address =
      flags.listen.substr(0, flags.listen.rfind(':')) + ":" + std::to_string(worker.port());
  const char* callers = options.security.tls()            ? "whose certificate this host's authority signed"
                        : !options.security.token.empty() ? "that have the token"
                        : IsLoopback(flags.listen)        ? "on this host, without a proof of who they are"
                                                          : "from anywhere, without a proof of who they are";
  const char* proof = options.security.tls()           ? "certificates"
                      : options.security.token.empty() ? "none"
                                                       : "token";
  if (context.json)
    PrintJson({{"listening", address}, {"threads", options.session.threads}, {"proof", proof}});
  else
    PrintText(fmt::format("listening on {}, {} thread{}, for callers {}; Ctrl-C ends it", address,
                          options.session.threads, options.session.threads == 1 ? "" : "s", callers));
  std::fflush(stdout);
  while (!context.cancel->cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

constexpr const char* kFooter =
    R"(A caller (mete run, bench, profile with --processors FILE) sends this worker shares of its model as graphs, their weights once, and
the rows of each request; it gets rows back. Shares run with everything that mete run has. Weights are kept on the disk by their
digests, so that another start sends nothing. The gRPC service of health is there as well, and without --token that of reflection.

Examples:
  mete worker --listen 0.0.0.0:7077 --keys keys/pi-1
  mete worker --listen 0.0.0.0:7077 --token token --cores 0,1 --announce
  mete worker --listen 127.0.0.1:0 --json)";

}  // namespace

void AddWorker(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("worker", "compute this device's share of other devices' requests");
  auto flags = std::make_shared<WorkerFlags>();
  command->add_option("--listen", flags->listen, "where callers reach it; port 0: any that is free")
      ->type_name("HOST:PORT")
      ->capture_default_str()
      ->group("Network");
  CLI::Option* keys =
      command
          ->add_option(
              "--keys", flags->keys,
              "prove who this host is, and demand a proof of callers: this host's folder of `mete keys make`")
          ->type_name("FOLDER")
          ->group("Network");
  command
      ->add_option("--token", flags->token,
                   "trust callers that have this token; it is sent as it is, so on a closed network only")
      ->type_name("FILE")
      ->excludes(keys)
      ->group("Network");
  command->add_flag("--insecure", flags->insecure, "trust all callers, also those of other hosts")
      ->group("Network");
  CLI::Option* announce = command->add_flag(
      "--announce", flags->announced, "tell the local network of it (mDNS, through Avahi): mete devices");
  announce->group("Network");
  command->add_option("--name", flags->announce, "its name there (default: the host's)")
      ->type_name("NAME")
      ->needs(announce)
      ->group("Network");
  AddSessionFlags(*command, flags->machine);
  command
      ->add_option("--processors", flags->processors,
                   "offer these processors one by one: a list such as cpu:0-3,cpu:4-5, or a file")
      ->type_name("LIST|FILE")
      ->excludes(command->get_option("--cores"))
      ->excludes(command->get_option("--threads"));
  command
      ->add_option("--weights", flags->weights_folder,
                   "keep what callers send once in this folder (default: in the cache folder)")
      ->type_name("DIR")
      ->group("Limits");
  command->add_option("--weights-gib", flags->weights_gib, "of that folder at most")
      ->type_name("N")
      ->check(Between(0, 1e6))
      ->capture_default_str()
      ->group("Limits");
  command
      ->add_option("--memory-gib", flags->memory_gib,
                   "of shares, their requests, and weights that are not on the disk at most")
      ->type_name("N")
      ->check(Between(0.001, 1e6))
      ->capture_default_str()
      ->group("Limits");
  command->add_option("--deployments", flags->deployments, "callers' plans at a time at most")
      ->type_name("N")
      ->check(Between(1, 1000))
      ->capture_default_str()
      ->group("Limits");
  AddJsonFlag(*command, context);
  command->footer(kFooter);
  command->callback([flags, &context] { context.command = [flags, &context] { Work(*flags, context); }; });
}

}  // namespace mete::cli
