#include "network/worker/serving.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

namespace mete {
namespace {

// Accepts connections and never answers.
class Silent {
 public:
  Silent() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* any = reinterpret_cast<sockaddr*>(&at);
    EXPECT_EQ(bind(fd_, any, size) | listen(fd_, 1) | getsockname(fd_, any, &size), 0);
    address = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }
  ~Silent() { close(fd_); }
  std::string address;

 private:
  const int fd_;
};

TEST(Feeder, NobodyWaitsUntilItHasConnected) {
  const Silent silent;
  pb::Peer peer;
  peer.set_processor(2);
  peer.set_name("silent");
  peer.set_address(silent.address);
  const Security security;
  const auto unwritten = std::make_shared<Unwritten>();
  const auto start = std::chrono::steady_clock::now();
  {
    Feeder feeder(peer, "sixteen letters!", 1, Coding::kF32, security, [](const Error&) {});
    for (uint64_t request = 0; request < 3; ++request)
      feeder.Send(request, {0, 0, 0}, Tensor(DType::kF32, {1000}), unwritten->Add());
  }
  // without the destructor's cancel, connecting would be given up after three
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  unwritten->Wait();  // the feeder has dropped the unwritten messages
}

}  // namespace
}  // namespace mete
