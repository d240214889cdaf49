//===- RoleKernel.cpp - An entry as a kernel of roles, interpreted --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RoleKernel.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Import/Import.h"
#include "Prism/Registration/Registration.h"
#include "Prism/Spec/Spec.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace prism;
using namespace prism::test;

unsigned prism::test::fromEnvironment(const char *name, unsigned otherwise) {
  const char *text = getenv(name);
  return text ? unsigned(atoi(text)) : otherwise;
}

//===----------------------------------------------------------------------===//
// From a spec to a kernel
//===----------------------------------------------------------------------===//

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerPrismDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

/// Of a spec, which is an object, or of a module's text.
static OwningOpRef<ModuleOp>
moduleOf(const std::string &text, MLIRContext *context, std::string &reason) {
  if (text.front() != '{') {
    auto module = parseSourceString<ModuleOp>(text, context);
    if (!module)
      reason = "the module cannot be parsed";
    return module;
  }
  spec::SpecDiagnostic diagnostic;
  FailureOr<spec::Spec> model = spec::readSpec(text, "test.json", diagnostic);
  if (succeeded(model))
    return spec::importSpec(*model, context);
  reason = diagnostic.str();
  return {};
}

RoleKernel::RoleKernel(const std::string &text,
                       std::optional<int64_t> valueBlock, int64_t segments,
                       int64_t prepareBlocks)
    : context(makeContext()), segments(segments) {
  module = moduleOf(text, context.get(), reason);
  if (!module)
    return;
  entry = *module->getOps<func::FuncOp>().begin();
  CompileOptions options;
  options.plans[""] = {scan::Schedule::chunk, std::nullopt, valueBlock,
                       std::nullopt,          segments,     prepareBlocks};
  std::string error;
  auto target = targetinfo::parseTarget("cuda:sm_90a", error);
  auto units = buildUnits(entry, *target, options);
  if (failed(units)) {
    reason = "no units";
    return;
  }
  Unit &unit = units->front();
  if (!unit.roles) {
    reason = llvm::join(
        llvm::map_range(unit.remarks,
                        [](const Remark &remark) { return remark.text; }),
        "; ");
    return;
  }
  tile::ProgramOp program = *unit.roles->getOps<tile::ProgramOp>().begin();
  info = describeEntry(program, "forward");
  intermediates = describeIntermediates(program);
  // The combination of maps is plain.
  for (Unit &before : unit.before)
    if (!addLaunch(before, /*onTensorCores=*/bool(before.roles)))
      return;
  addLaunch(unit, /*onTensorCores=*/true);
}

bool RoleKernel::addLaunch(Unit &unit, bool onTensorCores) {
  Launch launch;
  launch.module = std::move(onTensorCores ? unit.roles : unit.module);
  tile::ProgramOp program = *launch.module->getOps<tile::ProgramOp>().begin();
  launch.items = itemsOf(program);
  // The conversion erases the program.
  bool isByStep = program.getChunk() == 1;
  tiletogpu::GPUOptions options;
  options.target = unit.target.gpu();
  options.symbol = "kernel";
  auto made = tiletogpu::convertProgramToGPU(program, options);
  if (failed(made) || failed(verify(*launch.module))) {
    reason = "not lowered";
    return false;
  }
  // Diagonal maps are combined in registers, others in shared memory.
  bool isInRegisters =
      made->strategy == tiletogpu::Strategy::Registers && isByStep;
  EXPECT_TRUE(onTensorCores ? made->strategy == tiletogpu::Strategy::Roles
                            : isInRegisters || made->strategy ==
                                                   tiletogpu::Strategy::Shared);
  launch.itemsPerBlock = made->itemsPerBlock;
  for (const tiletogpu::TensorMapBox &box : made->tensorMaps) {
    launch.tensorMaps.push_back(
        {box.argument, box.rows, box.columns, box.ranks});
    EXPECT_TRUE(info.locate(launch.tensorMaps.back(), intermediates.size()))
        << box.argument;
  }
  launch.valueBlocks = made->blocksPerHead;
  launch.threads = made->threads;
  launch.sharedBytes = made->sharedBytes;
  launch.function = launch.module->lookupSymbol<LLVM::LLVMFuncOp>("kernel");
  launches.push_back(std::move(launch));
  return true;
}

