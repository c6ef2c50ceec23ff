#include "run/unwritten.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

namespace mete {
namespace {

TEST(Unwritten, AMessageIsUnwrittenWhileACopyOfItsMarkLives) {
  const auto unwritten = std::make_shared<Unwritten>();
  auto first = std::make_unique<Unwritten::Mark>(unwritten->Add());
  std::optional<Unwritten::Mark> copy(*first), moved(std::move(*first));
  first.reset();
  std::atomic<int> let_go{0};
  std::atomic<bool> early{false};
  std::thread lane([&] {
    unwritten->Wait();
    early = let_go < 2;
  });
  for (auto* mark : {&copy, &moved}) {
    std::this_thread::yield();
    ++let_go;
    mark->reset();
  }
  lane.join();
  EXPECT_FALSE(early);
  moved.emplace() = unwritten->Add();  // it was of no message before
  unwritten->Stop();
  unwritten->Wait();  // although one is unwritten
}

}  // namespace
}  // namespace mete
