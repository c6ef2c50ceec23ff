// What a load generator counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mete::load {

using Nanoseconds = int64_t;

// Parts of an answer's head that the generator reads.
struct AnswerHead {
  int status = 0;
  size_t body_bytes = 0;
  size_t json_bytes = 0;  // of the body, before elements in bytes
  bool closes = false;
  double compute_ms = 0;  // of Server-Timing
};

// `head` ends with its empty line. False: it is none of an answer with a length.
bool ReadHead(const std::string& head, AnswerHead& read);

struct Tally {
  // One answer: `due` is when the request should have been sent, `begun` when it was.
  void Add(const AnswerHead& head, const std::string& body, Nanoseconds due, Nanoseconds begun,
           Nanoseconds now);
  std::string Json(double seconds, double wanted_rate);

  int64_t sent = 0;
  int64_t closed = 0;      // without an answer
  int64_t unanswered = 0;  // when the generator ended

 private:
  std::map<int, int64_t> statuses_;
  int64_t wrong_ = 0;  // answers with status 200 whose elements are others than the first one's
  std::string right_;  // the first one's
  bool has_right_ = false;
  // In milliseconds. Times of answers and refusals are from when the request was due.
  std::vector<float> answered_, refused_, late_, beside_compute_;
};

}  // namespace mete::load
