#include "serve/http/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <limits>

#include "serve/http/answers.h"
#include "serve/http/beast_messages.h"
#include "serve/http/read_away.h"

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
constexpr size_t kMostReadAway = 1 << 20;  // guess: a tensor, which takes less than to connect again

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
                                if (!problem) self->AwaitRequest();
                              });
    } else {
      AwaitRequest();
    }
  }

  // A caller may let the connection rest before a request, but not within its header.
  void AwaitRequest() {
    if (owner_.closing) return End();
    SetIdle(true);
    if (buffer_.size() > 0) return ReadHeader();
    Tcp().expires_after(owner_.limits.idle);
    stream_.async_read_some(buffer_.prepare(kReadBytes),
                            [self = this->shared_from_this()](Problem problem, size_t bytes) {
                              self->buffer_.commit(bytes);
                              if (!problem) self->ReadHeader();
                              else if (problem == net::error::eof) self->End();
                            });
  }

  void ReadHeader() {
    parser_.emplace();
    parser_->header_limit(std::uint32_t(owner_.limits.header_bytes));
    // Checked by the path. Not boost::none: Boost 1.74 takes every length for more than none.
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
    Tcp().expires_after(owner_.limits.header);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](Problem problem, size_t) {
                              self->SetIdle(false);
                              self->HasHeader(problem);
                            });
  }

  void HasHeader(Problem problem) {
    received_ = std::chrono::steady_clock::now();
    if (problem == http::error::end_of_stream) return End();
    if (std::optional<HttpAnswer> refusal = RefusalOf(problem, false, owner_.limits.header_bytes))
      return Refuse(std::move(*refusal));
    if (problem) return;
    request_ = RequestOf(parser_->get());
    request_bytes_ = 0;
    if (std::optional<HttpAnswer> refusal = owner_.routes.Refusal(request_))
      return Refuse(std::move(*refusal));
    ReadBody();
  }

  void ReadBody() {
    const auto told = parser_->content_length();
    const int64_t most = owner_.routes.MostBytes(request_);
    if (told && *told > std::uint64_t(most))
      return Refuse(ErrorAnswer(
          413,
          fmt::format("[server] the body is too large; got {} bytes, expected {} at most", *told, most)));
    keep_alive_ = parser_->get().keep_alive();
    if (std::optional<HttpAnswer> refusal = owner_.routes.RefusalByLoad(request_))
      return RefuseByLoad(std::move(*refusal), told);
    if (parser_->chunked())
      parser_->body_limit(std::uint64_t(std::clamp<int64_t>(most, 1, kMostUntoldBytes)));
    else try {
        request_.body = RoomFor(request_, size_t(told.value_or(0)));
      } catch (const std::bad_alloc&) {
        return Refuse(NoMemory());
      }
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

  // Counts the bytes of the body that have come: a length without bytes reserves nothing. False: all bodies
  // together have too many.
  bool Count(size_t bytes) {
    if (!owner_.Reserve(int64_t(bytes) - reserved_)) return false;
    reserved_ = int64_t(bytes);
    return true;
  }

  void ExpireWith(size_t come) { Tcp().expires_at(received_ + owner_.limits.BodyTime(int64_t(come))); }
  HttpAnswer TooMany() const { return TooManyBytes(owner_.most_bytes); }

  void ReadRest() {
    if (parser_->chunked()) return ReadChunks();
    HttpBody& body = request_.body;
    const size_t there = net::buffer_copy(net::buffer(body.data(), body.size()), buffer_.data());
    buffer_.consume(there);
    if (!Count(there)) return Refuse(TooMany());
    if (there == body.size()) return Answer();
    ExpireWith(there);
    // all that is there at a time, where 64 KiB are Asio's default
    const auto rest = [this, there](const Problem& problem, size_t read) {
      ExpireWith(there + read);
      return problem || !Count(there + read) ? size_t(0) : request_.body.size() - there - read;
    };
    net::async_read(stream_, net::buffer(body.data() + there, body.size() - there), rest,
                    [self = this->shared_from_this(), there](Problem problem, size_t read) {
                      if (problem) return;
                      const size_t all = self->request_.body.size();
                      if (there + read < all || !self->Count(all)) return self->Refuse(self->TooMany());
                      self->Answer();
                    });
  }

  void ReadChunks() {
    parser_->eager(true);
    http::async_read_some(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](Problem problem, size_t) { self->HasChunks(problem); });
  }

  void HasChunks(Problem problem) {
    if (std::optional<HttpAnswer> refusal = RefusalOf(problem, true, owner_.limits.header_bytes))
      return Refuse(std::move(*refusal));
    if (problem) return;
    if (!Count(parser_->get().body().size())) return Refuse(TooMany());
    if (!parser_->is_done()) return ReadChunks();
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
    std::function<void()> cancel =
        owner_.routes.Answer(request_, [under_way](std::function<HttpAnswer()> make) {
          net::post(under_way->connection->stream_.get_executor(),
                    [self = under_way->connection, make = std::move(make)] { self->Write(Made(make)); });
        });
    request_.body = HttpBody();  // what is needed of it has another owner
    if (!kTls && cancel) AwaitLeaving(Tcp().socket(), this->shared_from_this(), std::move(cancel));
  }

  // Reads a short body away, so that the connection goes on. Who waits with a body, or has a long one, is
  // told at once.
  void RefuseByLoad(HttpAnswer answer, const boost::optional<std::uint64_t>& told) {
    const bool waits = beast::iequals(request_.header("expect"), "100-continue");
    if (parser_->chunked() || waits || told.value_or(0) > kMostReadAway) return Refuse(std::move(answer));
    Tcp().expires_after(owner_.limits.body);
    ReadAway(stream_, buffer_, size_t(told.value_or(0)),
             [self = this->shared_from_this(), answer] { self->Write(answer); });
  }

  // Answers a request whose body is not read: the connection cannot go on.
  void Refuse(HttpAnswer answer) {
    keep_alive_ = false;
    Write(std::move(answer));
  }

  void Write(HttpAnswer answer) {
    Problem ignored;
    Tcp().socket().cancel(ignored);  // ends AwaitLeaving()
    request_.body = HttpBody();      // of a request that was refused
    ReleaseBytes();
    if (int64_t(answer.body.size()) > owner_.limits.small_answer && !Count(answer.body.size()))
      answer = TooMany();
    const bool stay = keep_alive_ && !owner_.closing;
    answer_bytes_ = int64_t(answer.body.size());
    answer_ = MessageOf(std::move(answer), request_, stay);
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
    if (stay) return AwaitRequest();
    End();
  }

  void End() {
    SetEnding();  // before the caller can see the end: another connection may have this one's place
    if constexpr (kTls) {
      Tcp().expires_after(owner_.limits.header);
      stream_.async_shutdown([self = this->shared_from_this()](Problem) {});
    } else {
      Problem ignored;
      Tcp().socket().shutdown(tcp::socket::shutdown_send, ignored);
      Linger(Tcp(), buffer_, this->shared_from_this());
    }
  }

  void ReleaseBytes() {
    owner_.Release(reserved_);
    reserved_ = 0;
  }

  ConnectionOwner& owner_;
  Stream stream_;
  beast::flat_buffer buffer_;  // bounded: a chunk's head may never end
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> answer_;
  HttpRequest request_;
  std::string peer_;
  Time received_;
  int64_t reserved_ = 0, request_bytes_ = 0, answer_bytes_ = 0;
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
