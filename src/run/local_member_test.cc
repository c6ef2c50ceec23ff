#include "run/local_member.h"

#include <gtest/gtest.h>

#include "processor/cpu/cpu_testing.h"

namespace mete {
namespace {

cpu_set_t CoresOfThisThread() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof cores, &cores), 0);
  return cores;
}

// Notes the cores of the thread that hands something to it.
class Noting : public Processor {
 public:
  const ProcessorInfo& info() const override { return info_; }
  std::string WhyNot(const Graph&, const Node&) const override { return ""; }
  std::shared_ptr<Ready> Prepare(const Graph&) override { return nullptr; }
  Tensor Import(Tensor tensor) override {
    cores = CoresOfThisThread();
    return tensor;
  }
  cpu_set_t cores;

 private:
  const ProcessorInfo info_;
};

TEST(LocalMember, ALinkIsMeasuredOnCoresThatTheHomeHasNotPinned) {
  const cpu_set_t before = CoresOfThisThread();
  int core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  SessionOptions options = ReferenceOptions();
  options.cores = {core};
  const Cpu home("home", options);
  const auto noting = std::make_shared<Noting>();
  LocalMember member(noting);
  const AdoptedThread adopted(home);
  EXPECT_GT(member.OpenEcho()->Us(1, 1), 0);
  EXPECT_TRUE(CPU_EQUAL(&noting->cores, &before));
}

}  // namespace
}  // namespace mete