RoleKernel::~RoleKernel() = default;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void RoleKernel::prepare(const check::InputOptions &options,
                         llvm::function_ref<void(check::HostArrays &)> edit) {
  inputs = check::makeInputs(entry, info, options);
  if (edit)
    edit(inputs);
  blank = check::makeOutputs(info, check::sizesOf(options));
  auto oracle = check::runOracle(entry, info, inputs, blank);
  ASSERT_TRUE(succeeded(oracle));
  references = *oracle;
}

void RoleKernel::omit(const std::string &name) {
  ASSERT_EQ(inputs.erase(name) + blank.erase(name), 1u) << name;
  references.erase(name);
}

/// The arrays of a call as they lie, each in bytes of its own. What is between
/// the elements has a pattern that must stay.
struct RoleKernel::Memory {
  static constexpr uint8_t kGap = 0xa5;
  static constexpr size_t kAlignment = 256;
  struct Place {
    std::vector<uint8_t> bytes;
    size_t first; ///< byte of element 0
    std::vector<int64_t> strides;
    int64_t pitch;
  };
  std::map<std::string, Place> places;
  runtime::Bindings bindings;

  Memory(Placement place, const check::HostArrays &inputs,
         const check::HostArrays &outputs) {
    for (const check::HostArrays *arrays : {&inputs, &outputs})
      for (const auto &[name, array] : *arrays)
        add(place, name, array);
  }

  void add(Placement place, const std::string &name,
           const check::HostArray &array) {
    int64_t size = runtime::byteSize(array.dtype);
    if (array.dtype == runtime::DType::I64)
      place = {};
    Place &made = places[name];
    made.pitch = (array.shape.back() + place.pad) * size;
    made.bytes.assign(
        kAlignment + place.offset * size + rows(array) * made.pitch, kGap);
    size_t misaligned = reinterpret_cast<uint64_t>(made.bytes.data());
    made.first = (kAlignment - misaligned % kAlignment) % kAlignment +
                 place.offset * size;
    for (int64_t row = 0, width = array.shape.back() * size; row < rows(array);
         ++row)
      std::copy_n(array.bytes.begin() + row * width, width,
                  made.bytes.begin() + made.first + row * made.pitch);
    std::vector<int64_t> padded = array.shape;
    padded.back() += place.pad;
    made.strides = runtime::rowMajorStrides(padded);
    bindings.push_back({name,
                        {made.bytes.data() + made.first, array.dtype,
                         array.shape, made.strides}});
  }

  /// Whether a byte belongs to no element.
  static int64_t rows(const check::HostArray &array) {
    return array.shape.back() ? array.size() / array.shape.back() : 0;
  }

  void allow(KernelInterpreter &interpreter) const {
    for (const auto &[name, place] : places)
      interpreter.allow(place.bytes.data() + place.first,
                        place.bytes.size() - place.first);
  }

  /// Takes an array out again; whether nothing but its elements was written.
  bool take(const std::string &name, check::HostArray &array) {
    Place &place = places.at(name);
    int64_t width = array.shape.back() * runtime::byteSize(array.dtype);
    for (int64_t row = 0; row < rows(array); ++row) {
      auto from = place.bytes.begin() + place.first + row * place.pitch;
      std::copy_n(from, width, array.bytes.begin() + row * width);
      std::fill_n(from, width, kGap);
    }
    array.decode();
    return llvm::all_of(place.bytes, [](uint8_t b) { return b == kGap; });
  }
};

