// Restores frequencies when a signal ends the process. A signal handler reaches only global data, so a
// process can have one FrequencySignals at a time.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "machine/frequency_policy.h"

namespace mete {

class FrequencySignals {
 public:
  FrequencySignals();  // Error FAILED_PRECONDITION if the process has another one
  ~FrequencySignals();
  // From now on, until Disarm() or the destructor, signals restore the frequencies. `restorers` and
  // `lock_path` must live that long.
  void Arm(const std::vector<FrequencyRestorer>& restorers, const std::string& lock_path,
           WriteFrequencyFile write);
  void Disarm();
  static bool is_owner();  // false in a child that was forked since
  FrequencySignals(const FrequencySignals&) = delete;
  FrequencySignals& operator=(const FrequencySignals&) = delete;

  // As long as a Quiet lives, no handler runs on this or another thread, so that its owner may change
  // frequencies.
  class Quiet {
   public:
    Quiet();
    ~Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;
    bool interrupted() const;  // whether a signal came
    bool put_back() const;     // whether a handler has restored the frequencies or SetPutBack() was called
    void SetPutBack() const;   // from now on handlers restore nothing

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
