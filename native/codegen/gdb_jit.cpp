#include "codegen/gdb_jit.h"

#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h"

// Their names are the interface (gdb's manual, "JIT Compilation Interface").
extern "C" {
extern jit_descriptor __jit_debug_descriptor;
void __jit_debug_register_code();
}

namespace twinjit {
namespace {

void tellGdb(jit_actions_t action, jit_code_entry *entry) {
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_register_code();
}

} // namespace

GdbEntry::GdbEntry(std::string content)
    : object(std::move(content)), entry(std::make_unique<jit_code_entry>()) {
  jit_code_entry *first = __jit_debug_descriptor.first_entry;
  *entry = {first, nullptr, object.data(), object.size()};
  if (first)
    first->prev_entry = entry.get();
  __jit_debug_descriptor.first_entry = entry.get();
  tellGdb(JIT_REGISTER_FN, entry.get());
}

GdbEntry::~GdbEntry() {
  if (entry->prev_entry)
    entry->prev_entry->next_entry = entry->next_entry;
  else
    __jit_debug_descriptor.first_entry = entry->next_entry;
  if (entry->next_entry)
    entry->next_entry->prev_entry = entry->prev_entry;
  tellGdb(JIT_UNREGISTER_FN, entry.get());
  __jit_debug_descriptor.relevant_entry = nullptr;
}

} // namespace twinjit