bool prism::test::encodeForInterpreter(const runtime::TensorMap &map,
                                       void *to) {
  TensorMap made;
  made.address = map.address;
  made.rank = map.rank;
  for (unsigned axis = 0; axis < map.rank; ++axis) {
    made.strides[axis] = map.strides[axis];
    made.extents[axis] = uint32_t(map.extents[axis]);
    made.box[axis] = map.box[axis];
  }
  std::memcpy(to, &made, sizeof(made));
  return true;
}

std::string
RoleKernel::runLaunch(const Launch &launch, const runtime::Call &call,
                      const InterpreterOptions &options, bool hasMaps,
                      const std::function<void(KernelInterpreter &)> &allow,
                      std::optional<int64_t> onlyBlock) {
  std::vector<uint64_t> parameter(
      runtime::parameterBytes(launch.tensorMaps, call) / 8);
  runtime::writeParameter(
      launch.tensorMaps, call,
      [&](const runtime::TensorMap &map, void *to) {
        return hasMaps && encodeForInterpreter(map, to);
      },
      parameter.data());
  int64_t blocks = llvm::divideCeil(
      *runtime::workItems(call, launch.valueBlocks, launch.items),
      launch.itemsPerBlock);
  for (int64_t block = 0; block < blocks; ++block) {
    KernelInterpreter interpreter(launch.function, launch.threads,
                                  launch.sharedBytes, options);
    if (block % interpreter.blocksOfCluster() ||
        block != onlyBlock.value_or(block))
      continue;
    allow(interpreter);
    if (!interpreter.runBlock(block, parameter, blocks))
      return "block " + std::to_string(block) + ": " + interpreter.error();
    boxes += interpreter.countBoxes();
    storedBoxes += interpreter.countStoredBoxes();
  }
  return "";
}

std::string RoleKernel::run(const InterpreterOptions &options, Placement place,
                            std::optional<int64_t> onlyBlock) {
  errors.clear(); // of a run that ends early none are known
  Memory memory(place, inputs, blank);
  auto call = runtime::bindCall(info, memory.bindings);
  if (!call)
    return call.error();
  // NaN where nothing was written.
  workspace.assign(
      *runtime::intermediateBytes(intermediates, call->sizes, segments), 0xff);
  if (segments > 1)
    *call =
        runtime::splitCall(*call, intermediates, segments, workspace.data());
  auto allow = [&](KernelInterpreter &interpreter) {
    memory.allow(interpreter);
    interpreter.allow(workspace.data(), workspace.size());
  };
  boxes = storedBoxes = 0;
  for (const Launch &launch : launches)
    if (std::string fault =
            runLaunch(launch, *call, options, place.hasMaps, allow, onlyBlock);
        !fault.empty())
      return fault;
  if (onlyBlock)
    return "";
  check::HostArrays got = blank;
  for (auto &[name, array] : got)
    if (!memory.take(name, array))
      return name + ": written beside its elements";
  results = got;
  return compareWithReferences(got);
}

std::string RoleKernel::compareWithReferences(const check::HostArrays &got) {
  // An absent array is compared with itself.
  check::HostArrays all = got, expected = references;
  for (const runtime::ArgumentInfo &argument : info.arguments)
    if (runtime::isWritten(argument.role) && !got.count(argument.name)) {
      all[argument.name].shape.assign(argument.shape.size(), 0);
      expected[argument.name] = all[argument.name];
    }
  auto output = llvm::find_if(info.arguments, [](const auto &argument) {
    return argument.role == runtime::Role::Output;
  });
  std::string text;
  for (const check::TensorError &error :
       check::compare(info, all, expected, check::errorLimit(output->dtype))) {
    errors[error.name] = error.ratio;
    if (!error.passed)
      text += error.name + ": " + std::to_string(error.ratio) +
              ", worst head " + std::to_string(error.worstHead) + "; ";
  }
  return text;
}
