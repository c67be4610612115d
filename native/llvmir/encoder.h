// The description of a module as bytes.
#pragma once

#include "llvmir/sink.h"

namespace twinjit::llvmir {

// The format. Numbers are LEB128, strings are prefixed with their length, contents are written by
// Fields, Refs are 32 bytes.
//
//   module      node
//   node        tag kBegin, number of its kind, string label, parts, tag kEnd
//   part        field, definition, or node
//   field       tag kField, number of its name, number 0 or place + 1 among several of the name,
//               bytes of the content as a string, number of identities, identities
//   definition  tag kDefine, identity
//   identity    number twice its place among those of its kind, plus one for local ones
//
// An identity's place is that among the arguments, blocks and results of its function, in the order
// in which they are listed; or that among all others of the module, in order of first mention,
// after symbols without a name in the order in which they are listed, where that counts.
enum StreamTag : uint8_t { kEnd = 0, kBegin = 1, kField = 2, kDefine = 3 };

/// Writes parts of nodes.
class Encoder {
public:
  void begin(const Node &node) {
    fields.tag(kBegin);
    fields.number(static_cast<uint8_t>(node.kind));
    fields.string(node.label);
  }

  void field(FieldName name, llvm::ArrayRef<uint8_t> bytes, llvm::ArrayRef<Numbered> identities) {
    fields.tag(kField);
    fields.number(name.number);
    fields.number(static_cast<uint64_t>(name.index + 1));
    fields.string(llvm::toStringRef(bytes));
    fields.number(identities.size());
    for (const Numbered &each : identities)
      identity(each);
  }

  void define(const Numbered &value) {
    fields.tag(kDefine);
    identity(value);
  }

  void end() { fields.tag(kEnd); }

  llvm::ArrayRef<uint8_t> bytes() const { return fields.bytes(); }
  void clear() { fields.clear(); }

private:
  void identity(const Numbered &value) { fields.number(value.number * 2 + value.isLocal); }

  Fields fields;
};

} // namespace twinjit::llvmir
