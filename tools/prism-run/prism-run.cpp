//===- prism-run.cpp - Runs an entry of a bundle on arrays -----------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "Bench.h"
#include "Listing.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

using namespace prism::run;
using namespace prism::runtime;

namespace {

struct Options {
  std::string bundle, entry;
  std::vector<std::string> in, out;
  std::string device = "cpu";
  Selection pinned;
  unsigned threads = 0;
  int repeats = 0;
  bool bench = false, list = false;
};

constexpr const char *footer = R"(
Arrays are NumPy's .npy files: little-endian, row-major. Their names, dtypes and
shapes are those of --list; bf16 is stored as uint16. B, T and N follow from
the inputs. An output that is not asked for is not written, and an optional one
not computed. Outputs appear whole, or not at all.

Example:
  prism-run bundle --list
  prism-run bundle forward --in q=q.npy --in k=k.npy --in v=v.npy \
      --in log_alpha=g.npy --in beta=b.npy --out o=o.npy --out final_state=s.npy
  prism-run bundle forward --in ... --out o=o.npy --device cuda:0 --bench

PRISM_NUM_THREADS sets the number of threads where --threads does not.)";

void define(CLI::App &app, Options &options) {
  app.footer(footer);
  app.add_option("BUNDLE", options.bundle,
                 "folder that prism-compile wrote (with manifest.json)")
      ->required();
  app.add_option("ENTRY", options.entry, "entry to run; see --list");
  // One array after each --in, so that BUNDLE and ENTRY may follow.
  app.add_option("--in", options.in, "input array NAME=FILE.npy; repeat")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  app.add_option("--out", options.out, "output array NAME=FILE.npy; repeat")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  app.add_option("--device", options.device, "cpu or cuda:N (default cpu)")
      ->type_name("DEVICE");
  app.add_option("--threads", options.threads,
                 "CPU threads (default: one per hardware thread)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app.add_option("--schedule", options.pinned.schedule,
                 "schedule to use, e.g. chunk or recurrent (default: the "
                 "bundle's choice)")
      ->type_name("NAME");
  app.add_option("--segments", options.pinned.segments,
                 "split each sequence into so many, 1: not at all (default: "
                 "the bundle's choice)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--isa", options.pinned.isa,
                 "CPU kernel to use, e.g. x86-64-v3 (default: the best that "
                 "this CPU runs)")
      ->type_name("LEVEL");
  app.add_flag("--bench", options.bench, "repeat the run and print its time");
  app.add_option("--repeat", options.repeats,
                 "timed runs of --bench (default: half a second of them)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  app.add_flag("--list", options.list,
               "print entries, arguments and kernels, and stop");
}

/// The number of "cuda:N", -1 for the CPU.
Result<int> parseDevice(const std::string &text) {
  if (text == "cpu")
    return -1;
  if (text == "cuda")
    return 0;
  bool digits = text.size() > 5 && text.size() < 10 &&
                text.find_first_not_of("0123456789", 5) == std::string::npos;
  if (text.compare(0, 5, "cuda:") != 0 || !digits)
    return Failure{"--device: expected cpu or cuda:N, found '" + text + "'"};
  return std::atoi(text.c_str() + 5);
}

/// What `describe` says of the kernel, and how sequences are split.
std::string describeRun(const KernelInfo &kernel, int64_t segments) {
  return describe(kernel) +
         (kernel.isSplit()
              ? ", sequences in " + std::to_string(segments) + " segments"
              : "");
}

Status runOnCpu(const Options &options, const Entry &entry, Arrays &arrays) {
  Result<Call> call = bindCall(entry.info(), arrays.hostBindings());
  if (!call)
    return call.failure();
  Result<LoadedCpuKernel> kernel = entry.cpuKernel(call->sizes, options.pinned);
  if (!kernel)
    return kernel.failure();
  auto player = CpuPlayer::create(options.threads);
  if (!player)
    return player.failure();
  auto once = [&] { return (*player)->run(*kernel, *call); };
  Status done = once();
  if (!done || !options.bench)
    return done;
  Result<std::vector<double>> times = measure(options.repeats, once);
  if (!times)
    return times.failure();
  std::printf("%s, %u threads\n%s\n",
              describeRun(*kernel->info, kernel->segments).c_str(),
              (*player)->threads(), summary(*times).c_str());
  return Success{};
}

/// A run's arrays in device memory.
struct DeviceArrays {
  std::vector<CudaBuffer> inputs, outputs;
  Bindings bindings;

  Status upload(const CudaDevice &device, const Arrays &arrays, void *stream);
};

Status DeviceArrays::upload(const CudaDevice &device, const Arrays &arrays,
                            void *stream) {
  bindings = arrays.hostBindings();
  auto place = [&](std::vector<CudaBuffer> &buffers, size_t index,
                   int64_t bytes) -> Status {
    Result<CudaBuffer> buffer = device.allocate(bytes);
    if (!buffer)
      return Failure{"argument '" + bindings[index].name +
                     "': " + buffer.error()};
    bindings[index].array.data = buffer->data();
    buffers.push_back(std::move(*buffer));
    return Success{};
  };
  for (size_t i = 0; i < arrays.inputs.size(); ++i) {
    const NpyFile &file = arrays.inputs[i].file;
    Status placed = place(inputs, i, file.header().dataBytes);
    if (placed)
      placed = device.upload(inputs[i], file.data(), file.header().dataBytes,
                             stream);
    if (!placed)
      return placed;
  }
  for (size_t i = 0; i < arrays.outputs.size(); ++i) {
    Status placed =
        place(outputs, arrays.inputs.size() + i, arrays.outputs[i].bytes);
    if (!placed)
      return placed;
  }
  return Success{};
}

