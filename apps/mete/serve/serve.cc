// mete serve: answers requests for models over HTTP and gRPC.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

#include "base/error.h"
#include "checks.h"
#include "commands.h"
#include "end_signals.h"
#include "machine/machine.h"
#include "model_flags.h"
#include "network/listen.h"
#include "pool.h"
#include "serve/grpc/grpc_server.h"
#include "serve/http/http_server.h"
#include "serve/http/routes.h"
#include "serve/server/server.h"
#include "serve_text.h"
#include "serve_worker.h"
#include "terminal.h"

namespace mete::cli {
namespace {

struct ServeFlags {
  ModelFlags machine;  // of it --threads, --cores, --policy, --tune
  std::string repository;
  std::string listen = "127.0.0.1:8080";
  std::string grpc_listen;    // HOST:PORT of gRPC; empty: the server answers over HTTP alone
  std::string worker_listen;  // HOST:PORT of its worker; empty: it computes no parts of models
  std::string keys, token;
  std::string processors;  // that compute a request alone; empty: all cores
  bool insecure = false;
  bool load_none = false;
  std::string log = "text";
  int slots = 0, queue = serve::QueueLimits().waiting_per_slot;
  double tensor_mib = 64, picture_mib = 32, megapixels = 64;
  int connections = serve::HttpLimits().connections;
  double drain_s = 30;
};

constexpr double kMib = 1024 * 1024;

int SlotsOf(const ServeFlags& flags, const SessionOptions& session) {
  const int threads = session.threads > 0 ? session.threads : int(session.cores.size());
  if (flags.slots > threads)
    throw UsageError(fmt::format("[--slots] a slot needs a thread of its own; got {}, expected 1 to {}",
                                 flags.slots, threads));
  return flags.slots > 0 ? flags.slots : threads;
}

serve::ServerOptions ServerOptionsOf(const ServeFlags& flags, const Context& context) {
  serve::ServerOptions options;
  options.repository = flags.repository;
  options.session = SessionOptionsOf(flags.machine);
  if (options.session.threads == 0)
    options.session.threads =
        options.session.cores.empty() ? ReadMachine().default_threads() : int(options.session.cores.size());
  options.queue.slots = SlotsOf(flags, options.session);
  options.queue.waiting_per_slot = flags.queue;
  if (!flags.processors.empty()) {
    const Pool pool = PoolFor(flags.processors);
    for (const PoolProcessor& processor : pool.processors())
      options.wide_processors.push_back(processor.name);
    options.wide = [pool, pool_options = PoolOptionsOf(flags.machine, context)](const Model& model) {
      Session session(model, pool, pool_options);
      session.Settle();  // a server is ready when it is as fast as it will be
      return session;
    };
  }
  options.most_pixels = int64_t(flags.megapixels * 1e6);
  options.most_input_bytes = int64_t(flags.tensor_mib * kMib);
  options.load_all = !flags.load_none;
  options.version = METE_VERSION;
  options.note = [&context](const std::string& text) { PrintNote(context, text); };
  return options;
}

serve::HttpOptions HttpOptionsOf(const ServeFlags& flags, const Security& security) {
  serve::HttpOptions options;
  options.listen = flags.listen;
  // with a token callers need no certificate of their own
  if (security.tls())
    options.keys = {security.token.empty() ? security.ca : "", security.certificate, security.key};
  options.limits.connections = flags.connections;
  options.log = LogOf(flags.log);
  return options;
}

serve::GrpcOptions GrpcOptionsOf(const ServeFlags& flags, const Security& security,
                                 const serve::RequestBounds& bounds) {
  serve::GrpcOptions options;
  options.listen = flags.grpc_listen;
  options.security = security;
  if (!security.token.empty()) options.security.ca.clear();  // as over HTTP
  options.bounds = bounds;
  options.version = METE_VERSION;
  options.log = GrpcLogOf(flags.log);
  return options;
}

// Returns `listen` with the port that was opened.
std::string WithPort(const std::string& listen, int port) {
  return fmt::format("{}:{}", listen.substr(0, listen.rfind(':')), port);
}

void Serve(const ServeFlags& flags, const Context& context) {
  CheckCores(flags.machine);
  CheckListen("--listen", flags.listen);
  Security security = ReadSecurity(flags.keys, flags.token, context);
  security = SecurityFor("--listen", flags.listen, security, flags.insecure, context);
  for (const auto& [flag, listen] :
       {std::pair{"--grpc-listen", flags.grpc_listen}, {"--worker-listen", flags.worker_listen}}) {
    if (listen.empty()) continue;
    CheckListen(flag, listen);
    security = SecurityFor(flag, listen, security, flags.insecure, context);
  }
  EndSignals signals;
  const serve::ServerOptions options = ServerOptionsOf(flags, context);
  serve::Server server(options);
  serve::RouteOptions routing;
  routing.bounds.input_bytes = int64_t(flags.tensor_mib * kMib);
  routing.most_picture_bytes = int64_t(flags.picture_mib * kMib);
  routing.token = security.token;
  routing.local = IsLoopback(flags.listen);
  routing.version = METE_VERSION;
  const serve::Routes routes(server, routing);
  signals.Accepting();
  serve::HttpServer http(routes, HttpOptionsOf(flags, security));
  std::optional<serve::GrpcServer> grpc;
  if (!flags.grpc_listen.empty()) grpc.emplace(server, GrpcOptionsOf(flags, security, routing.bounds));
  std::unique_ptr<Worker> worker;
  if (!flags.worker_listen.empty())
    worker = StartWorker(flags.worker_listen, security, options.session, options.queue.slots, server);
  PrintListening({(security.tls() ? "https://" : "http://") + WithPort(flags.listen, http.port()),
                  grpc ? WithPort(flags.grpc_listen, grpc->port()) : "",
                  worker ? WithPort(flags.worker_listen, worker->port()) : ""},
                 server, context);
  while (!signals.asked()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto limit = std::chrono::milliseconds(int64_t(flags.drain_s * 1e3));
  if (grpc) grpc->BeginDrain();
  if (!server.Drain(limit))
    PrintWarning(context, fmt::format("requests were under way after {} s; those that waited were refused",
                                      flags.drain_s));
  constexpr std::chrono::seconds kWritten(2);  // guess: answers that are made are written by then
  http.Close(kWritten);
  if (grpc) grpc->Close(kWritten);
}

constexpr const char* kFooter =
    R"(REPOSITORY is a folder of models: NAME.onnx with NAME.toml beside it (mete help preprocess), or NAME/VERSION/model.onnx.
Callers speak the Open Inference Protocol, version 2: GET /v2/models/NAME, POST /v2/models/NAME/infer. A picture as it is goes to
POST /v2/models/NAME/classify. The page at / shows what is loaded; /openapi.json describes all of it. With --grpc-listen the same
protocol is spoken over gRPC, with the standard health service, and reflection where no token is asked for. With --worker-listen devices
that cut a model (mete run --site --way cut) let this server compute their last layers, in the same queue.

One request alone is computed by all cores; of several, each slot computes one. More than --queue waiting requests for each slot are
refused with 429. SIGTERM and Ctrl-C refuse new requests, answer those that were accepted, and end the program.

Examples:
  mete serve models
  curl -X POST -T models/digit.png localhost:8080/v2/models/digits/classify
  mete serve models --grpc-listen 127.0.0.1:8081
  mete serve models --grpc-listen 127.0.0.1:8081 --worker-listen 127.0.0.1:7077
  mete serve models --listen 0.0.0.0:8080 --token token)";

}  // namespace

void AddServe(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("serve", "answer requests for models over HTTP and gRPC (Open Inference Protocol)");
  auto flags = std::make_shared<ServeFlags>();
  flags->machine.tune = "before";  // a server is ready when it is as fast as it will be
  command->add_option("repository", flags->repository, "a folder of models")
      ->type_name("REPOSITORY")
      ->required();
  command->add_option("--listen", flags->listen, "where callers reach it; port 0: any that is free")
      ->type_name("HOST:PORT")
      ->capture_default_str()
      ->group("Network");
  command
      ->add_option("--grpc-listen", flags->grpc_listen,
                   "where callers reach it by gRPC (default: nowhere); port 0: any that is free")
      ->type_name("HOST:PORT")
      ->group("Network");
  command
      ->add_option("--worker-listen", flags->worker_listen,
                   "where devices that compute the first layers of a model reach it for the others, as they "
                   "reach `mete worker` (default: nowhere); port 0: any that is free")
      ->type_name("HOST:PORT")
      ->group("Network");
  command
      ->add_option(
          "--keys", flags->keys,
          "answer by TLS, and without --token demand a certificate of callers: a folder of `mete keys make`")
      ->type_name("FOLDER")
      ->group("Network");
  command
      ->add_option("--token", flags->token,
                   "answer callers that have this token (Authorization: Bearer TOKEN)")
      ->type_name("FILE")
      ->group("Network");
  command->add_flag("--insecure", flags->insecure, "answer all callers, also those of other hosts")
      ->group("Network");
  AddSessionFlags(*command, flags->machine);
  command
      ->add_option(
          "--processors", flags->processors,
          "compute a request that is alone on these together, such as cpu,gpu, or a file of devices and "
          "processors; of several requests each slot computes one on its core")
      ->type_name("LIST|FILE")
      ->group("Devices");
  command
      ->add_option("--slots", flags->slots,
                   "requests that are computed at a time at most (default: a core each)")
      ->type_name("N")
      ->check(Between(1, 1024))
      ->group("Limits");
  command->add_option("--queue", flags->queue, "requests that may wait, for each slot")
      ->type_name("N")
      ->check(Between(1, 100000))
      ->capture_default_str()
      ->group("Limits");
  command->add_option("--tensor-mib", flags->tensor_mib, "of the input tensors of a request at most")
      ->type_name("N")
      ->check(Between(0.001, 1 << 20))
      ->capture_default_str()
      ->group("Limits");
  command->add_option("--picture-mib", flags->picture_mib, "of the file of a picture at most")
      ->type_name("N")
      ->check(Between(0.001, 1 << 20))
      ->capture_default_str()
      ->group("Limits");
  command->add_option("--megapixels", flags->megapixels, "of the pictures of a request at most")
      ->type_name("N")
      ->check(Between(0.01, 134))
      ->capture_default_str()
      ->group("Limits");
  command->add_option("--connections", flags->connections, "at a time at most")
      ->type_name("N")
      ->check(Between(1, 1000000))
      ->capture_default_str()
      ->group("Limits");
  command
      ->add_option("--drain-s", flags->drain_s,
                   "after SIGTERM, until accepted requests must have been answered; those that still wait "
                   "are refused then")
      ->type_name("S")
      ->check(Between(0, 86400))
      ->capture_default_str()
      ->group("Limits");
  command->add_flag("--load-none", flags->load_none,
                    "load a model only when a caller asks to (v2/repository/models)");
  command->add_option("--log", flags->log, "a line for each request on stderr: text, json or none")
      ->check(CLI::IsMember({"text", "json", "none"}))
      ->capture_default_str();
  AddJsonFlag(*command, context);
  command->footer(kFooter);
  command->callback([flags, &context] { context.command = [flags, &context] { Serve(*flags, context); }; });
}

}  // namespace mete::cli
