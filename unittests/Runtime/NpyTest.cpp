//===- NpyTest.cpp - .npy files --------------------------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "prism-runtime/Npy.h"
#include "TestBundle.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <random>
#include <sys/resource.h>

using namespace prism::runtime;
using namespace prism::runtime::test;

namespace {

/// A file with that header text and some bytes of data.
std::string npy(const std::string &header, size_t bytes, int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    file += static_cast<char>(header.size() >> (8 * i));
  return file + header + std::string(bytes, '\0');
}

std::string error(const std::string &file) {
  // A copy of exactly that size, so that a sanitizer sees a read beyond it.
  std::vector<char> bytes(file.begin(), file.end());
  Result<NpyHeader> header =
      parseNpy(bytes.data(), static_cast<int64_t>(bytes.size()), "a.npy");
  return header ? "" : header.error();
}

std::string dictionary(const std::string &descr, const std::string &shape,
                       const std::string &order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order +
         ", 'shape': " + shape + ", }   \n";
}

TEST(Npy, ReadsVersionsTypesAndShapes) {
  for (int version : {1, 2, 3})
    EXPECT_EQ(error(npy(dictionary("<f4", "(2, 3)"), 24, version)), "");
  for (const char *descr : {"<f8", "<i8"})
    EXPECT_EQ(error(npy(dictionary(descr, "(5,)"), 40)), "");
  for (const char *descr : {"<f2", "<u2", "<V2", "|V2"})
    EXPECT_EQ(error(npy(dictionary(descr, "(5,)"), 10)), "");
  EXPECT_EQ(error(npy(dictionary("<f4", "()"), 4)), "");
  EXPECT_EQ(error(npy(dictionary("<f4", "(0, 99999999999, 99999999999)"), 0)),
            "");
  EXPECT_EQ(error(npy("{\"shape\":(1L,2L),\"fortran_order\":False,"
                      "\"descr\":\"<f4\"}",
                      8)),
            "");
}

TEST(Npy, SaysWhatIsWrong) {
  auto says = [](const std::string &file, const std::string &message) {
    EXPECT_EQ(error(file), "a.npy: " + message);
  };
  says("PK\x03\x04 hello world", "expected a .npy file, found something else");
  says("", "expected a .npy file, found something else");
  says(npy(dictionary("<f4", "(1,)"), 4, 4),
       "expected .npy version 1 to 3, found 4");
  says(npy(dictionary("<f4", "(1,)"), 4).substr(0, 40),
       "the file ends within its header");
  says(std::string("\x93NUMPY\x02\x00\xff\xff", 10),
       "the file ends within its header");
  says(npy("[]", 0), "expected a dictionary as header");
  says(npy("{3: 4}", 0), "expected a key in the header");
  says(npy("{'descr': '<f4' 'x'", 0), "expected ',' or '}' in the header");
  says(npy("{'size': 3}", 0), "unknown key 'size' in the header");
  says(npy("{'descr': '<f4', 'descr': '<f4'}", 0),
       "key 'descr' comes twice in the header");
  says(npy("{'descr': '<f4', 'shape': (1,)}", 4),
       "expected a key 'fortran_order' in the header");
  says(npy(dictionary("<f4", "(1,)") + "x", 4),
       "expected nothing after the header's dictionary");
  says(npy("{'descr': [('a', '<f4')]}", 0),
       "expected a plain element type ('<f8', '<f4', '<f2', '<i8', '<u2' or "
       "'<V2'), found a structured one");
  says(npy(dictionary("<f4", "(2, 2)", "True"), 16),
       "expected row-major order, found Fortran order (save "
       "numpy.ascontiguousarray(x))");
  says(npy(dictionary("<f4", "(2, 2)", "No"), 16),
       "expected 'fortran_order' to be True or False");
  for (const char *shape : {"(3)", "3", "(-1,)", "(99999999999999999999,)",
                            "(1, , 2)", "(1.5,)", "(1"})
    says(npy(dictionary("<f4", shape), 12),
         "expected 'shape' to be a tuple of numbers");
  std::string type = "expected element type <f8, <f4, <f2, <i8, <u2 or <V2, "
                     "found ";
  says(npy(dictionary("<i4", "(1,)"), 4), type + "'<i4'");
  says(npy(dictionary(">f4", "(1,)"), 4), type + "'>f4', which is big-endian");
}

TEST(Npy, SizesMustMatchTheFile) {
  std::string start = "a.npy: expected 24 bytes of data for shape [2, 3] of "
                      "<f4, found ";
  EXPECT_EQ(error(npy(dictionary("<f4", "(2, 3)"), 23)), start + "23");
  EXPECT_EQ(error(npy(dictionary("<f4", "(2, 3)"), 25)), start + "25");
  EXPECT_EQ(error(npy(dictionary("<f4", "(4611686018427387904, 4)"), 8)),
            "a.npy: shape [4611686018427387904, 4] has more bytes than 64 bits "
            "count");
  std::string many = "(";
  for (int i = 0; i < 33; ++i)
    many += "1, ";
  EXPECT_EQ(error(npy(dictionary("<f4", many + ")"), 4)),
            "a.npy: expected at most 32 dimensions");
}

TEST(Npy, RoundTrip) {
  TempFolder folder;
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{2, 3, 4}, {24}, {}, {0, 7}}) {
    Floats array(shape);
    std::string path = folder / "a.npy";
    Result<NpyWriter> writer = NpyWriter::open(path);
    ASSERT_TRUE(writer) << writer.error();
    ASSERT_TRUE(writer->write(DType::F32, shape, array.values.data()));
    ASSERT_TRUE(writer->commit());
    Result<NpyFile> file = NpyFile::open(path);
    ASSERT_TRUE(file) << file.error();
    EXPECT_EQ(file->header().shape, shape);
    EXPECT_EQ(file->header().descr, "<f4");
    EXPECT_EQ(file->header().dataOffset % 64, 0);
    EXPECT_TRUE(array.values.empty() ||
                std::memcmp(file->data(), array.values.data(),
                            array.values.size() * 4) == 0);
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.npy"});
}

