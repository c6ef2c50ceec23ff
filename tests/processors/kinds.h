// The kinds of processors that pass the suite: those of the table of processor/make, and members.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mete/engine.h"
#include "processor/gated_testing.h"
#include "run/member.h"

namespace mete {

struct MadeProcessor {
  std::shared_ptr<Processor> processor;
  std::shared_ptr<Gated> gate;  // of the shares of a member, before they are computed; null: no member
};

struct Kind {
  std::string name;
  // `options`: of the CPU on which it computes.
  std::function<MadeProcessor(const SessionOptions& options)> make;
  int not_claimed = 0;  // the most ONNX node cases that it may leave out
  // Whether it has the reference kernels, and so the same bits as they.
  bool has_reference = true;
  // Returns why there is none on this machine; empty: there is one.
  std::function<std::string()> why_not_here = [] { return std::string(); };
};

// Makes the member whose shares a processor of this name computes.
using MakeMember = std::function<std::shared_ptr<Member>(std::shared_ptr<Processor>)>;

Kind KindOfMembers(std::string name, MakeMember make);
std::vector<Kind> KindsOverNetwork();  // none in a build without the network
std::vector<Kind> AllKinds();

}  // namespace mete
