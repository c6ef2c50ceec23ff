#include "serve_text.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/error.h"
#include "checks.h"
#include "terminal.h"

namespace mete::cli {

std::function<void(const serve::HttpLogLine&)> LogOf(const std::string& form) {
  if (form == "none") return {};
  const bool json = form == "json";
  return [json](const serve::HttpLogLine& line) {
    if (!json) {
      fmt::print(stderr, "{} {} {} {} {:.2f} ms\n", line.peer, line.method, Printable(line.target),
                 line.status, line.ms);
      return;
    }
    Json object{{"peer", line.peer},     {"method", line.method},          {"target", line.target},
                {"status", line.status}, {"bytes_in", line.request_bytes}, {"bytes_out", line.answer_bytes},
                {"ms", line.ms}};
    if (!line.traceparent.empty()) object["traceparent"] = line.traceparent;
    PrintJsonLine(object);
  };
}

std::function<void(const serve::GrpcLogLine&)> GrpcLogOf(const std::string& form) {
  if (form == "none") return {};
  const bool json = form == "json";
  return [json](const serve::GrpcLogLine& line) {
    if (!json) {
      fmt::print(stderr, "{} gRPC {} {} {:.2f} ms\n", line.peer, line.method, line.code, line.ms);
      return;
    }
    Json object{{"peer", line.peer}, {"rpc", line.method}, {"code", line.code}, {"ms", line.ms}};
    if (!line.traceparent.empty()) object["traceparent"] = line.traceparent;
    PrintJsonLine(object);
  };
}

void PrintListening(const Listening& at, const serve::Server& server, const Context& context) {
  const std::vector<serve::IndexEntry> index = server.Index();
  if (context.json) {
    Json models = Json::array();
    for (const serve::IndexEntry& entry : index)
      models.push_back({{"name", entry.name}, {"version", entry.version}, {"state", entry.state}});
    Json object{{"listening", at.http}, {"models", models}};
    if (!at.grpc.empty()) object["grpc"] = at.grpc;
    if (!at.worker.empty()) object["worker"] = at.worker;
    PrintJson(object);
  } else {
    Rows rows{{"model", "version", "state"}};
    for (const serve::IndexEntry& entry : index) rows.push_back({entry.name, entry.version, entry.state});
    fmt::print("{}", FormatTable(rows, "lrl"));
    if (!at.grpc.empty()) PrintText(fmt::format("listening on {} for gRPC", at.grpc));
    if (!at.worker.empty()) PrintText(fmt::format("listening on {} for parts of models", at.worker));
    PrintText(fmt::format("listening on {}; Ctrl-C ends it", at.http));
  }
  std::fflush(stdout);
}

}  // namespace mete::cli
