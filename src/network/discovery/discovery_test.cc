#include "network/discovery/discovery.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "base/clock_testing.h"
#include "base/errors_testing.h"
#include "base/temp_path_testing.h"

namespace mete {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kTimeout{300};

// Sets PATH to a folder of programs that a test writes, alone or before the old PATH.
class FakePrograms {
 public:
  FakePrograms() {
    fs::create_directory(folder_.str());
    setenv("PATH", folder_.str().c_str(), 1);
  }
  ~FakePrograms() { setenv("PATH", before_.c_str(), 1); }

  void Write(const std::string& name, const std::string& script) const {
    const std::string path = folder_.str() + "/" + name;
    std::ofstream(path) << "#!/bin/sh\nPATH=/usr/bin:/bin\n" << script << "\n";
    fs::permissions(path, fs::perms(0755));
  }
  std::string path(const std::string& name) const { return folder_.str() + "/" + name; }

 private:
  const TempPath folder_;
  const std::string before_ = std::getenv("PATH") ? std::getenv("PATH") : "";
};

std::string ReadWhenThere(const std::string& path) {
  while (!fs::exists(path) || fs::file_size(path) == 0) std::this_thread::yield();
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const char* const kLines =
    "+;eth0;IPv4;pi-1;_mete._tcp;local\n"
    "=;eth0;IPv6;pi-1;_mete._tcp;local;pi-1.local;fe80::1;5130;\"version=0.1.0\" \"cores=6\"\n"
    "=;eth0;IPv4;pi-1;_mete._tcp;local;pi-1.local;192.168.1.20;5130;\"cores=6\" \"version=0.1.0\"\n"
    "=;eth0;IPv4;attic\\032\\0352;_mete._tcp;local;attic.local;192.168.1.21;80;\n"
    "=;eth0;IPv6;v6;_mete._tcp;local;v6.local;fd00::7;5130;\n"
    "=;eth0;IPv6;near;_mete._tcp;local;near.local;fe80::2;5130;\"other\"\n";

TEST(ParseBrowse, EveryServiceIsThereOnceByItsBestAddress) {
  const std::vector<FoundDevice> found = ParseBrowse(kLines);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].name, "attic #2");
  EXPECT_EQ(found[0].port, 80);
  EXPECT_EQ(found[0].version, "");
  EXPECT_EQ(found[0].cores, 0);
  EXPECT_EQ(Endpoint(found[1]), "[fe80::2%eth0]:5130");
  EXPECT_EQ(found[2].name, "pi-1");
  EXPECT_EQ(found[2].host, "pi-1.local");
  EXPECT_EQ(Endpoint(found[2]), "192.168.1.20:5130");
  EXPECT_EQ(found[2].version, "0.1.0");
  EXPECT_EQ(found[2].cores, 6);
  EXPECT_EQ(Endpoint(found[3]), "[fd00::7]:5130");
}

TEST(ParseBrowse, WhatIsWrongIsLeftOut) {
  const auto line = [](const std::string& name, const std::string& host, const std::string& address,
                       const std::string& port) {
    return fmt::format("=;eth0;IPv4;{};_mete._tcp;local;{};{};{};\n", name, host, address, port);
  };
  EXPECT_EQ(ParseBrowse(line("a", "a.local", "1.2.3.4", "1")).size(), 1u);
  EXPECT_EQ(ParseBrowse(line("a\\\\\\.b", "a.local", "1.2.3.4", "1"))[0].name, "a\\.b");
  for (const char* name : {"", "\\027[31m", "a\\010b", "\\195\\164", "\x1b[0m"})
    EXPECT_TRUE(ParseBrowse(line(name, "a", "1.2.3.4", "1")).empty());
  EXPECT_TRUE(ParseBrowse(line(std::string(64, 'a'), "a", "1.2.3.4", "1")).empty());
  for (const char* host : {"", "a b", "a\tb", "$(x)", "a\"b"})
    EXPECT_TRUE(ParseBrowse(line("a", host, "1.2.3.4", "1")).empty());
  for (const char* address : {"", "1.2.3", "a.local", "::g", "fe80::1%x y"})
    EXPECT_TRUE(ParseBrowse(line("a", "a", address, "1")).empty());
  for (const char* port : {"", "0", "-1", "65536", "99999999999999999999", "1x", " 1", "+1"})
    EXPECT_TRUE(ParseBrowse(line("a", "a", "1.2.3.4", port)).empty());
  for (const char* text :
       {"", "\n\n", "=", "=;;;;;;;;;", "=;eth0;IPv4;a;_http._tcp;local;a;1.2.3.4;1;", "Failed to resolve"})
    EXPECT_TRUE(ParseBrowse(text).empty());
  EXPECT_TRUE(ParseBrowse(line("a", "a", "1.2.3.4", "1;" + std::string(5000, 'x'))).empty());
}

