// A model on several processors: pool MODEL PROCESSORS [PLAN.json]
// PROCESSORS is a list such as cpu:0,cpu:1, or the file of a pool. If PLAN.json exists, the model runs by the
// plan in it; otherwise the session plans, and the program writes the plan there.
#include <mete/engine.h>
#include <mete/pool.h>
#ifdef WITH_NETWORK
#include <mete/network.h>
#endif

#include <cstdio>
#include <fstream>
#include <iterator>

namespace {

mete::Pool PoolOf(const std::string& processors) {
  if (mete::Pool::IsList(processors)) return mete::Pool::FromList(processors);
#ifdef WITH_NETWORK
  return mete::Pool::FromFile(processors, mete::OpenNetwork());
#else
  return mete::Pool::FromFile(processors);
#endif
}

std::string ReadFile(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: pool MODEL PROCESSORS [PLAN.json]\n");
    return 2;
  }
  const mete::Model model = mete::Model::Load(argv[1]);
  const mete::Pool pool = PoolOf(argv[2]);
  for (const mete::PoolProcessor& processor : pool.processors())
    std::printf("processor %s of %s\n", processor.name.c_str(), processor.device.c_str());

  mete::PoolOptions options;
  if (argc == 4) options.plan_json = ReadFile(argv[3]);
  options.note = [](const std::string& note) { std::fprintf(stderr, "%s\n", note.c_str()); };
  mete::Session session(model, pool, options);
  if (argc == 4 && options.plan_json.empty()) std::ofstream(argv[3]) << session.PlanJson();

  std::vector<mete::Tensor> inputs;  // of zeros
  for (const mete::Port& port : model.inputs()) inputs.emplace_back(port.type, port.shape);
  mete::RunReport report;
  session.Run(inputs, {.report = &report});
  std::printf("%s\n%.2f ms, %.2f ms predicted\n", session.pool_stats().plan.c_str(), report.us * 1e-3,
              session.pool_stats().predicted_us * 1e-3);
} catch (const mete::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
