//===- Npy.cpp - Reads and writes .npy files -------------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "prism-runtime/Npy.h"
#include "Support.h"
#include "prism-runtime/Bind.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace prism::runtime {

namespace {

constexpr size_t maxRank = 32;

/// What each dtype is called in a header; the first name is the one written.
const std::vector<std::string> &descrsOf(DType dtype) {
  static const std::vector<std::string> descrs[] = {
      {"<f8"}, {"<f4"}, {"<u2", "<V2", "|V2"}, {"<f2"}, {"<i8"}};
  return descrs[static_cast<size_t>(dtype)];
}

/// Bytes of an element, 0 for a type that is not read.
int64_t elementSize(const std::string &descr) {
  for (DType dtype :
       {DType::F64, DType::F32, DType::BF16, DType::F16, DType::I64})
    if (npyHolds(descr, dtype))
      return byteSize(dtype);
  return 0;
}

/// Parses the header's Python dictionary, no more of the language than numpy
/// writes: three known keys; a string, a boolean and a tuple of numbers.
class HeaderParser {
public:
  HeaderParser(const char *begin, const char *end) : at(begin), end(end) {}

  std::string parse(NpyHeader &header);

private:
  void skipSpace() {
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\t'))
      ++at;
  }
  bool eat(char c) {
    skipSpace();
    if (at == end || *at != c)
      return false;
    ++at;
    return true;
  }
  bool eat(const char *word) {
    skipSpace();
    size_t length = std::strlen(word);
    if (static_cast<size_t>(end - at) < length ||
        std::memcmp(at, word, length) != 0)
      return false;
    at += length;
    return true;
  }
  bool string(std::string &text);
  bool number(int64_t &value);
  std::string shape(std::vector<int64_t> &shape);
  std::string value(const std::string &key, NpyHeader &header);

  const char *at, *end;
  bool hasDescr = false, hasOrder = false, hasShape = false;
};

bool HeaderParser::string(std::string &text) {
  skipSpace();
  if (at == end || (*at != '\'' && *at != '"'))
    return false;
  char mark = *at++;
  const char *close = std::find(at, end, mark);
  if (close == end)
    return false;
  text.assign(at, close);
  at = close + 1;
  return text.find('\\') == std::string::npos;
}

bool HeaderParser::number(int64_t &value) {
  skipSpace();
  const char *start = at;
  value = 0;
  for (; at != end && *at >= '0' && *at <= '9'; ++at)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *at - '0', &value))
      return false;
  return at != start;
}

std::string HeaderParser::shape(std::vector<int64_t> &shape) {
  const char *wrong = "expected 'shape' to be a tuple of numbers";
  if (!eat('('))
    return wrong;
  while (!eat(')')) {
    int64_t extent = 0;
    if (!number(extent))
      return wrong;
    shape.push_back(extent);
    eat('L'); // Python 2 wrote 3L
    if (shape.size() > maxRank)
      return "expected at most " + std::to_string(maxRank) + " dimensions";
    if (eat(','))
      continue;
    if (!eat(')') || shape.size() == 1) // (3) is a number, not a tuple
      return wrong;
    return "";
  }
  return "";
}

std::string HeaderParser::value(const std::string &key, NpyHeader &header) {
  bool *seen = key == "descr"           ? &hasDescr
               : key == "fortran_order" ? &hasOrder
               : key == "shape"         ? &hasShape
                                        : nullptr;
  if (!seen)
    return "unknown key " + quote(key) + " in the header";
  if (*seen)
    return "key " + quote(key) + " comes twice in the header";
  *seen = true;
  if (key == "shape")
    return shape(header.shape);
  if (key == "descr") {
    if (!string(header.descr))
      return "expected a plain element type ('<f8', '<f4', '<f2', '<i8', "
             "'<u2' or '<V2'), found a structured one";
    return "";
  }
  if (eat("True"))
    return "expected row-major order, found Fortran order (save "
           "numpy.ascontiguousarray(x))";
  return eat("False") ? "" : "expected 'fortran_order' to be True or False";
}

/// The complaint, empty where there is none.
std::string HeaderParser::parse(NpyHeader &header) {
  if (!eat('{'))
    return "expected a dictionary as header";
  while (!eat('}')) {
    std::string key;
    if (!string(key) || !eat(':'))
      return "expected a key in the header";
    std::string wrong = value(key, header);
    if (!wrong.empty())
      return wrong;
    if (eat(','))
      continue;
    if (!eat('}'))
      return "expected ',' or '}' in the header";
    break;
  }
  skipSpace();
  if (at != end)
    return "expected nothing after the header's dictionary";
  for (auto [has, key] : {std::make_pair(hasDescr, "descr"),
                          std::make_pair(hasOrder, "fortran_order"),
                          std::make_pair(hasShape, "shape")})
    if (!has)
      return std::string("expected a key '") + key + "' in the header";
  return "";
}