TEST(ParseBrowse, RecordsAreTakenOnlyWhereTheyMakeSense) {
  const auto records = [](const std::string& text) {
    return ParseBrowse("=;e;IPv4;a;_mete._tcp;local;a;1.2.3.4;1;" + text + "\n").at(0);
  };
  EXPECT_EQ(records("\"version=a\\\"b;c\"").version, "a\"b;c");
  EXPECT_EQ(records("\"version=" + std::string(33, '1') + "\"").version, "");
  EXPECT_EQ(records("\"version=\\027[0m\"").version, "");
  EXPECT_EQ(records("\"version=1").version, "1");
  for (const char* cores : {"0", "-4", "8193", "x", "", "4 "})
    EXPECT_EQ(records(fmt::format("\"cores={}\"", cores)).cores, 0);
  EXPECT_EQ(records("\"cores=4\"").cores, 4);
}

TEST(ParseBrowse, ThereIsAMost) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += fmt::format("=;e;IPv4;a{};_mete._tcp;local;a;1.2.3.4;1;\n", i);
  EXPECT_EQ(ParseBrowse(text).size(), 1000u);
}

TEST(ParseBrowse, AnyBytesAreTaken) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::string text = kLines;
    for (int k = 0; k < 8; ++k) text[random() % text.size()] = "\\\";=\n0\x80"[random() % 7];
    for (const FoundDevice& d : ParseBrowse(text.substr(0, random() % text.size()))) EXPECT_GT(d.port, 0);
  }
}

TEST(FindDevices, AsksAvahi) {
  const FakePrograms programs;
  programs.Write("avahi-browse", fmt::format("echo \"$@\" $LC_ALL > {}\ncat <<'END'\n{}END",
                                             programs.path("arguments"), kLines));
  FakeClock clock;
  EXPECT_EQ(FindDevices(kTimeout, clock).size(), 4u);
  EXPECT_EQ(ReadWhenThere(programs.path("arguments")), "-rptk _mete._tcp C\n");
}

TEST(FindDevices, SaysWhatToInstall) {
  const FakePrograms programs;
  EXPECT_TELLS(FindDevices(kTimeout),
               "[avahi-browse] the program is not in PATH; try 'apt install avahi-utils");
  fs::create_directory(programs.path("avahi-browse"));
  EXPECT_TELLS(FindDevices(kTimeout), "not in PATH");
}

TEST(FindDevices, SaysThatThereIsNoDaemon) {
  const FakePrograms programs;
  programs.Write("avahi-browse", "echo 'Failed to create client object: Daemon not running' >&2; exit 1");
  FakeClock clock;
  EXPECT_TELLS(FindDevices(kTimeout, clock),
               "got 'Failed to create client object: Daemon not running'; try 'systemctl start");
}

TEST(FindDevices, AHangingProgramIsEndedAndWhatItSaidCounts) {
  const FakePrograms programs;
  programs.Write("avahi-browse",
                 fmt::format("cat <<'END'\n{}END\nprintf '=;eth0;IPv4;half'\necho yes > {}\nexec sleep 1000",
                             kLines, programs.path("said")));
  FakeClock clock;
  std::thread time([&] {
    (void)ReadWhenThere(programs.path("said"));
    clock.Advance(kTimeout);
  });
  EXPECT_EQ(FindDevices(kTimeout, clock).size(), 4u);
  time.join();
}

TEST(FindDevices, AnEndlessOneIsCutOff) {
  const FakePrograms programs;
  programs.Write("avahi-browse", "trap '' TERM\nexec yes");
  FakeClock clock;
  EXPECT_TRUE(FindDevices(kTimeout, clock).empty());
}