Status benchOnCuda(const Options &options, const CudaDevice &device,
                   const LoadedCudaKernel &kernel, const Call &call,
                   void *stream, const Workspace &workspace) {
  Result<std::vector<double>> times =
      device.time(kernel, call, 3, stream, workspace);
  if (times)
    times = device.time(kernel, call,
                        options.repeats ? options.repeats
                                        : repeatsFor(times->back()),
                        stream, workspace);
  if (!times)
    return times.failure();
  std::printf("%s, loaded as %s on %s\n%s\n",
              describeRun(*kernel.info, kernel.segments).c_str(),
              kernel.image().c_str(), device.name().c_str(),
              summary(*times).c_str());
  return Success{};
}

Status playOnCuda(const Options &options, const CudaDevice &device,
                  const Entry &entry, Arrays &arrays, void *stream) {
  DeviceArrays memory;
  Status good = memory.upload(device, arrays, stream);
  if (!good)
    return good;
  BindOptions where;
  where.deviceMemory = true;
  where.hostOffsets = arrays.offsets();
  Result<Call> call = bindCall(entry.info(), memory.bindings, where);
  if (!call)
    return call.failure();
  Result<LoadedCudaKernel> kernel =
      entry.cudaKernel(device, call->sizes, options.pinned);
  if (!kernel)
    return kernel.failure();
  std::optional<int64_t> bytes = kernel->workspaceBytes(call->sizes);
  if (!bytes)
    return Failure{"the call needs more workspace than 64 bits count"};
  Result<CudaBuffer> buffer = device.allocate(*bytes);
  if (!buffer)
    return buffer.failure();
  Workspace workspace{buffer->data(), *bytes};
  good = device.launch(*kernel, *call, stream, workspace);
  for (size_t i = 0; good && i < arrays.outputs.size(); ++i)
    good = device.download(arrays.outputs[i].memory.get(), memory.outputs[i],
                           arrays.outputs[i].bytes, stream);
  if (good)
    good = device.synchronize(stream);
  if (good && options.bench)
    good = benchOnCuda(options, device, *kernel, *call, stream, workspace);
  return good;
}

Status runOnCuda(const Options &options, int ordinal, const Entry &entry,
                 Arrays &arrays) {
  if (!options.pinned.isa.empty())
    return Failure{"--isa is for --device cpu"};
  Result<CudaDevice> device = CudaDevice::open(ordinal);
  if (!device)
    return device.failure();
  Result<void *> stream = device->createStream();
  if (!stream)
    return stream.failure();
  Status done = playOnCuda(options, *device, entry, arrays, *stream);
  Status closed = device->destroyStream(*stream);
  return done ? closed : done;
}

Status run(const Options &options) {
  Result<Program> program = Program::load(options.bundle);
  if (!program)
    return program.failure();
  if (options.list && options.entry.empty()) {
    std::fputs(list(program->manifest(), nullptr).c_str(), stdout);
    return Success{};
  }
  if (options.entry.empty())
    return Failure{"expected an entry to run after the bundle, found none; "
                   "--list shows them"};
  Result<Entry> entry = program->entry(options.entry);
  if (!entry)
    return entry.failure();
  if (options.list) {
    std::fputs(list(program->manifest(), &entry->info()).c_str(), stdout);
    return Success{};
  }
  Result<int> device = parseDevice(options.device);
  Result<Named> in = splitNamed(options.in, "--in");
  Result<Named> out = splitNamed(options.out, "--out");
  if (!device || !in || !out)
    return !device ? device.failure() : !in ? in.failure() : out.failure();
  if (out->empty() && !options.bench)
    return Failure{"expected an output to write (--out NAME=FILE) or --bench, "
                   "found neither"};
  Result<Arrays> arrays = Arrays::open(entry->info(), *in, *out);
  if (!arrays)
    return arrays.failure();
  Status done = *device < 0 ? runOnCpu(options, *entry, *arrays)
                            : runOnCuda(options, *device, *entry, *arrays);
  return done ? arrays->save() : done;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Runs an entry of a compiled bundle on arrays", "prism-run"};
  Options options;
  define(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &asked) {
    return app.exit(asked); // --help
  } catch (const CLI::ParseError &error) {
    std::fprintf(stderr, "prism-run: error: %s (--help shows the options)\n",
                 error.what());
    return 2;
  }
  Status done = run(options);
  // A full disk shows when what was printed leaves the buffer.
  if (done && (std::fflush(stdout) != 0 || std::ferror(stdout)))
    done = Failure{std::string("cannot write to the standard output: ") +
                   std::strerror(errno)};
  if (done)
    return 0;
  std::fprintf(stderr, "prism-run: error: %s\n", done.error().c_str());
  return 1;
}
