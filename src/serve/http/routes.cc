#include "serve/http/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/json.h"
#include "network/keys/keys.h"
#include "serve/http/answers.h"
#include "serve/http/files.h"
#include "serve/http/model_path.h"
#include "serve/http/origin.h"
#include "serve/metrics/metrics.h"
#include "serve/protocol/rest_answer.h"
#include "serve/protocol/rest_request.h"
#include "serve/protocol/timeout.h"

namespace mete::serve {
namespace {

using Time = std::chrono::steady_clock::time_point;

constexpr int64_t kMostTimeoutMs = std::chrono::milliseconds(kMostTimeout).count();
// What curl says of a file that it sends by --data-binary, and nothing else does of a picture.
constexpr const char* kFormType = "application/x-www-form-urlencoded";
constexpr int kMostClasses = 1000;  // guess: no page or log takes more

// Reads all of `text` as a number from `least` to `most`.
int64_t NumberOf(const std::string& where, const std::string& text, int64_t least, int64_t most) {
  int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number < least || number > most)
    Invalid(where, "is no number from {} to {}; got '{}'", least, most, Printable(text.substr(0, 100)));
  return number;
}

}  // namespace

std::optional<Time> DeadlineOf(const HttpRequest& request, const Parameters& parameters, Time now) {
  if (const auto text = request.headers.find("timeout-ms"); text != request.headers.end())
    return now + std::chrono::milliseconds(NumberOf("Timeout-Ms", text->second, 1, kMostTimeoutMs));
  const auto timeout = TimeoutOf(parameters);
  return timeout ? std::optional(now + *timeout) : std::nullopt;
}

// A request on its way through the routes.
class Routes::Call {
 public:
  Call(const Routes& routes, const HttpRequest& request, const Respond& respond)
      : server_(routes.server_), options_(routes.options_), request_(request), respond_(respond) {}

  void Answer() {
    target_ = ParseTarget(request_.target);
    const std::vector<std::string>& path = target_.path;
    if (path.empty()) return Get(PageFile);
    if (path.size() == 1 && path[0] == "metrics") return Metrics();
    if (path.size() == 1 && path[0] == "openapi.json") return Get(OpenApiFile);
    if (path[0] != "v2") return NotFound();
    if (path.size() == 1)
      return Get([&] { return JsonAnswer(ServerBody({"mete", options_.version, kExtensions})); });
    if (path[1] == "health" && path.size() == 3) return Health(path[2]);
    if (path[1] == "repository") return Repository();
    if (path[1] == "models") return Models();
    NotFound();
  }

  // The number of the request in the server; 0: it waits for nothing.
  uint64_t waits() const { return waits_; }

 private:
  void Send(HttpAnswer answer) {
    respond_([answer = std::move(answer)]() mutable { return std::move(answer); });
  }

  void NotFound() {
    Send(ErrorAnswer(404, fmt::format("[server] there is nothing at '{}'; try /v2 or /openapi.json",
                                      Printable(request_.target.substr(0, 200)))));
  }

  // Answers GET (and HEAD, whose body the connection leaves out) with what `make` returns, and refuses
  // others, before it looks for a model.
  template <class Make>
  void Get(Make&& make) {
    if (IsMethod({"GET", "HEAD"})) Send(make());
  }

  // Returns whether the method is one of these; sends the refusal if it is not.
  bool IsMethod(const std::vector<std::string>& allowed) {
    if (std::find(allowed.begin(), allowed.end(), request_.method) != allowed.end()) return true;
    std::string list;
    for (const std::string& method : allowed) list += (list.empty() ? "" : ", ") + method;
    HttpAnswer answer = ErrorAnswer(405, fmt::format("[server] method {} is not for this path; expected {}",
                                                     Printable(request_.method), list));
    answer.headers.emplace_back("Allow", list);
    Send(std::move(answer));
    return false;
  }

  void Metrics() {
    Get([&] {
      HttpAnswer answer = JsonAnswer(server_.MetricsText());
      answer.type = kMetricsContentType;
      return answer;
    });
  }

