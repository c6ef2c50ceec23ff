// What a link between the home and a member does, measured by messages and their answers, as requests use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mete {

class Member;
class Processor;

// The times of a message of `bytes` whose answer has one byte, and of one the other way round; medians.
struct MessageTimes {
  int64_t bytes = 0;
  double up_us = 0, down_us = 0;            // to the member, from the member
  double busy_up_us = 0, busy_down_us = 0;  // while both ends compute
};

struct LinkProfile {
  double round_trip_us = 0;                                 // of a message of one byte and its answer
  double message_us = 0;                                    // of each of many messages that follow each other
  double up_mbit_per_s = 0, down_mbit_per_s = 0;            // from the caller, to it
  double busy_up_mbit_per_s = 0, busy_down_mbit_per_s = 0;  // while both ends compute
  std::vector<MessageTimes> sizes;                          // what the rates follow from
};

// Messages to a member and their answers.
class Echo {
 public:
  virtual ~Echo() = default;
  // Returns the microseconds from the sending of a message of `bytes` until an answer of `answer` bytes is
  // there. Error if the link is broken.
  virtual double Us(size_t bytes, size_t answer) = 0;
  // Returns the microseconds for each of `count` messages of one byte that are sent without waiting for the
  // answers.
  virtual double MessageUs(int count) = 0;
};

LinkProfile MeasureLink(Echo& echo);
// Fills in the times of the link while both ends, the home processor and the member, compute.
void MeasureBusyLink(Member& member, Processor& home, LinkProfile& link);

}  // namespace mete
