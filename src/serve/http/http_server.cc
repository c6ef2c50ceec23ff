#include "serve/http/http_server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/error.h"
#include "serve/http/connection.h"

namespace mete::serve {
namespace {

namespace net = boost::asio;
using tcp = net::ip::tcp;

// Between tries to accept a connection where there is no file for it; guess.
constexpr std::chrono::milliseconds kPause{10};

// Files beside those of connections: of models, of the listener, of a page; guess.
constexpr rlim_t kOtherFiles = 256;

// Allows as many open files as there may be connections, if this process may do so.
void AllowFiles(int connections) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const rlim_t wanted = std::min(rlim_t(connections) + kOtherFiles, files.rlim_max);
  if (files.rlim_cur >= wanted) return;
  files.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &files);
}

tcp::endpoint EndpointOf(net::io_context& context, const std::string& listen) {
  const size_t colon = listen.rfind(':');
  std::string host = listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  tcp::resolver resolver(context);
  boost::system::error_code problem;
  const auto found = resolver.resolve(host, listen.substr(colon + 1), tcp::resolver::passive, problem);
  if (problem) Fail(Code::kUnavailable, "--listen", "cannot find {}: {}", listen, problem.message());
  return *found.begin();
}

net::ssl::context ContextOf(const HttpKeys& keys) {
  net::ssl::context context(net::ssl::context::tls_server);
  boost::system::error_code problem;
  const auto check = [&](const char* what) {
    if (problem) Invalid("--keys", "{} cannot be used: {}", what, problem.message());
  };
  context.set_options(net::ssl::context::default_workarounds | net::ssl::context::no_sslv2 |
                      net::ssl::context::no_sslv3 | net::ssl::context::no_tlsv1 |
                      net::ssl::context::no_tlsv1_1);
  context.use_certificate_chain(net::buffer(keys.certificate), problem);
  check("the certificate");
  context.use_private_key(net::buffer(keys.key), net::ssl::context::pem, problem);
  check("the key");
  if (keys.ca.empty()) return context;
  context.add_certificate_authority(net::buffer(keys.ca), problem);
  check("the authority's certificate");
  context.set_verify_mode(net::ssl::verify_peer | net::ssl::verify_fail_if_no_peer_cert);
  return context;
}

}  // namespace

struct HttpServer::Impl : ConnectionOwner {
  Impl(const Routes& all, HttpOptions given)
      : ConnectionOwner(all, given.limits, given.log),
        options(std::move(given)),
        acceptor(context),
        pause(context) {
    if (options.keys) tls.emplace(ContextOf(*options.keys));
  }

  void Listen();
  void Run();
  void Accept();
  void AcceptLater();
  void Begin(tcp::socket socket);

  const HttpOptions options;
  net::io_context context;
  tcp::acceptor acceptor;
  net::steady_timer pause;
  std::optional<net::ssl::context> tls;
  std::vector<std::thread> threads;
};

void HttpServer::Impl::Listen() {
  const tcp::endpoint endpoint = EndpointOf(context, options.listen);
  boost::system::error_code problem;
  acceptor.open(endpoint.protocol(), problem);
  if (!problem) acceptor.set_option(net::socket_base::reuse_address(true), problem);
  if (!problem) acceptor.bind(endpoint, problem);
  if (!problem) acceptor.listen(net::socket_base::max_listen_connections, problem);
  if (problem)
    Fail(Code::kUnavailable, "--listen", "cannot listen on {}: {}", options.listen, problem.message());
  Accept();
  for (int i = 0; i < options.threads; ++i) threads.emplace_back([this] { Run(); });
}

// What a connection throws, as for lack of memory, ends that connection and no other.
void HttpServer::Impl::Run() {
  while (true) try {
      context.run();
      return;
    } catch (const std::exception&) {}
}

void HttpServer::Impl::Accept() {
  acceptor.async_accept(net::make_strand(context),
                        [this](boost::system::error_code problem, tcp::socket socket) {
                          if (closing) return;
                          if (problem == net::error::operation_aborted) return;
                          if (problem) return AcceptLater();
                          Accept();
                          Begin(std::move(socket));
                        });
}

// No file is left for a connection: one that is idle makes room, or one that ends meanwhile.
void HttpServer::Impl::AcceptLater() {
  CloseLongestIdle();
  pause.expires_after(kPause);
  pause.async_wait([this](boost::system::error_code problem) {
    if (!problem && !closing) Accept();
  });
}

void HttpServer::Impl::Begin(tcp::socket socket) {
  if (Count() >= options.limits.connections && !CloseLongestIdle()) return;  // closes the socket
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  BeginConnection(*this, std::move(socket), tls ? &*tls : nullptr);
}

HttpServer::HttpServer(const Routes& routes, HttpOptions options)
    : impl_(std::make_unique<Impl>(routes, std::move(options))) {
  AllowFiles(impl_->options.limits.connections);
  impl_->Listen();
}

HttpServer::~HttpServer() {
  impl_->closing = true;
  impl_->context.stop();
  for (std::thread& thread : impl_->threads) thread.join();
  impl_->WaitForCalls();  // of requests that are still being computed
}

int HttpServer::port() const { return impl_->acceptor.local_endpoint().port(); }

int HttpServer::connections() const { return impl_->Count(); }

void HttpServer::Close(std::chrono::milliseconds limit) {
  impl_->closing = true;
  net::post(impl_->context, [this] {
    boost::system::error_code ignored;
    impl_->acceptor.close(ignored);
  });
  impl_->CloseIdle();
  impl_->WaitUntilNone(limit);
}

}  // namespace mete::serve