  void Health(const std::string& which) {
    serve::Health health;
    health.live = true;
    health.ready = server_.ready();
    if (which != "live" && which != "ready") return NotFound();
    Get([&] {
      HttpAnswer answer = JsonAnswer(HealthBody(health), which == "ready" && !health.ready ? 503 : 200);
      AddWait(answer, server_.predicted_wait_us());
      return answer;
    });
  }

  void Repository() {
    const std::vector<std::string>& path = target_.path;
    if (path.size() == 3 && path[2] == "index") {
      if (!IsMethod({"POST", "GET"})) return;
      const bool ready = ParseIndex(request_.body.text());
      std::vector<IndexEntry> index = server_.Index();
      if (ready) std::erase_if(index, [](const IndexEntry& entry) { return entry.state != "READY"; });
      return Send(JsonAnswer(IndexBody(index)));
    }
    if (path.size() != 5 || path[2] != "models") return NotFound();
    if (path[4] != "load" && path[4] != "unload") return NotFound();
    if (!IsMethod({"POST"})) return;
    CheckLoad(request_.body.text());
    const std::string model = path[3];
    const bool load = path[4] == "load";
    server_.Later([&server = server_, respond = respond_, model, load] {
      try {
        if (load) server.Load(model);
        else server.Unload(model);
        respond([] { return JsonAnswer("{}"); });
      } catch (const Error& error) {
        respond([error] { return ErrorAnswer(error); });
      } catch (const std::exception& error) {
        respond([what = std::string(error.what())] { return ErrorAnswer(500, what); });
      }
    });
  }

  void Models() {
    if (target_.path.size() == 3 && target_.path[2] == "stats") return Statistics();
    const std::optional<ModelPath> path = ModelPathOf(target_.path);
    if (!path) return NotFound();
    model_ = path->model;
    version_ = path->version;
    const std::string& action = path->action;
    if (action.empty()) return Get([&] { return JsonAnswer(ModelBody(server_.Metadata(model_, version_))); });
    if (action == "ready") return Ready();
    if (action == "stats") return Statistics();
    if (action == "infer") return Infer();
    if (action == "classify") return Classify();
    NotFound();
  }

  void Statistics() {
    Get([&] { return JsonAnswer(StatisticsBody(server_.Statistics(model_, version_))); });
  }

  void Ready() {
    Get([&] {
      serve::Health health;
      health.live = health.ready = server_.IsReady(model_, version_);
      if (!health.ready) (void)server_.Metadata(model_, version_);  // the Error says why: 404 or 503
      return JsonAnswer(HealthBody(health, model_), health.ready ? 200 : 503);
    });
  }

  void Infer() {
    if (!IsMethod({"POST"})) return;
    std::optional<size_t> json_bytes;
    if (const auto length = request_.headers.find("inference-header-content-length");
        length != request_.headers.end())
      json_bytes = size_t(
          NumberOf("Inference-Header-Content-Length", length->second, 0, int64_t(request_.body.size())));
    if (!request_.header("content-encoding").empty() && request_.header("content-encoding") != "identity")
      return Send(ErrorAnswer(415, "[Content-Encoding] bodies are taken as they are; got '" +
                                       Printable(request_.header("content-encoding")) +
                                       "', expected identity"));
    const auto now = std::chrono::steady_clock::now();
    InferRequest infer =
        ParseInfer(request_.body.bytes(), json_bytes, options_.bounds, request_.body.owner());
    const auto deadline = DeadlineOf(request_, infer.parameters, now);
    waits_ = server_.Infer(model_, version_, std::move(infer), deadline, Outcomes());
  }

  void Classify() {
    if (!IsMethod({"POST", "GET", "HEAD"})) return;
    if (request_.method != "POST") return Get([&] { return PicturesAnswer(); });
    const std::string& type = request_.header("content-type");
    if (!type.empty() && !type.starts_with("image/") && type != "application/octet-stream" &&
        type != kFormType)
      return Send(
          ErrorAnswer(415, "[Content-Type] a picture is needed; got '" + Printable(type) +
                               "', expected image/jpeg, image/png, image/bmp, or application/octet-stream"));
    const auto classes = target_.query.find("classes");
    const int count =
        classes == target_.query.end() ? 0 : int(NumberOf("classes", classes->second, 1, kMostClasses));
    const auto now = std::chrono::steady_clock::now();
    waits_ = server_.Classify(model_, version_, request_.body.TakeText(), count,
                              DeadlineOf(request_, {}, now), Outcomes());
  }

