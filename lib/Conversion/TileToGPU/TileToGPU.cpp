//===- TileToGPU.cpp - Tile programs to GPU kernels -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "KernelBuilder.h"
#include "RegisterLowering.h"
#include "Roles/RolesLowering.h"
#include "SharedLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

StringRef prism::tiletogpu::stringifyStrategy(Strategy strategy) {
  switch (strategy) {
  case Strategy::Automatic:
    return "automatic";
  case Strategy::Shared:
    return "shared";
  case Strategy::Registers:
    return "registers";
  case Strategy::Roles:
    return "roles";
  }
  llvm_unreachable("unknown strategy");
}

//===----------------------------------------------------------------------===//
// What a GPU kernel cannot do
//===----------------------------------------------------------------------===//

/// f64 functions need a device library; f64 sums do not.
static LogicalResult checkTypes(ProgramOp program) {
  for (auto [i, type] : llvm::enumerate(program.getArgumentTypes()))
    if (cast<ViewType>(type).getElementType().isF64())
      return program.emitError("argument ")
             << program.getArgument_(i).getName()
             << " is f64; f64 entries run on the CPU only for now, give the "
             << "entry an I/O type of f32, bf16 or f16 for the GPU";
  auto result = program.getBody().walk([&](Operation *op) -> WalkResult {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
      return WalkResult::advance();
    for (Type type : op->getResultTypes())
      if (getElementTypeOrSelf(type).isF64()) {
        op->emitOpError(
            "is an f64 function; f64 entries run on the CPU only for now");
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Of a block, on every chip.
static constexpr int64_t kMaxThreads = 1024;

static LogicalResult checkOptions(ProgramOp program,
                                  const GPUOptions &options) {
  int64_t warp = options.target.warpSize;
  if (options.target.chip.empty())
    return program.emitOpError(
        "is to become a GPU kernel, but no chip is given");
  if (options.threads < warp || options.threads > kMaxThreads ||
      options.threads % warp)
    return program.emitOpError("cannot run with ")
           << options.threads << " threads a block; expected a multiple of "
           << warp << " up to " << kMaxThreads;
  return success();
}

//===----------------------------------------------------------------------===//
// The two strategies
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kSharedSymbol = "prism_shared";

static Value sharedMemory(ScalarBuilder &b, ModuleOp module,
                          int64_t alignment = 16) {
  auto memory = module.lookupSymbol<LLVM::GlobalOp>(kSharedSymbol);
  if (!memory) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    memory = LLVM::GlobalOp::create(
        b, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
        LLVM::Linkage::External, kSharedSymbol, Attribute(), alignment,
        /*addrSpace=*/3);
  }
  return LLVM::AddressOfOp::create(b, memory);
}

/// PTX 7.4.
static constexpr int kPtxOfCacheHints = 74;

static GPUKernelInfo emitRegisters(ProgramOp program, const GPUOptions &options,
                                   const RegisterPlan &plan, StringRef symbol) {
  GPUKernelInfo info;
  info.threads = RegisterLowering::threadsOf(plan, options.target.warpSize);
  info.itemsPerBlock = plan.itemsPerBlock;
  info.strategy = Strategy::Registers;
  ScalarBuilder b(program.getLoc(), program.getContext());
  KernelBuilder kernel(program, b);
  kernel.createKernel(symbol, info.threads);
  kernel.allowCacheHints(options.target.ptxVersion >= kPtxOfCacheHints);
  RegisterLowering lowering(kernel, b, plan, options.target.warpSize);
  lowering.emit(
      [&] { return sharedMemory(b, program->getParentOfType<ModuleOp>()); });
  info.sharedBytes = lowering.sharedBytes();
  kernel.finish();
  return info;
}

/// The same with bulk copies of the state.
static FailureOr<GPUKernelInfo>
emitCopies(ProgramOp program, const GPUOptions &options,
           const RegisterPlan &plan, StringRef symbol, std::string &reason) {
  FailureOr<CopiedStep> step =
      CopiedStep::make(program, plan, options.target, reason);
  if (failed(step))
    return failure();
  GPUKernelInfo info;
  info.threads =
      RegisterLowering::threadsOf(step->rows, options.target.warpSize);
  info.sharedBytes = step->bytes();
  info.strategy = Strategy::Registers;
  ScalarBuilder b(program.getLoc(), program.getContext());
  KernelBuilder kernel(program, b);
  LLVM::LLVMFuncOp function = kernel.createKernel(symbol, info.threads);
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(int32_t(step->blocksAtOnce())));
  RegisterLowering lowering(kernel, b, plan, options.target.warpSize);
  Value memory = sharedMemory(b, program->getParentOfType<ModuleOp>());
  if (failed(lowering.emitCopied(*step, memory, reason)))
    return failure();
  kernel.finish();
  return info;
}

bool prism::tiletogpu::canCopyState(ProgramOp program,
                                    const targetinfo::GPUInfo &gpu,
                                    std::string &whyNot) {
  OwningOpRef<ModuleOp> copy = program->getParentOfType<ModuleOp>().clone();
  auto again = copy->lookupSymbol<ProgramOp>(program.getSymName());
  FailureOr<RegisterPlan> plan =
      RegisterPlan::make(again, gpu.warpSize, whyNot);
  GPUOptions options;
  options.target = gpu;
  return succeeded(plan) &&
         succeeded(emitCopies(again, options, *plan, "kernel", whyNot));
}

static FailureOr<GPUKernelInfo>
emitShared(ProgramOp program, const GPUOptions &options, StringRef symbol) {
  FailureOr<SharedPlan> plan = SharedPlan::make(program, options.threads);
  if (failed(plan))
    return failure();
  if (plan->getBytes() > options.target.sharedMemoryPerBlock)
    return program.emitOpError("needs ")
           << plan->getBytes() << " bytes of shared memory, "
           << options.target.chip << " offers "
           << options.target.sharedMemoryPerBlock << " a block; "
           << plan->advice(program, options.target.sharedMemoryPerBlock);
  GPUKernelInfo info;
  info.threads = options.threads;
  info.sharedBytes = plan->getBytes();
  if (!program.getBody().getOps<SumStepsOp>().empty()) // a sum of each thread
    info.sharedBytes = std::max(info.sharedBytes, 8 * options.threads);
  info.strategy = Strategy::Shared;
  ScalarBuilder b(program.getLoc(), program.getContext());
  KernelBuilder kernel(program, b);
  kernel.createKernel(symbol, info.threads);
  Value memory = sharedMemory(b, program->getParentOfType<ModuleOp>());
  kernel.setScratch(memory);
  kernel.enterItem(kernel.block());
  SharedLowering(kernel, b, *plan, memory, info.threads,
                 options.target.warpSize)
      .emit();
  kernel.finish();
  return info;
}

static GPUKernelInfo emitRoleKernel(ProgramOp program, RolesPlan &plan,
                                    StringRef symbol) {
  GPUKernelInfo info;
  info.threads = plan.threads;
  info.strategy = Strategy::Roles;
  ScalarBuilder b(program.getLoc(), program.getContext());
  KernelBuilder kernel(program, b);
  LLVM::LLVMFuncOp function = kernel.createKernel(
      symbol, info.threads, plan.maps.all().size(), plan.cluster());
  info.blocksPerHead =
      program.getValueBlocks() / plan.valueBlocks * plan.cluster();
  for (const TensorMap &map : plan.maps.all())
    info.tensorMaps.push_back(
        {program.getArgument_(map.argument).getName().str(), map.rows,
         map.columns, map.ranks});
  // Without it ptxas does not know how many registers a thread starts with,
  // unless all 65536 go to the threads evenly, and ignores setmaxnreg (C7508).
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(1));
  Value memory =
      sharedMemory(b, program->getParentOfType<ModuleOp>(), kSwizzleBytes);
  kernel.setScratch(memory);
  emitRoles(kernel, b, plan, memory);
  kernel.finish();
  info.sharedBytes = plan.bytes();
  return info;
}

/// Of a kernel, on every chip.
static constexpr int64_t kMostParameterBytes = 4096;

/// Whether a kernel that was made can be launched. Shared memory of the other
/// strategies is known before.
static bool canLaunch(LLVM::LLVMFuncOp kernel, const GPUKernelInfo &info,
                      const prism::targetinfo::GPUInfo &gpu,
                      std::string &whyNot) {
  auto words = cast<LLVM::LLVMArrayType>(
      cast<TypeAttr>(
          kernel.getArgAttr(0, LLVM::LLVMDialect::getByValAttrName()))
          .getValue());
  int64_t parameter = int64_t(words.getNumElements()) * 8;
  if (parameter > kMostParameterBytes)
    whyNot = "its kernel has a parameter of " + std::to_string(parameter) +
             " bytes, and " + std::to_string(kMostParameterBytes) +
             " can be given";
  else if (info.sharedBytes > gpu.sharedMemoryPerBlock)
    whyNot = "its kernel needs " + std::to_string(info.sharedBytes) +
             " bytes of shared memory, and " + gpu.chip + " offers " +
             std::to_string(gpu.sharedMemoryPerBlock) + " a block";
  else
    return true;
  return false;
}

static bool hasRoles(ProgramOp program) {
  return !program.getBody().getOps<RoleOp>().empty();
}

bool prism::tiletogpu::canEmitRoles(ProgramOp program,
                                    const targetinfo::GPUInfo &gpu,
                                    std::string &whyNot) {
  // What a kernel takes beside its channels is known when it has been made.
  OwningOpRef<ModuleOp> copy = program->getParentOfType<ModuleOp>().clone();
  auto again = copy->lookupSymbol<ProgramOp>(program.getSymName());
  FailureOr<RolesPlan> plan = RolesPlan::make(again, whyNot);
  if (failed(plan))
    return false;
  GPUKernelInfo info = emitRoleKernel(again, *plan, "kernel");
  return canLaunch(copy->lookupSymbol<LLVM::LLVMFuncOp>("kernel"), info, gpu,
                   whyNot);
}

int64_t prism::tiletogpu::rolesScratchBytes(int64_t valueBlock,
                                            int64_t prepareTeams,
                                            int64_t decayedKeys, bool isLeast) {
  int64_t prepare =
      isLeast ? kLeastScratchOfPreparation : kScratchOfPreparation;
  int64_t chainWarps =
      kWarpsOfGroup * llvm::divideCeil(valueBlock, kRowsOfGroup);
  return (prepare + scratchOfKeyDecays(decayedKeys, isLeast)) * prepareTeams +
         Staged{kRowsOfGroup}.bytes() * chainWarps +
         (chainWarps ? Staged::kAlignment : 0);
}

FailureOr<int64_t> prism::tiletogpu::estimateSharedBytes(ProgramOp program) {
  FailureOr<SharedPlan> plan = SharedPlan::make(program, GPUOptions().threads);
  if (failed(plan))
    return failure();
  return plan->getBytes();
}

/// Replaces a program by its kernel, if that can be launched.
static FailureOr<GPUKernelInfo> finishConversion(ProgramOp program,
                                                 GPUKernelInfo info,
                                                 const GPUOptions &options,
                                                 StringRef symbol,
                                                 StringRef ownName) {
  auto kernel =
      program->getParentOfType<ModuleOp>().lookupSymbol<LLVM::LLVMFuncOp>(
          symbol);
  std::string whyNot;
  if (!canLaunch(kernel, info, options.target, whyNot)) {
    kernel.erase();
    program.setSymName(ownName);
    return program.emitOpError("cannot be launched: ") << whyNot;
  }
  info.symbol = symbol.str();
  if (info.strategy != Strategy::Roles)
    info.blocksPerHead = program.getValueBlocks();
  program.erase();
  return info;
}

FailureOr<GPUKernelInfo>
prism::tiletogpu::convertProgramToGPU(ProgramOp program,
                                      const GPUOptions &options) {
  if (failed(checkOptions(program, options)) || failed(checkTypes(program)))
    return failure();
  if (!isa<ModuleOp>(program->getParentOp()))
    return program.emitOpError(
        "must stand directly in a module to become a GPU kernel");
  std::string symbol =
      options.symbol.empty() ? program.getSymName().str() : options.symbol;
  // The kernel takes the program's name.
  std::string ownName = program.getSymName().str();
  program.setSymName(ownName + "__program");

  std::string declined;
  FailureOr<GPUKernelInfo> info = failure();
  if (hasRoles(program)) {
    FailureOr<RolesPlan> plan = RolesPlan::make(program, declined);
    if (succeeded(plan)) {
      info = emitRoleKernel(program, *plan, symbol);
      return finishConversion(program, *info, options, symbol, ownName);
    }
    program.emitOpError("has roles that there is no code for: ") << declined;
    program.setSymName(ownName);
    return failure();
  }
  bool wantsRegisters =
      options.strategy == Strategy::Registers ||
      (options.strategy == Strategy::Automatic && program.getChunk() == 1);
  FailureOr<RegisterPlan> plan = failure();
  if (wantsRegisters)
    plan = RegisterPlan::make(program, options.target.warpSize, declined);
  if (succeeded(plan) && options.copiesState) {
    info = emitCopies(program, options, *plan, symbol, declined);
    if (failed(info))
      program.emitOpError("cannot copy its state: ") << declined;
  } else if (succeeded(plan))
    info = emitRegisters(program, options, *plan, symbol);
  else if (options.strategy == Strategy::Registers)
    program.emitOpError("cannot keep its state in registers: ") << declined;
  else
    info = emitShared(program, options, symbol);
  if (failed(info)) {
    program.setSymName(ownName);
    return failure();
  }
  if (!declined.empty())
    remark::missed(program.getLoc(),
                   remark::RemarkOpts::name("RegisterStrategy")
                       .category("convert-tile-to-gpu"))
        << "state stays in shared memory: " + declined;
  info->declined = declined;
  return finishConversion(program, *info, options, symbol, ownName);
}

FailureOr<GPUKernelInfo>
prism::tiletogpu::convertTileToGPU(ModuleOp module, const GPUOptions &options) {
  SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
  if (programs.size() != 1)
    return module.emitError(
               "expected one tile.program to make a GPU kernel of, found ")
           << programs.size();
  return convertProgramToGPU(programs.front(), options);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {

struct ConvertTileToGPUPass
    : PassWrapper<ConvertTileToGPUPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertTileToGPUPass)

  ConvertTileToGPUPass() = default;
  ConvertTileToGPUPass(const ConvertTileToGPUPass &other)
      : PassWrapper(other) {}

  StringRef getArgument() const override { return "convert-tile-to-gpu"; }
  StringRef getDescription() const override {
    return "Make a plain SIMT kernel of every tile program";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect,
                    NVVM::NVVMDialect, scf::SCFDialect>();
  }

  LogicalResult parseOptions(GPUOptions &options) {
    std::string error;
    std::optional<prism::targetinfo::Target> parsed =
        prism::targetinfo::parseTarget(target, error);
    if (!parsed)
      return getOperation().emitError(error);
    if (!parsed->isCuda())
      return getOperation().emitError(
                 "option target: expected a cuda target, found '")
             << target << "'";
    options.target = parsed->gpu();
    options.threads = threads;
    options.copiesState = copiesState;
    auto chosen = llvm::StringSwitch<std::optional<Strategy>>(strategy)
                      .Case("automatic", Strategy::Automatic)
                      .Case("shared", Strategy::Shared)
                      .Case("registers", Strategy::Registers)
                      .Default(std::nullopt);
    if (!chosen)
      return getOperation().emitError("option strategy: expected automatic, "
                                      "shared or registers, found '")
             << strategy << "'";
    options.strategy = *chosen;
    return success();
  }

  void runOnOperation() override {
    GPUOptions options;
    if (failed(parseOptions(options)))
      return signalPassFailure();
    for (ProgramOp program :
         llvm::make_early_inc_range(getOperation().getOps<ProgramOp>())) {
      FailureOr<GPUKernelInfo> info = convertProgramToGPU(program, options);
      if (failed(info))
        return signalPassFailure();
      auto kernel = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(info->symbol);
      Builder builder(&getContext());
      kernel->setAttr("prism.strategy",
                      builder.getStringAttr(stringifyStrategy(info->strategy)));
      kernel->setAttr("prism.shared_bytes",
                      builder.getI64IntegerAttr(info->sharedBytes));
      kernel->setAttr("prism.items_per_block",
                      builder.getI64IntegerAttr(info->itemsPerBlock));
    }
  }

  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("What the kernels are for, e.g. cuda:sm_90a"),
      llvm::cl::init("cuda:sm_90a")};
  Option<std::string> strategy{*this, "strategy",
                               llvm::cl::desc("automatic, shared or registers"),
                               llvm::cl::init("automatic")};
  Option<bool> copiesState{
      *this, "copies-state",
      llvm::cl::desc("Bulk copies of a state of 16 bits, for calls of one step "
                     "(registers)"),
      llvm::cl::init(false)};
  Option<int64_t> threads{
      *this, "threads",
      llvm::cl::desc("Threads of a block in the shared strategy"),
      llvm::cl::init(256)};
};

} // namespace

void prism::tiletogpu::registerTileToGPUPasses() {
  PassRegistration<ConvertTileToGPUPass>();
}
