// What threads inherit that are made while the maker is pinned.
#include <gtest/gtest.h>

#include <thread>

#include "processor/processor.h"

namespace mete {
namespace {

cpu_set_t CoresOfThisThread() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof cores, &cores), 0);
  return cores;
}

int FirstOf(const cpu_set_t& cores) {
  int core = 0;
  while (!CPU_ISSET(core, &cores)) ++core;
  return core;
}

class OnCore : public Processor {
 public:
  explicit OnCore(int core) : core_(core) {}
  const ProcessorInfo& info() const override { return info_; }
  std::string WhyNot(const Graph&, const Node&) const override { return ""; }
  std::shared_ptr<Ready> Prepare(const Graph&) override { return nullptr; }
  int CallerCore() const override { return core_; }

 private:
  const ProcessorInfo info_;
  const int core_;
};

TEST(Unpinned, AThreadHasTheCoresThatItsMakerHadBeforeItWasAdopted) {
  const cpu_set_t before = CoresOfThisThread();
  const OnCore processor(FirstOf(before));
  cpu_set_t inside, of_thread, after;
  {
    const AdoptedThread adopted(processor);
    {
      const AdoptedThread again(processor);
      std::thread(Unpinned([&] { of_thread = CoresOfThisThread(); })).join();
    }
    inside = CoresOfThisThread();
    EXPECT_TRUE(CPU_EQUAL(&of_thread, &before));
    std::thread(Unpinned([&] { of_thread = CoresOfThisThread(); })).join();
  }
  after = CoresOfThisThread();
  EXPECT_EQ(CPU_COUNT(&inside), 1);
  EXPECT_TRUE(CPU_EQUAL(&of_thread, &before));
  EXPECT_TRUE(CPU_EQUAL(&after, &before));
}

TEST(Unpinned, AProcessorWithoutACoreLeavesAThreadWhereItIs) {
  const cpu_set_t before = CoresOfThisThread();
  const AdoptedThread adopted(OnCore(-1));
  const cpu_set_t inside = CoresOfThisThread();
  EXPECT_TRUE(CPU_EQUAL(&inside, &before));
}

}  // namespace
}  // namespace mete
