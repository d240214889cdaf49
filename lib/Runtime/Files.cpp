//===- Files.cpp - Reads, loads and writes a bundle's files ----------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "prism-runtime/Files.h"
#include "Support.h"
#include "prism-runtime/Manifest.h"

#include <cerrno>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

namespace prism::runtime {

namespace fs = std::filesystem;

std::string BundleFiles::show(const std::string &name) const {
  if (inMemory())
    return "bundle " + quote(place) + ": " + name;
  return place + (!place.empty() && place.back() == '/' ? "" : "/") + name;
}

Result<std::string> BundleFiles::read(const std::string &name,
                                      int64_t limit) const {
  if (!inMemory()) {
    Result<std::string> path = resolveInside(place, name);
    if (!path)
      return path.failure();
    return readFile(*path, limit);
  }
  auto found = contents->find(name);
  if (found == contents->end())
    return Failure{show(name) + ": cannot open: no such file"};
  if (found->second.size() > static_cast<uint64_t>(limit))
    return Failure{show(name) + ": expected at most " + std::to_string(limit) +
                   " bytes, found " + std::to_string(found->second.size())};
  return found->second;
}

namespace {

/// A file without a name that holds the bytes, or -1 with errno.
int anonymousFile(const std::string &name, const std::string &bytes) {
  int file = memfd_create(name.c_str(), MFD_CLOEXEC);
  size_t done = 0;
  while (file >= 0 && done < bytes.size()) {
    ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      int reason = errno;
      close(file);
      errno = reason;
      return -1;
    }
    done += static_cast<size_t>(count);
  }
  return file;
}

} // namespace

Result<std::shared_ptr<void>>
BundleFiles::openLibrary(const std::string &name) const {
  std::string path, shown = show(name);
  int file = -1;
  if (inMemory()) {
    auto found = contents->find(name);
    if (found == contents->end())
      return Failure{shown + ": cannot open: no such file"};
    file = anonymousFile(name, found->second);
    if (file < 0)
      return Failure{shown +
                     ": cannot make a file in memory: " + systemError(errno)};
    path = "/proc/self/fd/" + std::to_string(file);
  } else {
    Result<std::string> resolved = resolveInside(place, name);
    if (!resolved)
      return resolved.failure();
    path = shown = *resolved;
  }
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    Failure failure{shown +
                    ": cannot load: " + (reason ? reason : "no reason given")};
    if (file >= 0)
      close(file);
    return failure;
  }
  // The loader knows a library by its path. A descriptor's number would come
  // again, and the next library with it would be taken for this one: it is
  // given back after the library only, which may stay in spite of dlclose.
  return std::shared_ptr<void>(handle, [file, path](void *h) {
    dlclose(h);
    if (file < 0)
      return;
    if (void *stays = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD))
      dlclose(stays);
    else
      close(file);
  });
}

namespace {

Failure cannotWrite(const fs::path &path, const std::error_code &code) {
  return Failure{"cannot write '" + path.string() + "': " + code.message()};
}

/// A name beside `path` that nothing has.
fs::path nameBeside(const fs::path &path, const char *suffix) {
  static const char digits[] = "0123456789abcdef";
  std::random_device random;
  std::string name = path.string() + ".";
  for (int i = 0; i < 8; ++i)
    name += digits[random() % 16];
  return name + suffix;
}

Status writeWhole(const fs::path &path, const std::string &bytes) {
  std::FILE *file = std::fopen(path.c_str(), "wbe");
  if (!file)
    return cannotWrite(path, std::error_code(errno, std::generic_category()));
  bool good = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  int reason = errno;
  if (std::fclose(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good)
    return Success{};
  return cannotWrite(path, std::error_code(reason, std::generic_category()));
}

/// Why the folder must not be replaced; nothing if it is empty or holds a
/// bundle and no more: the files that its manifest names, and its header. The
/// manifest may be of a later version.
std::optional<std::string> whyKept(const fs::path &target) {
  std::error_code code;
  if (fs::is_directory(target, code) && fs::is_empty(target, code))
    return std::nullopt;
  std::string kept = "'" + target.string() + "' exists and is no bundle (";
  std::string otherwise = "); name another folder or remove it";
  if (!fs::exists(target / "manifest.json", code))
    return kept + "it has no manifest.json" + otherwise;
  Result<std::string> text = readManifestText(BundleFiles(target.string()));
  if (!text || text->find("\"prism_manifest\"") == std::string::npos)
    return kept + "its manifest.json has no prism_manifest" + otherwise;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(target, code)) {
    std::string name = entry.path().filename().string();
    bool isHeader =
        name.compare(0, 6, "prism_") == 0 && entry.path().extension() == ".h";
    if (name != "manifest.json" && !isHeader &&
        text->find("\"" + name + "\"") == std::string::npos)
      return "'" + target.string() + "' holds " + quote(name) +
             ", which is no part of its bundle; name another folder or move it "
             "away";
  }
  return std::nullopt;
}

/// Removes a folder unless it was renamed before.
struct Temporary {
  fs::path path;
  ~Temporary() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

/// Puts the finished folder in the place of `target`.
Status replace(const fs::path &finished, const fs::path &target, bool exists) {
  std::error_code code;
  fs::path old = nameBeside(target, ".old");
  if (exists)
    fs::rename(target, old, code);
  if (code)
    return cannotWrite(target, code);
  fs::rename(finished, target, code);
  std::error_code ignored;
  if (code) {
    if (exists)
      fs::rename(old, target, ignored);
    return cannotWrite(target, code);
  }
  if (exists)
    fs::remove_all(old, ignored);
  return Success{};
}

} // namespace

Status writeBundleFolder(const FileContents &files, const std::string &path) {
  // "out/" and "out" are one folder.
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/')
    trimmed.pop_back();
  fs::path target = trimmed;
  std::error_code code;
  bool exists = fs::exists(target, code);
  if (exists)
    if (std::optional<std::string> reason = whyKept(target))
      return Failure{*reason};
  // What a link names is replaced, not the link.
  if (fs::is_symlink(target, code))
    target = fs::canonical(target, code);
  if (target.has_parent_path()) {
    code.clear();
    fs::create_directories(target.parent_path(), code);
    if (code)
      return cannotWrite(target.parent_path(), code);
  }
  // Readable by whom the umask says, as its files are.
  Temporary temporary{nameBeside(target, ".tmp")};
  code.clear();
  fs::create_directory(temporary.path, code);
  if (code)
    return cannotWrite(temporary.path, code);
  for (const auto &[name, bytes] : files)
    if (Status written = writeWhole(temporary.path / name, bytes); !written)
      return written;
  return replace(temporary.path, target, exists);
}

} // namespace prism::runtime