  // Whether the model classifies pictures, and of which size they are best.
  HttpAnswer PicturesAnswer() {
    const PictureUse use = server_.Pictures(model_, version_);
    nlohmann::ordered_json json{{"classifies", use.classifies}};
    if (!use.why_not.empty()) json["why_not"] = use.why_not;
    if (use.width > 0) json.update({{"width", use.width}, {"height", use.height}});
    return JsonAnswer(JsonText(json, -1));
  }

  OnOutcome Outcomes() {
    return [respond = respond_, &server = server_](Outcome&& given) {
      auto outcome = std::make_shared<Outcome>(std::move(given));
      respond([outcome, wait_us = server.predicted_wait_us()] { return AnswerOf(*outcome, wait_us); });
    };
  }

  Server& server_;
  const RouteOptions& options_;
  const HttpRequest& request_;
  const Respond& respond_;
  Target target_;
  std::string model_, version_;
  uint64_t waits_ = 0;
};

Routes::Routes(Server& server, RouteOptions options) : server_(server), options_(std::move(options)) {}

std::function<void()> Routes::Answer(const HttpRequest& request, const Respond& respond) const {
  try {
    Call call(*this, request, respond);
    call.Answer();
    if (const uint64_t number = call.waits()) return [&server = server_, number] { server.Cancel(number); };
  } catch (const Error& error) {
    respond([error] { return ErrorAnswer(error); });
  } catch (const std::bad_alloc&) {
    respond(NoMemory);
  } catch (const std::exception& error) {
    respond([what = std::string(error.what())] { return ErrorAnswer(500, what); });
  }
  return {};
}

std::optional<HttpAnswer> Routes::Refusal(const HttpRequest& request) const {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (options_.token.empty()) {  // which no page of others has
    const std::string why =
        reads ? "" : WhyForeign(request.header("origin"), request.header("host"), options_.local);
    return why.empty() ? std::nullopt : std::optional(ErrorAnswer(403, why));
  }
  if (request.target == "/v2/health/live" || request.target == "/v2/health/ready") return std::nullopt;
  constexpr std::string_view kBearer = "Bearer ";
  const std::string& authorization = request.header("authorization");
  if (authorization.starts_with(kBearer) && SameToken(authorization.substr(kBearer.size()), options_.token))
    return std::nullopt;
  HttpAnswer answer =
      ErrorAnswer(401, "[Authorization] the token is missing or wrong; expected Bearer TOKEN");
  answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

std::optional<HttpAnswer> Routes::RefusalByLoad(const HttpRequest& request) const try {
  if (request.method != "POST") return std::nullopt;
  const std::optional<ModelPath> path = ModelPathOf(ParseTarget(request.target).path);
  if (!path || (path->action != "infer" && path->action != "classify")) return std::nullopt;
  const std::optional<Outcome> refused = server_.RefusalByLoad(path->model, path->version);
  if (!refused) return std::nullopt;
  return AnswerOf(*refused, server_.predicted_wait_us());
} catch (const Error&) {
  return std::nullopt;  // Answer() says what is wrong
}

int64_t Routes::MostBytes(const HttpRequest& request) const {
  const std::string path = request.target.substr(0, request.target.find('?'));
  if (path.ends_with("/classify") || path.ends_with("/classify/")) return options_.most_picture_bytes;
  if (!path.ends_with("/infer") && !path.ends_with("/infer/")) return options_.bounds.json_bytes;
  return options_.bounds.json_bytes + options_.bounds.input_bytes;
}

int64_t Routes::MostBytes() const {
  return std::max(options_.most_picture_bytes, options_.bounds.json_bytes + options_.bounds.input_bytes);
}

}  // namespace mete::serve
