// Puts frequencies back when a signal ends the process. What a handler can reach is global, so there is one
// of these at a time.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "machine/frequency_policy.h"

namespace mete {

class FrequencySignals {
 public:
  FrequencySignals();  // Error FAILED_PRECONDITION where there is another one
  ~FrequencySignals();
  // From now on, until Disarm() or the end, signals put back. Both must live as long.
  void Arm(const std::vector<FrequencyRestorer>& restorers, const std::string& lock_path,
           WriteFrequencyFile write);
  void Disarm();
  static bool is_owner();  // not of a child that was forked since
  FrequencySignals(const FrequencySignals&) = delete;
  FrequencySignals& operator=(const FrequencySignals&) = delete;

  // While it lives no handler works, on this thread or another: frequencies may be changed.
  class Quiet {
   public:
    Quiet();
    ~Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;
    bool interrupted() const;  // a signal came
    bool put_back() const;     // all is as it was, by a handler or by whoever said so:
    void SetPutBack() const;   // from now on handlers have nothing to do

   private:
    sigset_t before_;
  };

 private:
  static void OnSignal(int signal, siginfo_t* info, void* context);
  static void PutBackNow();

  const std::vector<FrequencyRestorer>* restorers_ = nullptr;
  const char* lock_path_ = nullptr;
  WriteFrequencyFile write_ = nullptr;
};

}  // namespace mete