TEST(Npy, UnalignedDataIsCopied) {
  TempFolder folder;
  std::string header = dictionary("<f8", "(1,)");
  while ((10 + header.size()) % 8 != 3)
    header += ' ';
  std::string bytes = npy(header, 8);
  double value = 2.5;
  std::memcpy(bytes.data() + bytes.size() - 8, &value, 8);
  writeFile(folder / "a.npy", bytes);
  Result<NpyFile> file = NpyFile::open(folder / "a.npy");
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file->data()) % 8, 0u);
  EXPECT_EQ(*static_cast<const double *>(file->data()), 2.5);
}

TEST(Npy, NothingHalfWritten) {
  TempFolder folder;
  Floats array({4});
  {
    Result<NpyWriter> writer = NpyWriter::open(folder / "a.npy");
    ASSERT_TRUE(writer->write(DType::F32, {4}, array.values.data()));
    EXPECT_EQ(folder.names().size(), 1u);
  }
  EXPECT_TRUE(folder.names().empty());
  Result<NpyWriter> writer = NpyWriter::open(folder / "a.npy");
  EXPECT_EQ(writer->commit().error(),
            writer->path() + ": expected something written, found nothing");
  EXPECT_EQ(NpyWriter::open(folder / "no/a.npy").error(),
            (folder / "no/a.npy") +
                ": expected a file in a folder that exists");
  EXPECT_EQ(NpyWriter::open(folder.path()).error(),
            folder.path() + ": expected a file to write, found something else");
  EXPECT_FALSE(NpyWriter::open("/dev/null"));
  EXPECT_EQ(NpyFile::open(folder / "no.npy").error(),
            (folder / "no.npy") + ": cannot open: No such file or directory");
  EXPECT_EQ(NpyFile::open(folder.path()).error(),
            folder.path() + ": expected a file, found something else");
}

TEST(Npy, FullDisksAndHugeShapesAreErrors) {
  TempFolder folder;
  Floats array({4096});
  Result<NpyWriter> writer = NpyWriter::open(folder / "a.npy");
  EXPECT_EQ(
      writer->write(DType::F32, {int64_t(1) << 40, int64_t(1) << 40}, nullptr)
          .error(),
      writer->path() + ": shape [1099511627776, 1099511627776] has more bytes "
                       "than 64 bits count");
  // A limit on files stands in for a full disk.
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = {4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status = writer->write(DType::F32, {4096}, array.values.data());
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.error(), writer->path() + ": cannot write: File too large");
}

TEST(Npy, LinksAreWrittenThrough) {
  TempFolder folder;
  writeFile(folder / "real.npy", "old");
  std::filesystem::create_symlink(folder / "real.npy", folder / "link.npy");
  Floats array({4});
  Result<NpyWriter> writer = NpyWriter::open(folder / "link.npy");
  ASSERT_TRUE(writer->write(DType::F32, {4}, array.values.data()));
  ASSERT_TRUE(writer->commit());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.npy"));
  EXPECT_TRUE(NpyFile::open(folder / "real.npy"));
}

TEST(Npy, ThousandMutations) {
  std::mt19937 random(20240602);
  const std::string original = npy(dictionary("<f4", "(2, 3)"), 24);
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string file = original;
    for (unsigned left = 1 + random() % 3; left > 0 && !file.empty(); --left) {
      size_t at = random() % std::min<size_t>(file.size(), 90);
      switch (random() % 4) {
      case 0:
        file[at] = static_cast<char>(random());
        break;
      case 1:
        file.erase(at, 1 + random() % 4);
        break;
      case 2:
        file.insert(at, std::string(1 + random() % 20, "0(9',"[random() % 5]));
        break;
      default:
        file.resize(std::max<size_t>(1, random() % file.size()));
      }
    }
    std::string message = error(file);
    refused += !message.empty();
    if (!message.empty())
      EXPECT_EQ(message.substr(0, 7), "a.npy: ");
  }
  EXPECT_GT(refused, 800);
}

} // namespace
