// conformance_runner CASES.tsv DATA RESULTS.tsv [--update] [--only TEXT] [--list]
//
// Runs the cases that CASES.tsv names (case, operators, opset) from their folders in DATA, prints a table per
// operator, and compares it with RESULTS.tsv (case, status, reason), the table in the repository. The exit
// status is 1 if a case that passed in that table does not pass, or if any case is wrong or crashed.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "case.h"
#include "table.h"

namespace mete::conformance {
namespace {

constexpr int kSeconds = 20;  // a case takes milliseconds; sanitizers make it slower
constexpr size_t kMemoryBytes = size_t(4) << 30;

struct Options {
  std::string cases, data, results, only;
  bool update = false, list = false;
};

struct Result {
  Case test;
  Outcome outcome;
};

// A case counts for its operator, or for the first of several. An "_expanded" case, in which other operators
// replace an operator, counts for "Operator (expanded)".
std::vector<Case> ReadCases(const std::string& path, const std::string& only) {
  const auto rows = ReadTable(path);
  std::map<std::string, std::string> operators;
  for (const auto& row : rows) operators[row.at(0)] = row.at(1);
  std::vector<Case> cases;
  for (const auto& row : rows) {
    const std::string& name = row.at(0);
    if (name.find(only) == std::string::npos) continue;
    const size_t expanded = name.find("_expanded");
    const auto base = operators.find(name.substr(0, expanded));
    std::string op = base != operators.end() ? base->second : row.at(1);
    op = op.substr(0, op.find(','));
    if (expanded != std::string::npos)
      op = base != operators.end() ? op + " (expanded)" : "others (expanded)";
    cases.push_back({name, op});
  }
  return cases;
}

void PrintTable(const std::vector<Result>& results) {
  struct Row {
    std::array<int, 5> count{};
    std::map<std::string, int> reasons;
  };
  std::map<std::string, Row> rows;
  Row total;
  for (const Result& r : results) {
    Row& row = rows[r.test.row];
    ++row.count[size_t(r.outcome.status)];
    ++total.count[size_t(r.outcome.status)];
    if (r.outcome.status == Status::kUnsupported) ++row.reasons[r.outcome.reason];
  }
  constexpr const char* kLine = "{:<36} {:>6} {:>11} {:>6} {:>7} {:>7}\n";
  fmt::print(kLine, "operator", "passed", "unsupported", "wrong", "crashed", "missing");
  auto print = [&](const std::string& name, const Row& r) {
    fmt::print(kLine, name, r.count[0], r.count[1], r.count[2], r.count[3], r.count[4]);
    for (const auto& [reason, times] : r.reasons)
      fmt::print("    unsupported {}x: {}\n", times, reason.substr(0, 160));
  };
  for (const auto& [name, row] : rows) print(name, row);
  print("all", total);
  const int have = int(results.size()) - total.count[size_t(Status::kMissing)];
  fmt::print("passed {} of {} ({:.1f} %)\n", total.count[0], have,
             have ? 100.0 * total.count[0] / have : 0.0);
}

bool IsBad(Status s) { return s == Status::kWrong || s == Status::kCrashed; }

// Returns the number of reasons to fail.
int Judge(const std::vector<Result>& results, const std::string& kept_path) {
  std::map<std::string, Status> kept;
  for (const auto& row : ReadTable(kept_path))
    if (row.size() >= 2) kept[row[0]] = StatusOf(row[1]);
  int bad = 0;
  for (const Result& r : results) {
    const auto before = kept.find(r.test.name);
    const bool passed_before = before != kept.end() && before->second == Status::kPassed;
    const bool lost = passed_before && r.outcome.status != Status::kPassed;
    if (!lost && !IsBad(r.outcome.status)) continue;
    ++bad;
    fmt::print("{}{}: {}: {}\n", r.test.name, lost ? " (passed before)" : "", Name(r.outcome.status),
               r.outcome.reason);
  }
  return bad;
}

void Write(const std::vector<Result>& results, const std::string& path) {
  std::ofstream file(path);
  for (const Result& r : results)
    file << r.test.name << '\t' << Name(r.outcome.status) << '\t' << r.outcome.reason << '\n';
}

bool Parse(int argc, char** argv, Options& o) {
  std::vector<std::string> places;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--update")) o.update = true;
    else if (!std::strcmp(argv[i], "--list")) o.list = true;
    else if (!std::strcmp(argv[i], "--only") && i + 1 < argc) o.only = argv[++i];
    else places.push_back(argv[i]);
  }
  if (places.size() != 3) return false;
  o.cases = places[0];
  o.data = places[1];
  o.results = places[2];
  return true;
}

int Main(const Options& o) {
  std::vector<Result> results;
  for (const Case& c : ReadCases(o.cases, o.only)) {
    results.push_back(
        {c, RunCaseApart((std::filesystem::path(o.data) / c.name).string(), kSeconds, kMemoryBytes)});
    const Outcome& outcome = results.back().outcome;
    if (o.list) fmt::print("{}\t{}\t{}\n", c.name, Name(outcome.status), outcome.reason);
  }
  PrintTable(results);
  const int bad = Judge(results, o.results);
  if (o.update && o.only.empty()) Write(results, o.results);
  if (bad) fmt::print("{} cases are wrong, crash or no longer pass\n", bad);
  return bad ? 1 : 0;
}

}  // namespace
}  // namespace mete::conformance

int main(int argc, char** argv) {
  mete::conformance::Options options;
  if (mete::conformance::Parse(argc, argv, options)) return mete::conformance::Main(options);
  fmt::print(stderr,
             "usage: conformance_runner CASES.tsv DATA RESULTS.tsv [--update] [--only TEXT] [--list]\n");
  return 2;
}
