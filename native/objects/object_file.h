// A relocatable ELF object, read for comparison and disassembly. Nothing of it is trusted.
#pragma once

#include "common/outcome.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace twinjit::objects {

struct Symbol {
  llvm::StringRef name;
  uint8_t kind;       // STT_*
  uint8_t binding;    // STB_*
  uint8_t visibility; // STV_*
  uint16_t place;     // index of its section in the file, or SHN_*
  uint64_t value;     // of functions and data: offset in the section
  uint64_t size;

  bool operator==(const Symbol &other) const;
};

struct Relocation {
  uint64_t offset; // in the section
  uint32_t type;
  llvm::StringRef symbol; // of a section without a symbol's name: the section's
  int64_t addend;

  bool operator==(const Relocation &other) const;
};

/// A section with content of its own: no table of symbols, names or relocations.
struct Section {
  uint16_t place; // index in the file
  llvm::StringRef name;
  uint32_t type;  // SHT_*
  uint64_t flags; // SHF_*
  uint64_t alignment;
  uint64_t size;
  llvm::StringRef content;                  // empty where the file has none (SHT_NOBITS)
  std::vector<Relocation> relocations = {}; // by offset

  bool isLoaded() const;
};

struct ObjectFile {
  uint16_t machine; // EM_*
  uint32_t flags;
  std::vector<Section> sections; // first those that are loaded; else in the order of the file
  std::vector<Symbol> symbols;

  /// Fails with Kind::Load for what is no such object, or a damaged one. The views are into
  /// `bytes`, whose address must be a multiple of 16.
  static Outcome<ObjectFile> read(llvm::StringRef bytes);

  /// The function at an offset in a section; null where there is none.
  const Symbol *functionAt(const Section &section, uint64_t offset) const;

  /// The section of a name, and in it the function of a name; null where there is none.
  const Section *section(llvm::StringRef name) const;
  const Symbol *function(const Section &section, llvm::StringRef name) const;

  /// What a relocation asks for, as `objdump -r` writes it.
  std::string describe(const Relocation &relocation) const;
};

} // namespace twinjit::objects
