// Calls of a server in this process, and of sockets that misbehave.
#include "serve/client/client.h"

#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <thread>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "network/keys/keys.h"
#include "network/keys/make.h"
#include "serve/client/messages.h"
#include "serve/http/digits_server_testing.h"

namespace mete::serve {
namespace {

namespace net = boost::asio;
using tcp = net::ip::tcp;

// No test waits for so long unless something is wrong.
Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::minutes(2); }

std::string Picture() {
  std::ifstream file("models/digit.png", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ClientTest : public DigitsServer {
 protected:
  std::string address() const { return "127.0.0.1:" + std::to_string(http_->port()); }

  static InferRequest PictureRequest(const std::string& input) {
    InferRequest request;
    NamedTensor picture;
    picture.name = input;
    picture.shape = {1};
    picture.texts = {Picture()};
    request.inputs = {picture};
    return request;
  }
};

TEST_F(ClientTest, ClassifiesAndInfersOnOneConnection) {
  Client client({.address = address()});
  const Reply health = client.Health(Soon());
  EXPECT_TRUE(health.ok()) << health.error;
  EXPECT_GT(health.times.connect_ms, 0);
  EXPECT_FALSE(health.steps);
  const auto began = std::chrono::steady_clock::now();
  const Reply classes = client.Classify("digits", Picture(), 3, Soon());
  const double whole =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  ASSERT_TRUE(classes.ok()) << classes.error;
  EXPECT_EQ(classes.times.connect_ms, 0);
  EXPECT_EQ(http_->connections(), 1);
  EXPECT_EQ(classes.answer.outputs[0].texts.size(), 3u);
  ASSERT_TRUE(classes.steps);
  EXPECT_GT(classes.steps->compute_ms, 0);
  EXPECT_LE(classes.steps->ms(), classes.times.ms());
  EXPECT_LE(classes.times.ms(), whole);
  EXPECT_TRUE(classes.load_ms);
  EXPECT_EQ(classes.sent_bytes, int64_t(Picture().size()));

  const std::string input = server_->Metadata("digits", "").inputs[0].name;
  const Reply scores = client.Infer("digits", PictureRequest(input), Soon());
  ASSERT_TRUE(scores.ok()) << scores.error;
  const Tensor& tensor = scores.answer.outputs[0].tensor;
  ASSERT_EQ(tensor.type(), DType::kF32);
  const float* first = tensor.as<float>();
  const auto best = std::max_element(first, first + tensor.elements()) - first;
  EXPECT_EQ(best, classes.answer.outputs[1].tensor.as<int64_t>()[0]);
  EXPECT_EQ(scores.times.connect_ms, 0);
}

TEST_F(ClientTest, TellsWhatTheServerRefuses) {
  Client client({.address = address()});
  EXPECT_EQ(client.Classify("none", Picture(), 0, Soon()).code, Code::kNotFound);
  const Reply bad = client.Classify("digits", "no picture", 0, Soon());
  EXPECT_EQ(bad.code, Code::kInvalidArgument);
  EXPECT_NE(bad.error.find("[127.0.0.1:"), std::string::npos);
  EXPECT_NE(bad.error.find("answers 400"), std::string::npos);
  EXPECT_TRUE(client.Classify("digits", Picture(), 0, Soon()).ok());  // the connection is still good
}

TEST_F(ClientTest, ShowsItsToken) {
  RouteOptions routing;
  routing.token = "0123456789abcdef";
  Start(routing);
  EXPECT_EQ(Client({.address = address()}).Classify("digits", Picture(), 0, Soon()).code,
            Code::kFailedPrecondition);
  EXPECT_TRUE(Client({.address = address(), .keys = {}, .token = routing.token})
                  .Classify("digits", Picture(), 0, Soon())
                  .ok());
}

TEST_F(ClientTest, KnowsTheServerByItsAuthority) {
  const TempPath folder, others;
  MakeKeys(folder.str(), {ParseHost("server=127.0.0.1"), ParseHost("phone")});
  MakeKeys(others.str(), {ParseHost("phone")});
  const KeyFiles server = ReadKeys(folder.str() + "/server"), phone = ReadKeys(folder.str() + "/phone"),
                 other = ReadKeys(others.str() + "/phone");
  HttpOptions options;
  options.keys = HttpKeys{server.ca, server.certificate, server.key};
  Start({}, options);
  const auto health = [&](const std::optional<ClientKeys>& keys) {
    return Client({.address = address(), .keys = keys}).Health(Soon());
  };
  const Reply known = health(ClientKeys{phone.ca, phone.certificate, phone.key});
  EXPECT_TRUE(known.ok()) << known.error;
  EXPECT_FALSE(health(ClientKeys{other.ca, other.certificate, other.key}).ok());  // trusts another authority
  EXPECT_FALSE(health(ClientKeys{phone.ca, "", ""}).ok());                        // shows no certificate
  EXPECT_FALSE(health(std::nullopt).ok());
  EXPECT_TELLS(Client({.address = address(), .keys = ClientKeys{"none", "", ""}}), "cannot be used");
}

TEST_F(ClientTest, ConnectsAgainWhereTheServerClosedAnIdleConnection) {
  HttpOptions options;
  options.limits.connections = 1;  // a second caller closes the first one's idle connection
  Start({}, options);
  Client first({.address = address()});
  EXPECT_TRUE(first.Health(Soon()).ok());
  // The first one's connection is idle a moment after its answer; a caller before that is turned away.
  while (!Client({.address = address()}).Health(Soon()).ok()) std::this_thread::yield();
  Reply again = first.Health(Soon());
  while (!again.ok()) again = first.Health(Soon());  // turned away, as long as the second one's is not idle
  EXPECT_GT(again.times.connect_ms, 0);
}

TEST_F(ClientTest, AsksNothingBehindItsDeadline) {
  const Reply late =
      Client({.address = address()}).Health(std::chrono::steady_clock::now() - std::chrono::seconds(1));
  EXPECT_EQ(late.code, Code::kDeadlineExceeded);
  EXPECT_EQ(late.times.ms(), 0);
}

// A server of one connection that does as a test says.
class Misbehaving {
 public:
  explicit Misbehaving(std::function<void(tcp::socket&)> what)
      : acceptor_(context_, {net::ip::make_address("127.0.0.1"), 0}),
        port_(acceptor_.local_endpoint().port()),
        thread_([this, what = std::move(what)] {
          tcp::socket socket(context_);
          acceptor_.accept(socket);
          acceptor_.close();
          net::streambuf request;
          boost::system::error_code ignored;
          net::read_until(socket, request, "\r\n\r\n", ignored);
          what(socket);
        }) {}
  ~Misbehaving() { thread_.join(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  net::io_context context_;
  tcp::acceptor acceptor_;
  const int port_;
  std::thread thread_;
};

Reply AnswerTo(const std::string& text, int64_t most_bytes = 1000) {
  Misbehaving server([&](tcp::socket& socket) {
    boost::system::error_code gone;  // the client, before it has read all
    net::write(socket, net::buffer(text), gone);
  });
  ClientOptions options{.address = server.address()};
  options.most_answer_bytes = most_bytes;
  return Client(options).Classify("m", "x", 0, Soon());
}

TEST(ClientAlone, TellsAnswersThatAreNone) {
  EXPECT_EQ(AnswerTo("").code, Code::kUnavailable);
  EXPECT_EQ(AnswerTo("HTTP/1.1 200 OK\r\nContent-Le").code, Code::kUnavailable);
  EXPECT_EQ(AnswerTo("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}").code, Code::kUnavailable);
  EXPECT_EQ(AnswerTo("220 mail.example ESMTP\r\n\r\n").code, Code::kDataLoss);
  EXPECT_EQ(AnswerTo("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n").code, Code::kDataLoss);
  EXPECT_EQ(AnswerTo("HTTP/1.1 200 OK\r\nA: " + std::string(100000, 'x') + "\r\n\r\n").code, Code::kDataLoss);
  for (const char* body : {"{}", "[]", "nonsense", "{\"outputs\": 3}", "{\"outputs\": [{\"name\": 3}]}"}) {
    const Reply reply = AnswerTo("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(std::strlen(body)) +
                                 "\r\n\r\n" + body);
    EXPECT_EQ(reply.code, Code::kDataLoss) << body;
    EXPECT_NE(reply.error.find("damaged"), std::string::npos) << reply.error;
  }
  EXPECT_EQ(
      AnswerTo("HTTP/1.1 200 OK\r\nInference-Header-Content-Length: 9\r\nContent-Length: 2\r\n\r\n{}").code,
      Code::kDataLoss);
}

TEST(ClientAlone, TellsWhenToComeAgain) {
  const Reply full =
      AnswerTo("HTTP/1.1 429 Too Many\r\nRetry-After: 3\r\nContent-Length: 16\r\n\r\n{\"error\": \"full\"}");
  EXPECT_EQ(full.code, Code::kResourceExhausted);
  EXPECT_EQ(full.retry_after_s, 3);
  EXPECT_NE(full.error.find("full"), std::string::npos);
}

TEST(ClientAlone, WaitsForNoAnswerBeyondItsDeadline) {
  std::promise<void> done;
  Misbehaving server([&](tcp::socket&) { done.get_future().wait(); });
  const Reply reply = Client({.address = server.address()})
                          .Health(std::chrono::steady_clock::now() + std::chrono::milliseconds(50));
  done.set_value();
  EXPECT_EQ(reply.code, Code::kDeadlineExceeded) << reply.error;
}

TEST(ClientAlone, TellsThatNobodyListens) {
  std::string address;
  {
    net::io_context context;
    tcp::acceptor acceptor(context, {net::ip::make_address("127.0.0.1"), 0});
    address = "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
  }
  const Reply reply = Client({.address = address}).Health(Soon());
  EXPECT_EQ(reply.code, Code::kUnavailable);
  EXPECT_NE(reply.error.find("cannot connect"), std::string::npos) << reply.error;
}

TEST(ClientAlone, KnowsAddresses) {
  for (const char* good : {"a:1", "127.0.0.1:8080", "[::1]:65535"}) EXPECT_TRUE(IsAddress(good)) << good;
  for (const char* bad : {"", "a", ":1", "a:", "a:0", "a:65536", "a:1.5", "a:8e1", "::1:80", "a:b"})
    EXPECT_FALSE(IsAddress(bad)) << bad;
  EXPECT_TELLS(Client({.address = "nowhere"}), "expected HOST:PORT");
}

TEST(Answers, HaveElementsInAndBehindTheirJson) {
  const std::string json =
      R"({"model_name":"m","outputs":[{"name":"a","datatype":"INT64","shape":[2],"data":[3,4]},)"
      R"({"name":"b","datatype":"UINT8","shape":[1,2],"parameters":{"binary_data_size":2}}]})";
  const auto body = std::make_shared<const std::string>(json + "\x07\x08");
  const InferAnswer answer = ParseAnswer(body, json.size(), 1000);
  ASSERT_EQ(answer.outputs.size(), 2u);
  EXPECT_EQ(answer.outputs[0].tensor.as<int64_t>()[1], 4);
  EXPECT_EQ(answer.outputs[1].tensor.as<uint8_t>()[0], 7);
  EXPECT_TELLS(ParseAnswer(body, json.size() - 1, 1000), "");
  EXPECT_TELLS(ParseAnswer(std::make_shared<const std::string>(json + "\x07\x08\x09"), json.size(), 1000),
               "behind its last output");
  const auto large = std::make_shared<const std::string>(
      R"({"outputs":[{"name":"a","datatype":"FP32","shape":[1000000000],"data":[]}]})");
  EXPECT_TELLS(ParseAnswer(large, std::nullopt, 1000), "too many elements");
}

TEST(Answers, TellTheServersSteps) {
  const auto steps = StepsOf("queue;dur=1.5, decode;dur=2, scale;dur=3, compute;dur=4.25");
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->ms(), 10.75);
  EXPECT_FALSE(StepsOf("queue;dur=1.5"));
  EXPECT_FALSE(StepsOf("queue;dur=x, decode;dur=2, scale;dur=3, compute;dur=4.25"));
  EXPECT_FALSE(NumberOf("-1"));
  EXPECT_FALSE(NumberOf("inf"));
}

}  // namespace
}  // namespace mete::serve
