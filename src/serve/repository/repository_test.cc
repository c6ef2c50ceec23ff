#include "serve/repository/repository.h"

#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"

namespace mete::serve {
namespace {

namespace fs = std::filesystem;

class InAFolder : public testing::Test {
 protected:
  InAFolder() { fs::create_directories(folder_.str()); }

  std::string Path(const std::string& name) const { return folder_.str() + "/" + name; }
  void Write(const std::string& name, const std::string& text = "x") const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << text;
  }
  Repository Read() const { return ReadRepository(folder_.str()); }

  TempPath folder_;
};

std::vector<std::string> Names(const Repository& repository) {
  std::vector<std::string> names;
  for (const RepositoryModel& model : repository.models) {
    names.push_back(model.name);
    for (const ModelVersion& version : model.versions) names.back() += ":" + std::to_string(version.version);
  }
  return names;
}

std::vector<std::string> FilesOf(const ModelVersion& version) {
  std::vector<std::string> names;
  for (const VersionFile& file : version.files) names.push_back(fs::path(file.path).filename().string());
  return names;
}

// All problems, one a line, with the paths as they are below the folder.
std::string Problems(const Repository& repository, const std::string& folder) {
  std::string all;
  for (const RepositoryProblem& problem : repository.problems) {
    std::string text = problem.text;
    for (size_t at; (at = text.find(folder + "/")) != text.npos;) text.erase(at, folder.size() + 1);
    all += problem.model + ": " + text + "\n";
  }
  return all;
}

using Texts = std::vector<std::string>;

TEST_F(InAFolder, FilesAreModelsOfVersionOne) {
  Write("net.onnx", "four");
  Write("net.toml");
  Write("net.onnx_data");
  Write("alex.prototxt");
  Write("alex.caffemodel");
  Write("labels.txt");
  Write("README.md");
  const Repository repository = Read();
  EXPECT_EQ(Problems(repository, folder_.str()), "");
  EXPECT_EQ(Names(repository), (Texts{"alex:1", "net:1"}));
  const ModelVersion& net = repository.models[1].versions[0];
  EXPECT_EQ(net.path, Path("net.onnx"));
  EXPECT_EQ(FilesOf(net), (Texts{"net.onnx", "net.onnx_data", "net.toml"}));
  EXPECT_EQ(net.files[0].bytes, 4);
  EXPECT_GT(net.files[0].changed_ns, int64_t(1'600'000'000) * 1'000'000'000);  // 2020
  EXPECT_EQ(FilesOf(repository.models[0].versions[0]), (Texts{"alex.caffemodel", "alex.prototxt"}));
}

TEST_F(InAFolder, FoldersHaveVersions) {
  Write("net/10/model.onnx");
  Write("net/10/weights.bin");
  Write("net/2/model.prototxt");
  Write("net/2/model.caffemodel");
  Write("net/3/squeezenet.onnx");
  Write("net/3/squeezenet.toml");
  Write("net/serve.toml", "versions = \"all\"");
  const Repository repository = Read();
  EXPECT_EQ(Problems(repository, folder_.str()), "");
  ASSERT_EQ(Names(repository), (Texts{"net:2:3:10"}));
  const std::vector<ModelVersion>& versions = repository.models[0].versions;
  EXPECT_EQ(versions[0].path, Path("net/2/model.prototxt"));
  EXPECT_EQ(versions[1].path, Path("net/3/squeezenet.onnx"));
  EXPECT_EQ(FilesOf(versions[1]), (Texts{"squeezenet.onnx", "squeezenet.toml"}));
  EXPECT_EQ(FilesOf(versions[2]), (Texts{"model.onnx", "weights.bin"}));
}

TEST_F(InAFolder, AModelFileOfTheUsualNameIsTaken) {
  Write("net/1/model.onnx");
  Write("net/1/other.onnx");
  const Repository repository = Read();
  EXPECT_EQ(Problems(repository, folder_.str()), "");
  EXPECT_EQ(repository.models.at(0).versions.at(0).path, Path("net/1/model.onnx"));
}

TEST_F(InAFolder, HiddenNamesAreNotLookedAt) {
  Write(".net.onnx");
  Write(".git/1/model.onnx");
  Write("net/.2/model.onnx");
  Write("net/1/model.onnx");
  const Repository repository = Read();
  EXPECT_EQ(Names(repository), (Texts{"net:1"}));
  EXPECT_EQ(Problems(repository, folder_.str()), "");
}

TEST_F(InAFolder, EqualFilesAreEqualAndChangedOnesAreNot) {
  Write("net/1/model.onnx", "one");
  const Repository before = Read();
  EXPECT_EQ(before.models, Read().models);
  Write("net/1/model.onnx", "longer");
  EXPECT_NE(before.models, Read().models);
  const Repository longer = Read();
  // The same length, and another time: a millisecond later, as if it had been written then.
  struct timespec times[2] = {};
  const int64_t ns = longer.models[0].versions[0].files[0].changed_ns + 1'000'000;
  times[1] = {ns / 1'000'000'000, ns % 1'000'000'000};
  ASSERT_EQ(utimensat(AT_FDCWD, Path("net/1/model.onnx").c_str(), times, 0), 0);
  EXPECT_NE(longer.models, Read().models);
}

TEST_F(InAFolder, AllProblemsAreNamedAtOnceAndOtherModelsAreServed) {
  Write("good.onnx");
  Write("twice.onnx");
  Write("twice/1/model.onnx");
  Write("both.onnx");
  Write("both.prototxt");
  Write("both.caffemodel");
  Write("light.prototxt");
  Write("orphan.toml");
  Write("heavy.caffemodel");
  Write("two words.onnx");
  fs::create_directories(Path("empty"));
  Write("odd/v1/model.onnx");
  Write("odd/01/model.onnx");
  Write("odd/0/model.onnx");
  Write("odd/2/readme.txt");
  Write("odd/3/a.onnx");
  Write("odd/3/b.onnx");
  Write("odd/4/model.onnx");
  Write("odd/5/a.onnx");
  Write("odd/5/model.toml");
  Write("odd/6/model.prototxt");
  Write("odd/99999999999999999999/model.onnx");
  Write("stray/1/model.onnx");
  Write("stray/model.onnx");
  Write("unset/1/model.onnx");
  Write("unset/settings.toml");
  const Repository repository = Read();
  EXPECT_EQ(Names(repository), (Texts{"good:1", "odd:4", "stray:1"}));
  EXPECT_EQ(
      Problems(repository, folder_.str()),
      "both: [both.onnx] two models of one name; got 'both.prototxt' as well; try another name for one\n"
      "empty: [empty] a folder without a model; expected 'empty/1/model.onnx'\n"
      "light: [light.prototxt] a Caffe model without weights; expected 'light.caffemodel' beside it\n"
      "odd: [odd/0] no version; got '0', expected a whole number from 1 on\n"
      "odd: [odd/01] no version; got '01', expected a whole number from 1 on\n"
      "odd: [odd/2] a version without a model; expected model.onnx, model.tflite, or model.prototxt with "
      "model.caffemodel\n"
      "odd: [odd/3] a version with 2 models; got 'a.onnx' and 'b.onnx', expected one; try model.onnx\n"
      "odd: [odd/5/model.toml] the settings of pictures of no model; expected 'model.onnx' beside it\n"
      "odd: [odd/6/model.prototxt] a Caffe model without weights; expected 'model.caffemodel' beside it\n"
      "odd: [odd/99999999999999999999] no version; got '99999999999999999999', expected a whole number "
      "from 1 on\n"
      "odd: [odd/v1] no version; got 'v1', expected a whole number from 1 on\n"
      "stray: [stray/model.onnx] a model outside of a version's folder; try 'stray/1/model.onnx'\n"
      "twice: [twice] two models of one name; got 'twice.onnx' as well; try another name for one\n"
      "two words: [two words.onnx] no name of a model; got 'two words', expected 1 to 128 letters of a to z, "
      "digits, '.', '_' and '-'\n"
      "unset: [unset/settings.toml] unknown settings; expected 'serve.toml'\n"
      ": [heavy.caffemodel] weights of no model; expected 'heavy.prototxt' beside it\n"
      ": [orphan.toml] the settings of pictures of no model; expected 'orphan.onnx' beside it\n");
}

TEST_F(InAFolder, AModelWhoseSettingsAreWrongIsNotServed) {
  Write("net/1/model.onnx");
  Write("net/serve.toml", "versons = \"all\"\nload = 3\n");
  Write("other/1/model.onnx");
  const Repository repository = Read();
  EXPECT_EQ(Names(repository), (Texts{"other:1"}));
  EXPECT_EQ(repository.problems.size(), 2u);
  EXPECT_NE(
      Problems(repository, folder_.str()).find("net: [net/serve.toml:1] settings: unknown key 'versons'"),
      std::string::npos)
      << Problems(repository, folder_.str());
}

TEST_F(InAFolder, LinksOutOfTheFolderAreServedAndSaid) {
  const TempPath elsewhere;
  fs::create_directories(elsewhere.str());
  std::ofstream(elsewhere.str() + "/file") << "x";
  fs::create_symlink(elsewhere.str() + "/file", Path("net.onnx"));
  Write("here.onnx");
  fs::create_symlink(Path("here.onnx"), Path("same.onnx"));
  fs::create_symlink("nowhere", Path("lost.onnx"));
  fs::create_symlink("circle", Path("circle"));
  ASSERT_EQ(mkfifo(Path("pipe.onnx").c_str(), 0600), 0);
  const Repository repository = Read();
  EXPECT_EQ(Names(repository), (Texts{"here:1", "net:1", "same:1"}));
  ASSERT_EQ(repository.notes.size(), 1u);
  EXPECT_EQ(repository.notes[0], "[" + Path("net.onnx") + "] is a link out of the repository, to '" +
                                     fs::canonical(elsewhere.str()).string() + "/file'");
  EXPECT_EQ(Problems(repository, folder_.str()),
            ": [circle] is neither a file nor a folder, or a link that leads nowhere\n"
            ": [lost.onnx] is neither a file nor a folder, or a link that leads nowhere\n"
            ": [pipe.onnx] is neither a file nor a folder, or a link that leads nowhere\n");
}

TEST_F(InAFolder, AFolderThatCannotBeReadIsAProblemOfItsModel) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads every folder";
  Write("net/1/model.onnx");
  Write("other.onnx");
  fs::permissions(Path("net"), fs::perms::none);
  const Repository repository = Read();
  fs::permissions(Path("net"), fs::perms::all);
  EXPECT_EQ(Names(repository), (Texts{"other:1"}));
  EXPECT_EQ(repository.problems.at(0).model, "net");
}

TEST_F(InAFolder, NamesOfFilesDoNotControlTerminals) {
  Write("a\x1b[2J.onnx");
  const std::string problems = Problems(Read(), folder_.str());
  EXPECT_NE(problems.find("a?[2J"), std::string::npos);
  EXPECT_EQ(problems.find('\x1b'), std::string::npos);
}

TEST(ReadRepositoryTest, RefusesAFolderThatIsNotThere) {
  EXPECT_TELLS(ReadRepository("/nowhere/at/all"), "/nowhere/at/all");
}

TEST(ChosenVersionsTest, TakesTheLatestAllOrThoseThatAreListed) {
  RepositoryModel model{.name = "net", .versions = {{.version = 1}, {.version = 3}, {.version = 10}}};
  const auto chosen = [&] {
    std::vector<int64_t> numbers;
    for (const ModelVersion& version : ChosenVersions(model)) numbers.push_back(version.version);
    return numbers;
  };
  EXPECT_EQ(chosen(), (std::vector<int64_t>{10}));
  model.settings.versions.kind = VersionChoice::kAll;
  EXPECT_EQ(chosen(), (std::vector<int64_t>{1, 3, 10}));
  model.settings.versions = {VersionChoice::kListed, {1, 2, 3}};
  EXPECT_EQ(chosen(), (std::vector<int64_t>{1, 3}));
}

TEST_F(InAFolder, AListedVersionThatIsMissingIsAProblem) {
  Write("net/1/model.onnx");
  Write("net/serve.toml", "versions = [1, 2]");
  const Repository repository = Read();
  EXPECT_EQ(Names(repository), (Texts{"net:1"}));
  EXPECT_EQ(Problems(repository, folder_.str()),
            "net: [net/serve.toml] lists version 2, which is not there or cannot be served\n");
}

TEST(IsModelNameTest, TakesWhatIsSafeInPathsAndMetrics) {
  for (const char* name : {"net", "squeezenet1.1", "a", "A-b_c.9", "-"})
    EXPECT_TRUE(IsModelName(name)) << name;
  for (const char* name : {"", ".", "..", ".net", "a/b", "a b", "a\"b", "\xc3\xa4", "a\n"})
    EXPECT_FALSE(IsModelName(name)) << name;
  EXPECT_TRUE(IsModelName(std::string(128, 'a')));
  EXPECT_FALSE(IsModelName(std::string(129, 'a')));
}

}  // namespace
}  // namespace mete::serve