/// A type that is not read, and what to do about it.
std::string typeComplaint(const std::string &descr) {
  std::string text = "expected element type <f8, <f4, <f2, <i8, <u2 or <V2, "
                     "found " +
                     quote(descr);
  return text +
         (descr.size() > 1 && descr[0] == '>' ? ", which is big-endian" : "");
}

/// The header's bytes: where they start and end; the complaint otherwise.
std::string findHeader(const unsigned char *bytes, int64_t size, int64_t &begin,
                       int64_t &end) {
  if (size < 10 || std::memcmp(bytes, "\x93NUMPY", 6) != 0)
    return "expected a .npy file, found something else";
  int major = bytes[6];
  if (major < 1 || major > 3)
    return "expected .npy version 1 to 3, found " + std::to_string(major);
  begin = major == 1 ? 10 : 12;
  if (size < begin)
    return "the file ends within its header";
  int64_t length = 0;
  for (int64_t i = begin; i-- > 8;)
    length = length * 256 + bytes[i];
  end = begin + length;
  return end > size ? "the file ends within its header" : "";
}

} // namespace

bool npyHolds(const std::string &descr, DType dtype) {
  const std::vector<std::string> &descrs = descrsOf(dtype);
  return std::find(descrs.begin(), descrs.end(), descr) != descrs.end();
}

std::string npyNames(DType dtype) {
  return dtype == DType::BF16
             ? "bf16 (as <u2 or <V2)"
             : std::string(toString(dtype)) + " (" + descrsOf(dtype)[0] + ")";
}

Result<NpyHeader> parseNpy(const void *data, int64_t size,
                           const std::string &file) {
  auto *bytes = static_cast<const unsigned char *>(data);
  int64_t begin = 0, end = 0;
  std::string wrong = findHeader(bytes, size, begin, end);
  if (!wrong.empty())
    return Failure{file + ": " + wrong};
  NpyHeader header;
  auto *text = static_cast<const char *>(data);
  wrong = HeaderParser(text + begin, text + end).parse(header);
  int64_t element = elementSize(header.descr);
  if (wrong.empty() && element == 0)
    wrong = typeComplaint(header.descr);
  if (!wrong.empty())
    return Failure{file + ": " + wrong};
  // Counted here, and not in byteSize, as the dtype is not known yet.
  int64_t count = element;
  bool empty = std::find(header.shape.begin(), header.shape.end(), 0) !=
               header.shape.end();
  for (int64_t extent : header.shape)
    if (!empty && __builtin_mul_overflow(count, extent, &count))
      return Failure{file + ": shape " + showShape(header.shape) +
                     " has more bytes than 64 bits count"};
  header.dataOffset = end;
  header.dataBytes = empty ? 0 : count;
  if (header.dataBytes != size - end)
    return Failure{file + ": expected " + std::to_string(header.dataBytes) +
                   " bytes of data for shape " + showShape(header.shape) +
                   " of " + header.descr + ", found " +
                   std::to_string(size - end)};
  return header;
}

/// Maps a whole file; null for an empty one.
static Result<std::shared_ptr<const void>> mapFile(const std::string &path,
                                                   int64_t &size) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (file < 0)
    return Failure{path + ": cannot open: " + systemError(errno)};
  void *bytes = nullptr;
  std::string wrong;
  size = 0;
  if (::fstat(file, &status) != 0) {
    wrong = "cannot read: " + systemError(errno);
  } else if (!S_ISREG(status.st_mode)) {
    wrong = "expected a file, found something else";
  } else if (status.st_size > 0) {
    size = status.st_size;
    bytes = ::mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_PRIVATE,
                   file, 0);
    if (bytes == MAP_FAILED)
      wrong = "cannot map: " + systemError(errno);
  }
  ::close(file);
  if (!wrong.empty())
    return Failure{path + ": " + wrong};
  auto unmap = [length = static_cast<size_t>(size)](const void *p) {
    if (p)
      ::munmap(const_cast<void *>(p), length);
  };
  return std::shared_ptr<const void>(bytes, unmap);
}

