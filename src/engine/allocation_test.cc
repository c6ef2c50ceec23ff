// A steady-state run allocates nothing: every way to the heap of this test program is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "engine/engine_testing.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define METE_COUNTS_ALLOCATIONS 0  // they bring their own malloc
#else
#define METE_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<bool> g_counting{false};
std::atomic<int> g_allocations{0};
}  // namespace

#if METE_COUNTS_ALLOCATIONS
// glibc's own functions under their second names; operator new ends in malloc.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static void Count() {
  if (g_counting.load(std::memory_order_relaxed)) g_allocations.fetch_add(1, std::memory_order_relaxed);
}
void* malloc(size_t bytes) { return Count(), __libc_malloc(bytes); }
void* calloc(size_t n, size_t bytes) { return Count(), __libc_calloc(n, bytes); }
void* realloc(void* old, size_t bytes) { return Count(), __libc_realloc(old, bytes); }
void* memalign(size_t alignment, size_t bytes) { return Count(), __libc_memalign(alignment, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return Count(), __libc_memalign(alignment, bytes); }
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  Count();
  *out = __libc_memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}
}
#endif

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
  g_allocations = 0;
  g_counting = true;
  run();
  g_counting = false;
  return g_allocations;
}

TEST(Allocation, TheCounterCounts) {
  if (!METE_COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers bring their own malloc";
  g_allocations = 0;
  g_counting = true;
  const Tensor t(DType::kF32, {1000});
  auto* volatile p = new std::vector<int>(10);
  delete p;
  g_counting = false;
  EXPECT_GE(g_allocations, 3);
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

}  // namespace
}  // namespace mete
