// The figures of a server of models, over HTTP.
#include <fmt/format.h>

#include "network/workers.h"
#include "serve/client/client.h"
#include "top/server_figures.h"
#include "top/source.h"

namespace mete::cli {
namespace {

constexpr std::string_view kPlain = "http://", kTls = "https://";

struct Url {
  std::string address;
  bool tls = false;
};

// Takes HOST:PORT, http://HOST:PORT and https://HOST:PORT, also with the path of the metrics.
Url UrlOf(std::string text) {
  Url url{.address = std::move(text)};
  url.tls = url.address.starts_with(kTls);
  if (url.tls) url.address.erase(0, kTls.size());
  else if (url.address.starts_with(kPlain)) url.address.erase(0, kPlain.size());
  for (const std::string_view end : {"/metrics", "/"})
    if (url.address.ends_with(end)) url.address.resize(url.address.size() - end.size());
  return url;
}

serve::ClientOptions OptionsOf(const std::string& text, const TopFlags& flags, const Context& context) {
  const Url url = UrlOf(text);
  if (!serve::IsAddress(url.address))
    throw UsageError(fmt::format("[MODEL] is no address of a server; got '{}', expected HOST:PORT; try {}",
                                 text, "http://127.0.0.1:8080"));
  const Security security = ReadSecurity(flags.keys, flags.token, context);
  if (url.tls && !security.tls())
    throw UsageError(
        fmt::format("[MODEL] a server with TLS proves who it is; got '{}' without --keys; try --keys FOLDER "
                    "(mete keys make)",
                    text));
  serve::ClientOptions options{.address = url.address};
  options.token = security.token;
  options.most_answer_bytes = top::kMostMetricBytes;
  if (url.tls || (security.tls() && !text.starts_with(kPlain)))
    options.keys = {security.ca, security.certificate, security.key};
  return options;
}

class ServerSource : public TopSource {
 public:
  explicit ServerSource(const serve::ClientOptions& options)
      : name_("server " + options.address), client_(options) {}

  top::Figures Poll() override {
    const serve::Reply reply =
        client_.Call({.target = "/metrics"}, std::chrono::steady_clock::now() + kPatience);
    if (!reply.ok()) throw Error(reply.code, reply.error);
    return top::ServerFiguresOf(top::ReadMetrics(reply.body, name_), name_, SteadySeconds());
  }

 private:
  const std::string name_;
  serve::Client client_;
};

}  // namespace

std::unique_ptr<TopSource> MakeServerSource(const std::string& address, const TopFlags& flags,
                                            const Context& context) {
  return std::make_unique<ServerSource>(OptionsOf(address, flags, context));
}

}  // namespace mete::cli
