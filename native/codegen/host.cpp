#include "codegen/host.h"

#include "common/digest.h"

#include "llvm-c/Core.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <dlfcn.h>

namespace twinjit {
namespace {

// Where the build found MLIR; $ORIGIN stands for the folder of this extension.
constexpr llvm::StringLiteral kMlirLibrary = TWINJIT_MLIR_AT_RUN_TIME;

/// The GNU build ID among an ELF file's notes, in hex; empty when there is none.
std::string buildId(llvm::MemoryBufferRef buffer) {
  auto file = llvm::object::ELFFile<llvm::object::ELF64LE>::create(buffer.getBuffer());
  if (!file) {
    llvm::consumeError(file.takeError());
    return "";
  }
  auto headers = file->program_headers();
  if (!headers) {
    llvm::consumeError(headers.takeError());
    return "";
  }
  std::string id;
  for (const auto &header : *headers) {
    if (header.p_type != llvm::ELF::PT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &note : file->notes(header, error))
      if (note.getName() == "GNU" && note.getType() == llvm::ELF::NT_GNU_BUILD_ID)
        id = llvm::toHex(note.getDesc(header.p_align), /*LowerCase=*/true);
    llvm::consumeError(std::move(error));
  }
  return id;
}

std::string resolveOrigin(llvm::StringRef path, llvm::StringRef folder) {
  if (!path.consume_front("$ORIGIN"))
    return path.str();
  return (folder + path).str();
}

} // namespace

const llvm::StringMap<bool> &hostFeatures() {
  static const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features;
}

Target hostTarget() {
  Target target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  std::vector<std::string> features;
  for (const auto &feature : hostFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  std::sort(features.begin(), features.end()); // in ASCII, + comes before -
  target.features = llvm::join(features, ",");
  return target;
}

std::string libraryOf(const void *address) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

Outcome<std::string> libraryIdentity(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return Failure{Kind::Load, "cannot read " + path + ": " + buffer.getError().message()};
  std::string id = buildId(**buffer);
  if (!id.empty())
    return id;
  llvm::BLAKE3 hasher;
  hasher.update((*buffer)->getBuffer());
  return "blake3:" + llvm::toHex(hasher.final<32>(), /*LowerCase=*/true);
}

Outcome<std::vector<Library>> toolchain() {
  std::string here = libraryOf(reinterpret_cast<const void *>(&toolchain));
  llvm::StringRef folder = llvm::sys::path::parent_path(here);
  llvm::SmallString<128> sibling(folder);
  llvm::StringRef file = llvm::sys::path::filename(here);
  file.consume_front("_llvm");
  llvm::sys::path::append(sibling, "_mlir" + file);
  std::vector<Library> libraries = {
      {"libLLVM", libraryOf(reinterpret_cast<const void *>(&LLVMGetVersion)), ""},
      {"libMLIR", resolveOrigin(kMlirLibrary, folder), ""},
      {"_llvm", here, ""},
      {"_mlir", sibling.str().str(), ""},
  };
  for (Library &library : libraries) {
    auto identity = libraryIdentity(library.path);
    if (!identity)
      return identity.failure();
    library.identity = *identity;
  }
  return libraries;
}

} // namespace twinjit
