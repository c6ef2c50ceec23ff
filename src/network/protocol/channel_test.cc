#include "network/protocol/channel.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

constexpr size_t kTrailers = 8 << 10;  // gRPC's default

std::string Sent(const std::string& text) {
  return StatusOf(Error(Code::kInvalidArgument, text)).error_message();
}

TEST(ErrorOf, ACertificateThatIsWrongDoesNotPassAndACableMay) {
  const auto code = [](const std::string& said) {
    return ErrorOf({grpc::StatusCode::UNAVAILABLE, said}, "pi").code();
  };
  EXPECT_EQ(
      code("last error: UNKNOWN: ipv4:10.0.0.1:7077: Ssl handshake failed: ...:certificate verify failed"),
      Code::kFailedPrecondition);
  EXPECT_EQ(code("Hostname pi is not in peer certificate"), Code::kFailedPrecondition);
  EXPECT_EQ(code("Socket closed"), Code::kUnavailable);
}

TEST(StatusOf, AMessageThatFitsIsSentAsItIs) {
  for (const std::string text : {"", "[conv_1] has no weights", "[a] one\n[b] another"})
    EXPECT_EQ(Sent(text), text);
}

TEST(StatusOf, OfManyProblemsTheFirstOnesAreSentAndTheOthersCounted) {
  std::string text = "[node_0] does not fit";
  for (int i = 1; i < 5000; ++i) text += "\n[node_" + std::to_string(i) + "] does not fit";
  const std::string sent = Sent(text);
  EXPECT_LT(sent.size(), kTrailers);
  const size_t last = sent.rfind('\n');
  EXPECT_EQ(sent.substr(0, last), text.substr(0, last));
  const auto lines = std::count(sent.begin(), sent.end(), '\n');
  EXPECT_GT(lines, 100);
  EXPECT_EQ(sent.substr(last), "\n... and " + std::to_string(5000 - lines) + " more");
}

TEST(StatusOf, OfALongLineTheBeginningIsSentInWholeCharacters) {
  EXPECT_EQ(Sent(std::string(100'000, 'x')).find_first_not_of('x'), 4094u);
  for (size_t before = 0; before < 3; ++before) {
    std::string text(before, 'x');
    for (int i = 0; i < 5000; ++i) text += "\u00e4";  // two bytes each, six in a trailer
    const std::string sent = Sent(text);
    EXPECT_LT((sent.size() - before) * 3, kTrailers);
    EXPECT_EQ((sent.size() - before) % 2, 0u);
    EXPECT_EQ(sent.substr(sent.size() - 4), " ...");
  }
}

}  // namespace
}  // namespace mete