Result<NpyFile> NpyFile::open(const std::string &path) {
  int64_t size = 0;
  Result<std::shared_ptr<const void>> bytes = mapFile(path, size);
  if (!bytes)
    return bytes.failure();
  Result<NpyHeader> header = parseNpy(bytes->get(), size, path);
  if (!header)
    return header.failure();
  NpyFile file;
  file.parsed = std::move(*header);
  file.bytes = std::move(*bytes);
  file.elements =
      static_cast<const char *>(file.bytes.get()) + file.parsed.dataOffset;
  int64_t element = elementSize(file.parsed.descr);
  if (file.parsed.dataOffset % element == 0)
    return file;
  // Headers need not end on a multiple of the element: such data is copied.
  void *copy = std::malloc(static_cast<size_t>(file.parsed.dataBytes) + 1);
  if (!copy)
    return Failure{path + ": cannot allocate " +
                   std::to_string(file.parsed.dataBytes) + " bytes"};
  std::memcpy(copy, file.elements, static_cast<size_t>(file.parsed.dataBytes));
  file.bytes = std::shared_ptr<const void>(
      copy, [](const void *p) { std::free(const_cast<void *>(p)); });
  file.elements = copy;
  return file;
}

Result<NpyWriter> NpyWriter::open(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  fs::path target(path);
  // A link is written through, not replaced.
  if (fs::is_symlink(target, failed) && fs::exists(target, failed))
    target = fs::canonical(target, failed);
  if (fs::exists(target, failed) && !fs::is_regular_file(target, failed))
    return Failure{path + ": expected a file to write, found something else"};
  fs::path folder = target.parent_path();
  if (folder.empty())
    folder = ".";
  if (!target.has_filename() || !fs::is_directory(folder, failed))
    return Failure{path + ": expected a file in a folder that exists"};
  folder = fs::canonical(folder, failed);
  if (failed || ::access(folder.c_str(), W_OK | X_OK) != 0)
    return Failure{path + ": cannot write: " +
                   (failed ? failed.message() : systemError(errno))};
  NpyWriter writer;
  writer.final = (folder / target.filename()).string();
  return writer;
}

NpyWriter::NpyWriter(NpyWriter &&other) noexcept
    : final(std::move(other.final)), temporary(std::move(other.temporary)) {
  other.temporary.clear();
}

NpyWriter::~NpyWriter() {
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

/// Writes all bytes; false with errno where it cannot.
static bool writeAll(int file, const void *data, int64_t bytes) {
  auto *at = static_cast<const char *>(data);
  while (bytes > 0) {
    // The system takes less than 2 GiB at once.
    size_t some = static_cast<size_t>(std::min<int64_t>(bytes, 1 << 30));
    ssize_t written = ::write(file, at, some);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    at += written;
    bytes -= written;
  }
  return true;
}

/// A version 1 header, padded so that the data starts at a multiple of 64.
static std::string makeHeader(DType dtype, const std::vector<int64_t> &shape) {
  std::string tuple = "(";
  for (int64_t extent : shape)
    tuple += std::to_string(extent) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1)
    tuple.resize(tuple.size() - 2);
  std::string text = "{'descr': '" + descrsOf(dtype)[0] +
                     "', 'fortran_order': False, 'shape': " + tuple + "), }";
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 10, ' ');
  text.back() = '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 255);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

Status NpyWriter::write(DType dtype, const std::vector<int64_t> &shape,
                        const void *data) {
  std::optional<int64_t> bytes = byteSize(dtype, shape);
  if (!bytes)
    return Failure{final + ": shape " + showShape(shape) +
                   " has more bytes than 64 bits count"};
  std::filesystem::path target(final);
  std::string name =
      "." + target.filename().string() + ".prism-" + std::to_string(::getpid());
  temporary = (target.parent_path() / name).string();
  int file =
      ::open(temporary.c_str(),
             O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) {
    int number = errno;
    temporary.clear();
    return Failure{final + ": cannot write: " + systemError(number)};
  }
  std::string header = makeHeader(dtype, shape);
  bool good =
      writeAll(file, header.data(), static_cast<int64_t>(header.size())) &&
      writeAll(file, data, *bytes);
  int number = errno;
  if (::close(file) != 0 && good) {
    good = false;
    number = errno;
  }
  if (!good)
    return Failure{final + ": cannot write: " + systemError(number)};
  return Success{};
}

Status NpyWriter::commit() {
  if (temporary.empty())
    return Failure{final + ": expected something written, found nothing"};
  if (::rename(temporary.c_str(), final.c_str()) != 0)
    return Failure{final + ": cannot write: " + systemError(errno)};
  temporary.clear();
  return Success{};
}

} // namespace prism::runtime
