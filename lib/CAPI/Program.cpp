//===- Program.cpp - Programs and entries of the C API --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <cstring>

using namespace prism;
using namespace prism::capi;

static_assert(int(runtime::DType::F64) == PRISM_DTYPE_F64 &&
                  int(runtime::DType::F32) == PRISM_DTYPE_F32 &&
                  int(runtime::DType::BF16) == PRISM_DTYPE_BF16 &&
                  int(runtime::DType::F16) == PRISM_DTYPE_F16 &&
                  int(runtime::DType::I64) == PRISM_DTYPE_I64,
              "the C API's dtypes are the runtime's");
static_assert(int(runtime::Role::Input) == PRISM_ROLE_INPUT &&
                  int(runtime::Role::InitialState) ==
                      PRISM_ROLE_INITIAL_STATE &&
                  int(runtime::Role::Offsets) == PRISM_ROLE_OFFSETS &&
                  int(runtime::Role::Output) == PRISM_ROLE_OUTPUT &&
                  int(runtime::Role::FinalState) == PRISM_ROLE_FINAL_STATE &&
                  int(runtime::Role::InitialWindow) ==
                      PRISM_ROLE_INITIAL_WINDOW &&
                  int(runtime::Role::FinalWindow) == PRISM_ROLE_FINAL_WINDOW,
              "the C API's roles are the runtime's");
static_assert(runtime::Dim::B == -PRISM_EXTENT_B &&
                  runtime::Dim::T == -PRISM_EXTENT_T &&
                  runtime::Dim::N == -PRISM_EXTENT_N &&
                  runtime::Dim::NPlus1 == -PRISM_EXTENT_N_PLUS_1,
              "the C API's extents are the runtime's");

static std::vector<int64_t> extentsOf(const runtime::ArgumentInfo &info) {
  std::vector<int64_t> extents;
  for (const runtime::Dim &dim : info.shape)
    extents.push_back(dim.kind == runtime::Dim::Number ? dim.number
                                                       : -int64_t(dim.kind));
  return extents;
}

PrismEntry::PrismEntry(runtime::Entry given) : entry(std::move(given)) {
  for (const runtime::ArgumentInfo &info : entry.info().arguments) {
    extents.push_back(extentsOf(info));
    arguments.push_back({info.name.c_str(), PrismRole(info.role),
                         PrismDType(info.dtype), info.optional,
                         info.shape.size(), info.axes.c_str(),
                         extents.back().data()});
  }
}

const char *PrismEntry::describe(const runtime::KernelInfo &kernel) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::string &text = texts[&kernel];
  if (text.empty())
    text = kernel.plan.schedule + " " + std::to_string(kernel.plan.chunk) +
           ", " +
           (kernel.target == runtime::Target::Cpu ? kernel.isa : kernel.chip);
  return text.c_str();
}

PrismProgram *capi::makeProgram(runtime::Result<runtime::Program> program,
                                PrismDiagnostic **error) {
  if (!program) {
    setError(error, PRISM_KIND_BUNDLE, program.failure());
    return nullptr;
  }
  auto made = std::make_unique<PrismProgram>(
      PrismProgram{*program, program->manifestText(), {}});
  for (const runtime::EntryInfo &info : program->manifest().entries)
    made->entries.emplace_back(*program->entry(info.name));
  return made.release();
}

const char *prismVersion(void) { return PRISM_VERSION; }

PrismProgram *prismProgramLoad(const char *folder, PrismDiagnostic **error) {
  return guarded(error, static_cast<PrismProgram *>(nullptr),
                 [&]() -> PrismProgram * {
                   if (folder)
                     return makeProgram(runtime::Program::load(folder), error);
                   setError(error, PRISM_KIND_USAGE,
                            {"expected a bundle's folder, found null"});
                   return nullptr;
                 });
}

PrismStatus prismProgramSave(const PrismProgram *program, const char *folder,
                             PrismDiagnostic **error) {
  return guarded(error, PRISM_FAILURE, [&] {
    if (!program || !folder) {
      setError(error, PRISM_KIND_USAGE,
               {"expected a program and a folder, found null"});
      return PRISM_FAILURE;
    }
    runtime::Status saved = program->program.save(folder);
    if (saved)
      return PRISM_SUCCESS;
    setError(error, PRISM_KIND_BUNDLE, saved.failure());
    return PRISM_FAILURE;
  });
}

void prismProgramDestroy(PrismProgram *program) { delete program; }

const char *prismProgramName(const PrismProgram *program) {
  return program ? program->program.manifest().name.c_str() : "";
}

const char *prismProgramCompiler(const PrismProgram *program) {
  return program ? program->program.manifest().compiler.c_str() : "";
}

const char *prismProgramManifest(const PrismProgram *program) {
  return program ? program->manifest.c_str() : "";
}

size_t prismProgramEntryCount(const PrismProgram *program) {
  return program ? program->entries.size() : 0;
}

const PrismEntry *prismProgramEntryAt(const PrismProgram *program,
                                      size_t index) {
  return index < prismProgramEntryCount(program) ? &program->entries[index]
                                                 : nullptr;
}

const PrismEntry *prismProgramEntry(const PrismProgram *program,
                                    const char *name, PrismDiagnostic **error) {
  return guarded(error, static_cast<const PrismEntry *>(nullptr),
                 [&]() -> const PrismEntry * {
                   if (!program || !name) {
                     setError(error, PRISM_KIND_USAGE,
                              {"expected a program and the name of an entry, "
                               "found null"});
                     return nullptr;
                   }
                   for (const PrismEntry &entry : program->entries)
                     if (entry.entry.info().name == name)
                       return &entry;
                   setError(error, PRISM_KIND_USAGE,
                            program->program.entry(name).failure());
                   return nullptr;
                 });
}

const char *prismEntryName(const PrismEntry *entry) {
  return entry ? entry->entry.info().name.c_str() : "";
}

static bool isDType(PrismDType dtype) {
  return dtype >= PRISM_DTYPE_F64 && dtype <= PRISM_DTYPE_I64;
}

size_t prismDTypeSize(PrismDType dtype) {
  return isDType(dtype) ? runtime::byteSize(runtime::DType(dtype)) : 0;
}

const char *prismDTypeName(PrismDType dtype) {
  return isDType(dtype) ? runtime::toString(runtime::DType(dtype)) : "";
}

size_t prismEntryArgumentCount(const PrismEntry *entry) {
  return entry ? entry->arguments.size() : 0;
}

const PrismArgument *prismEntryArgumentAt(const PrismEntry *entry,
                                          size_t index) {
  return index < prismEntryArgumentCount(entry) ? &entry->arguments[index]
                                                : nullptr;
}

const PrismArgument *prismEntryArgument(const PrismEntry *entry,
                                        const char *name) {
  if (entry && name)
    for (const PrismArgument &argument : entry->arguments)
      if (std::strcmp(argument.name, name) == 0)
        return &argument;
  return nullptr;
}