TEST(Announcement, LivesAsLongAsTheObject) {
  const FakePrograms programs;
  programs.Write("avahi-publish-service", fmt::format("for a in \"$@\"; do echo \"$a\"; done > {}\necho $$ > "
                                                      "{}\necho \"Established under name 'pi 1'\" >&2\n"
                                                      "exec sleep 1000",
                                                      programs.path("arguments"), programs.path("pid")));
  pid_t pid = 0;
  {
    FakeClock clock;
    const Announcement announcement("pi 1", 5130, {{"version", "0.1.0"}, {"cores", "6"}}, clock);
    EXPECT_TRUE(announcement.alive());
    EXPECT_EQ(ReadWhenThere(programs.path("arguments")),
              "--\npi 1\n_mete._tcp\n5130\ncores=6\nversion=0.1.0\n");
    pid = pid_t(std::stoi(ReadWhenThere(programs.path("pid"))));
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_NE(kill(pid, 0), 0);
}

TEST(Announcement, DiesWithTheThreadThatMadeIt) {
  const FakePrograms programs;
  programs.Write("avahi-publish-service", "echo Established; exec sleep 1000");
  FakeClock clock;
  std::unique_ptr<Announcement> announcement;
  std::thread([&] {
    announcement = std::make_unique<Announcement>("a", 1, std::map<std::string, std::string>{}, clock);
  }).join();
  while (announcement->alive()) std::this_thread::yield();
}

TEST(Announcement, GoesOnWhereNobodyConfirmsIt) {
  const FakePrograms programs;
  programs.Write("avahi-publish-service", "exec sleep 1000");
  FakeClock clock;
  std::atomic<bool> made{false};
  std::thread time([&] {
    while (!made) {
      clock.Advance(milliseconds(1));
      std::this_thread::yield();
    }
  });
  const Announcement announcement("a", 1, {}, clock);
  made = true;
  time.join();
  EXPECT_TRUE(announcement.alive());
}

TEST(Announcement, SaysWhyItCannotBe) {
  const FakePrograms programs;
  FakeClock clock;
  EXPECT_TELLS(Announcement("a", 1, {}, clock), "[avahi-publish-service] the program is not in PATH");
  programs.Write("avahi-publish-service",
                 "echo 'Failed to create client object: Daemon not running' >&2; exit 1");
  EXPECT_TELLS(Announcement("a", 1, {}, clock), "Daemon not running");
  programs.Write("avahi-publish-service", "exit 0");
  EXPECT_TELLS(Announcement("a", 1, {}, clock), "Avahi does not do it; got ''");
  programs.Write("avahi-publish-service", "echo 'Failed to add service: Local name collision' >&2; exit 1");
  EXPECT_TELLS(Announcement("a", 1, {}, clock), "try another name: a service of this host has it");
}

TEST(Announcement, OneThatTalksIsNotHeldUp) {
  const FakePrograms programs;
  programs.Write(
      "avahi-publish-service",
      fmt::format(
          "echo Established\n"
          "i=0; while [ $i -lt 20000 ]; do echo 'Name collision, again' 2>/dev/null; i=$((i+1)); done\n"
          "echo done > {}\nexec sleep 1000",
          programs.path("end")));
  FakeClock clock;
  const Announcement announcement("a", 1, {}, clock);
  EXPECT_EQ(ReadWhenThere(programs.path("end")), "done\n");
}

TEST(Announcement, bad_arguments) {
  const FakePrograms programs;
  EXPECT_TELLS(Announcement("", 1, {}), "[name] not a service's name");
  EXPECT_TELLS(Announcement(std::string(64, 'a'), 1, {}), "[name] not a service's name");
  EXPECT_TELLS(Announcement("a\nb", 1, {}), "got 'a?b'");
  EXPECT_TELLS(Announcement("a", 0, {}), "[port] got 0");
  EXPECT_TELLS(Announcement("a", 65536, {}), "[port] got 65536");
  EXPECT_TELLS(Announcement("a", 1, {{"", "x"}}), "not a record");
  EXPECT_TELLS(Announcement("a", 1, {{"a=b", "x"}}), "not a record");
  EXPECT_TELLS(Announcement("a", 1, {{"a", "x\n"}}), "not a record");
  EXPECT_TELLS(Announcement("a", 1, {{"a", std::string(300, 'x')}}), "too long");
}

}  // namespace
}  // namespace mete
