// A steady-state run allocates nothing: every way to the heap of this test program is counted.
#include <gtest/gtest.h>

#include "base/allocations_testing.h"
#include "engine/engine_testing.h"
#include "mete/binding.h"

namespace mete {
namespace {

// The model is loaded for a batch of one.
int AllocationsOfThirdRun(int threads, bool reference, int64_t batch) {
  SessionOptions options = SessionOptions::Estimated(threads);
  options.reference = reference;
  const ModelFile file(OpenConvNet());
  const Model model = Model::Load(file.path(), {.input_shapes = {{"data", {1, 3, 16, 16}}}});
  Session session(model, options);
  const Tensor input = Ramp({batch, 3, 16, 16}, 0.02f);
  Tensor output(DType::kF32, {batch, 5});
  const ConstView in[] = {input.view()};
  const View out[] = {output.mutable_view()};
  auto run = [&] { session.Run(in, out); };
  run();
  run();
  return AllocationsOf(run);
}

TEST(Allocation, TheCounterCounts) {
  if (!METE_COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers bring their own malloc";
  EXPECT_GE(AllocationsOf([] {
              const Tensor t(DType::kF32, {1000});
              auto* volatile p = new std::vector<int>(10);
              delete p;
            }),
            3);
}

TEST(Allocation, ASteadyRunAllocatesNothing) {
  if (!METE_COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers bring their own malloc";
  for (const int threads : {1, 2, 3})
    for (const bool reference : {false, true})
      for (const int64_t batch : {1, 3}) {
        SCOPED_TRACE(testing::Message()
                     << threads << " threads, reference " << reference << ", batch " << batch);
        EXPECT_EQ(AllocationsOfThirdRun(threads, reference, batch), 0);
      }
}

TEST(Allocation, ASessionThatHasSettledAllocatesNothing) {
  if (!METE_COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers bring their own malloc";
  const Model model = WideNet(WideOutput::kFloat);
  Session session(model, {.threads = 1, .tuning_cache = "", .profile_cache = ""});
  const Tensor input = Ramp(model.inputs()[0].shape, 0.02f);
  Tensor output(DType::kF32, model.outputs()[0].shape);
  const ConstView in[] = {input.view()};
  const View out[] = {output.mutable_view()};
  ASSERT_FALSE(session.settled());
  while (!session.settled()) session.Run(in, out);
  session.Run(in, out);
  EXPECT_EQ(AllocationsOf([&] { session.Run(in, out); }), 0);
}

TEST(Allocation, ABindingAllocatesNothing) {
  if (!METE_COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers bring their own malloc";
  const ModelFile file(ConvNet());
  Session session(Model::Load(file.path()), SessionOptions::Estimated(2));
  const Tensor input = Ramp({1, 3, 16, 16}, 0.02f);
  Tensor output(DType::kF32, {1, 5});
  Binding binding(session);
  binding.BindInput("data", input.view());
  binding.BindOutput("probabilities", output.mutable_view());
  binding.Run();
  binding.Run();
  EXPECT_EQ(AllocationsOf([&] { binding.Run(); }), 0);
}

}  // namespace
}  // namespace mete
