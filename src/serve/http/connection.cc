#include "serve/http/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cctype>
#include <cstdlib>
#include <limits>

namespace mete::serve {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = net::ip::tcp;
using Time = std::chrono::steady_clock::time_point;

// Of a body whose length is not told before it comes. This value is a guess: callers with large tensors know
// it.
constexpr int64_t kMostUntoldBytes = 32 << 20;

template <class Stream>
class ConnectionOf : public Connection, public std::enable_shared_from_this<ConnectionOf<Stream>> {
 public:
  template <class... A>
  ConnectionOf(ConnectionOwner& owner, A&&... stream)
      : owner_(owner),
        stream_(std::forward<A>(stream)...),
        buffer_(size_t(owner.limits.header_bytes) + kReadBytes) {
    boost::system::error_code problem;
    const tcp::endpoint peer = Tcp().socket().remote_endpoint(problem);
    if (!problem) peer_ = peer.address().to_string();
  }
  ~ConnectionOf() override {
    ReleaseBytes();
    owner_.Remove(this);
  }

  void Begin() {
    net::dispatch(stream_.get_executor(), [self = this->shared_from_this()] { self->Shake(); });
  }

  void CloseIfIdle() override {
    net::post(stream_.get_executor(), [self = this->shared_from_this()] {
      if (self->idle_since()) self->Tcp().close();  // which ends the read that is under way
    });
  }

 private:
  static constexpr bool kTls = !std::is_same_v<Stream, beast::tcp_stream>;
  using Problem = boost::system::error_code;

  beast::tcp_stream& Tcp() { return beast::get_lowest_layer(stream_); }

  void Shake() {
    if constexpr (kTls) {
      Tcp().expires_after(owner_.limits.header);
      stream_.async_handshake(net::ssl::stream_base::server,
                              [self = this->shared_from_this()](Problem problem) {
                                if (!problem) self->ReadHeader();
                              });
    } else {
      ReadHeader();
    }
  }

  void ReadHeader() {
    if (owner_.closing) return End();
    parser_.emplace();
    parser_->header_limit(std::uint32_t(owner_.limits.header_bytes));
    // Checked by the path. Not boost::none: Boost 1.74 takes every length for more than none.
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
    SetIdle(true);
    Tcp().expires_after(owner_.limits.idle);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](Problem problem, size_t) {
                              self->SetIdle(false);
                              self->HasHeader(problem);
                            });
  }

  void HasHeader(Problem problem) {
    received_ = std::chrono::steady_clock::now();
    if (problem == http::error::header_limit || problem == http::error::body_limit)
      return Refuse(ErrorAnswer(431, "[server] the header is too large"));
    if (problem == http::error::end_of_stream) return End();
    // what is no HTTP has an answer; a connection that was lost or is too slow has none
    if (problem && problem.category() == http::make_error_code(http::error::end_of_stream).category())
      return Refuse(ErrorAnswer(400, "[server] the request is no HTTP/1.1: " + problem.message()));
    if (problem) return;
    TakeHeader();
    if (std::optional<HttpAnswer> refusal = owner_.routes.Refusal(request_))
      return Refuse(std::move(*refusal));
    ReadBody();
  }

  void TakeHeader() {
    const auto& message = parser_->get();
    request_ = HttpRequest();
    request_.method = std::string(message.method_string());
    request_.target = std::string(message.target());
    for (const auto& field : message) {
      std::string name(field.name_string());
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return char(std::tolower(c)); });
      request_.headers[name] = std::string(field.value());
    }
  }

  void ReadBody() {
    const auto told = parser_->content_length();
    const int64_t most = owner_.routes.MostBytes(request_);
    if (told && *told > std::uint64_t(most))
      return Refuse(ErrorAnswer(
          413,
          fmt::format("[server] the body is too large; got {} bytes, expected {} at most", *told, most)));
    const int64_t bytes = told ? int64_t(*told) : parser_->chunked() ? std::min(most, kMostUntoldBytes) : 0;
    if (!owner_.Reserve(bytes)) {
      HttpAnswer answer = ErrorAnswer(503, "[server] too many bytes of requests are under way; try again");
      answer.headers.emplace_back("Retry-After", "1");
      return Refuse(std::move(answer));
    }
    reserved_ = bytes;
    keep_alive_ = parser_->get().keep_alive();
    if (told || !parser_->chunked()) request_.body = BodyOf(size_t(bytes));
    else parser_->body_limit(std::uint64_t(std::max<int64_t>(bytes, 1)));
    Tcp().expires_after(owner_.limits.body);
    if (beast::iequals(request_.header("expect"), "100-continue")) return Continue();
    ReadRest();
  }

  void Continue() {
    auto answer = std::make_shared<http::response<http::empty_body>>(http::status::continue_, 11);
    http::async_write(stream_, *answer, [self = this->shared_from_this(), answer](Problem problem, size_t) {
      if (!problem) self->ReadRest();
    });
  }

  // Elements in bytes are placed so that they need no copy.
  HttpBody BodyOf(size_t bytes) const {
    const std::string& json = request_.header("inference-header-content-length");
    if (json.empty()) return std::string(bytes, '\0');
    return HttpBody(bytes, std::strtoull(json.c_str(), nullptr, 10));
  }

  void ReadRest() {
    if (parser_->chunked()) return ReadChunks();
    HttpBody& body = request_.body;
    const size_t there = net::buffer_copy(net::buffer(body.data(), body.size()), buffer_.data());
    buffer_.consume(there);
    if (there == body.size()) return Answer();
    // all that is there at a time, where 64 KiB are Asio's default
    const auto rest = [bytes = body.size() - there](const Problem& problem, size_t read) {
      return problem ? size_t(0) : bytes - read;
    };
    net::async_read(stream_, net::buffer(body.data() + there, body.size() - there), rest,
                    [self = this->shared_from_this()](Problem problem, size_t) {
                      if (!problem) self->Answer();
                    });
  }

  void ReadChunks() {
    http::async_read(stream_, buffer_, *parser_, [self = this->shared_from_this()](Problem problem, size_t) {
      self->HasChunks(problem);
    });
  }

  void HasChunks(Problem problem) {
    if (problem == http::error::body_limit)
      return Refuse(ErrorAnswer(413, "[server] the body is too large for one whose length is not told"));
    if (problem && problem.category() == http::make_error_code(http::error::end_of_stream).category())
      return Refuse(ErrorAnswer(400, "[server] the request's body is no HTTP/1.1: " + problem.message()));
    if (problem) return;
    request_.body = std::move(parser_->get().body());
    Answer();
  }

  void Answer() {
    Tcp().expires_never();  // computing has deadlines of its own
    request_bytes_ = int64_t(request_.body.size());
    struct UnderWay {
      std::shared_ptr<void> call;  // the last to be released
      std::shared_ptr<ConnectionOf> connection;
    };
    const auto under_way = std::make_shared<UnderWay>(UnderWay{owner_.BeginCall(), this->shared_from_this()});
    owner_.routes.Answer(request_, [under_way](std::function<HttpAnswer()> make) {
      net::post(under_way->connection->stream_.get_executor(),
                [self = under_way->connection, make = std::move(make)] { self->Write(make()); });
    });
  }

  // Answers a request whose body is not read: the connection cannot go on.
  void Refuse(HttpAnswer answer) {
    keep_alive_ = false;
    Write(std::move(answer));
  }

  void Write(HttpAnswer answer) {
    answer_ = http::response<http::string_body>(http::status(answer.status), 11);
    answer_.set(http::field::server, "mete");
    answer_.set(http::field::content_type, answer.type);
    for (const auto& [name, value] : answer.headers) answer_.set(name, value);
    if (const std::string& trace = request_.header("traceparent"); !trace.empty())
      answer_.set("traceparent", trace);
    const bool stay = keep_alive_ && !owner_.closing;
    answer_.keep_alive(stay);
    answer_bytes_ = int64_t(answer.body.size());
    if (request_.method == "HEAD") answer_.content_length(answer.body.size());
    else {
      answer_.body() = std::move(answer.body);
      answer_.prepare_payload();
    }
    Tcp().expires_after(owner_.limits.body);
    http::async_write(stream_, answer_, [self = this->shared_from_this(), stay](Problem problem, size_t) {
      self->Written(problem, stay);
    });
  }

  void Written(Problem problem, bool stay) {
    ReleaseBytes();
    HttpLogLine line{peer_, request_.method, request_.target, request_.header("traceparent"),
                     int(answer_.result_int())};
    line.request_bytes = request_bytes_;
    line.answer_bytes = answer_bytes_;
    line.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - received_).count();
    owner_.Log(line);
    request_ = HttpRequest();
    answer_ = {};
    if (problem) return;
    if (stay) return ReadHeader();
    End();
  }

  void End() {
    if constexpr (kTls) {
      Tcp().expires_after(owner_.limits.header);
      stream_.async_shutdown([self = this->shared_from_this()](Problem) {});
    } else {
      Problem ignored;
      Tcp().socket().shutdown(tcp::socket::shutdown_send, ignored);
      Linger();
    }
  }

  // Reads what the caller still sends, so that the answer is not lost by a reset: a body that was refused.
  void Linger() {
    if constexpr (!kTls) {
      Tcp().expires_after(std::chrono::seconds(2));  // guess
      buffer_.clear();
      Tcp().async_read_some(buffer_.prepare(kReadBytes),
                            [self = this->shared_from_this()](Problem problem, size_t) {
                              if (!problem && ++self->lingered_ < kMostLingers) self->Linger();
                            });
    }
  }

  void ReleaseBytes() {
    owner_.Release(reserved_);
    reserved_ = 0;
  }

  static constexpr size_t kReadBytes = 64 << 10;  // at a time at most
  static constexpr int kMostLingers = 1024;       // 64 MiB; guess

  ConnectionOwner& owner_;
  Stream stream_;
  beast::flat_buffer buffer_;  // bounded: a chunk's head may never end
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> answer_;
  HttpRequest request_;
  std::string peer_;
  Time received_;
  int64_t reserved_ = 0, request_bytes_ = 0, answer_bytes_ = 0;
  int lingered_ = 0;
  bool keep_alive_ = true;
};

template <class Stream, class... A>
void Begin(ConnectionOwner& owner, A&&... stream) {
  const auto connection = std::make_shared<ConnectionOf<Stream>>(owner, std::forward<A>(stream)...);
  owner.Add(connection);
  connection->Begin();
}

}  // namespace

void BeginConnection(ConnectionOwner& owner, tcp::socket socket, net::ssl::context* tls) {
  if (tls) Begin<beast::ssl_stream<beast::tcp_stream>>(owner, std::move(socket), *tls);
  else Begin<beast::tcp_stream>(owner, std::move(socket));
}

}  // namespace mete::serve
