#include "ir/foreign.h"

#include "ir/identity_attributes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/Parser/Parser.h"

#include <set>

namespace twinjit {
namespace {

/// What an attribute begins with that holds, as text, a property that parsing skipped.
constexpr llvm::StringLiteral kSkipped = "twinjit.skipped.";

template <typename T> std::string printed(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

class UnknownFinder {
public:
  UnknownFinder() {
    walker.addWalk([this](mlir::OpaqueAttr attribute) {
      note(attribute, attribute.getDialectNamespace(), attribute.getAttrData());
    });
    walker.addWalk([this](mlir::OpaqueType type) {
      note(type, type.getDialectNamespace(), type.getTypeData());
    });
  }

  void visit(mlir::Operation *operation) {
    if (!operation->isRegistered())
      operations.insert(operation->getName().getStringRef().str());
    for (mlir::NamedAttribute attribute : operation->getDiscardableAttrs())
      if (llvm::StringRef name = attribute.getName(); name.consume_front(kSkipped))
        noteSkipped(operation, name, attribute.getValue());
    walker.walk(operation->getLoc());
    walker.walk(operation->getRawDictionaryAttrs());
    if (mlir::Attribute properties = operation->getPropertiesAsAttribute())
      walker.walk(properties);
    for (mlir::Type type : operation->getResultTypes())
      walker.walk(type);
    for (mlir::Region &region : operation->getRegions())
      for (mlir::Block &block : region)
        for (mlir::BlockArgument argument : block.getArguments()) {
          walker.walk(argument.getLoc());
          walker.walk(argument.getType());
        }
  }

  Unknown take() const {
    auto list = [](const std::set<std::string> &names) {
      return std::vector<std::string>(names.begin(), names.end());
    };
    return {list(operations), list(dialects), list(properties), list(references)};
  }

private:
  template <typename T> void note(T value, mlir::StringAttr dialect, llvm::StringRef text) {
    dialects.insert(dialect.str());
    if (refersOutside(text))
      references.insert(printed(value));
  }

  void noteSkipped(mlir::Operation *operation, llvm::StringRef name, mlir::Attribute value) {
    properties.insert((operation->getName().getStringRef() + " " + name).str());
    auto text = llvm::dyn_cast<mlir::StringAttr>(value);
    if (text && refersOutside(text))
      references.insert(text.str());
  }

  mlir::AttrTypeWalker walker; // visits each attribute and type once
  std::set<std::string> operations, dialects, properties, references;
};

std::vector<mlir::Operation *> inOrder(mlir::ModuleOp module) {
  std::vector<mlir::Operation *> operations;
  module->walk<mlir::WalkOrder::PreOrder>(
      [&](mlir::Operation *operation) { operations.push_back(operation); });
  return operations;
}

/// Properties that newer MLIRs have, with the value that says what their absence says here.
struct Added {
  llvm::StringLiteral operation, property, value;
};
constexpr Added kAdded[] = {
    {"llvm.mlir.global", "tls_mode", "0 : i64"}, // MLIR 24, for what was `thread_local_`: not set
};

bool saysNothing(mlir::Operation *operation, llvm::StringRef property, llvm::StringRef value) {
  return llvm::any_of(kAdded, [&](const Added &added) {
    return operation->getName().getStringRef() == added.operation && property == added.property &&
           value == added.value;
  });
}

/// Give `parsed` what it has not taken of the properties of `written`, which is the same operation
/// where nobody has interpreted it.
void keepSkipped(mlir::Operation *written, mlir::Operation *parsed) {
  if (written->isRegistered() || !parsed->isRegistered())
    return;
  auto properties =
      llvm::dyn_cast_if_present<mlir::DictionaryAttr>(written->getPropertiesAsAttribute());
  if (!properties)
    return;
  mlir::DictionaryAttr taken; // made only where the list of inherent attributes does not suffice
  for (mlir::NamedAttribute property : properties) {
    llvm::StringRef name = property.getName();
    if (llvm::is_contained(parsed->getName().getAttributeNames(), name))
      continue;
    if (!taken)
      taken = llvm::dyn_cast_if_present<mlir::DictionaryAttr>(parsed->getPropertiesAsAttribute());
    std::string value = printed(property.getValue());
    if ((taken && taken.contains(name)) || saysNothing(parsed, name, value))
      continue;
    parsed->setDiscardableAttr(kSkipped.str() + name.str(),
                               mlir::StringAttr::get(parsed->getContext(), value));
  }
}

/// Keep what parsing skipped of the properties in `source`: that is read once more, where all
/// dialects but the builtin one are unregistered, so that nothing interprets it. False if the two
/// readings do not have the same operations.
bool keepSkipped(llvm::StringRef source, llvm::StringRef name, mlir::ModuleOp parsed) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.disableMultithreading(true);
  context.allowUnregisteredDialects();
  mlir::ScopedDiagnosticHandler silent(&context, [](mlir::Diagnostic &) {});
  mlir::ParserConfig config(&context, /*verifyAfterParse=*/false);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, config, name);
  if (!module)
    return false;
  std::vector<mlir::Operation *> written = inOrder(*module), taken = inOrder(parsed);
  if (written.size() != taken.size())
    return false;
  for (size_t i = 0; i != written.size(); ++i) {
    if (written[i]->getName().getStringRef() != taken[i]->getName().getStringRef())
      return false;
    keepSkipped(written[i], taken[i]);
  }
  return true;
}

} // namespace

Unknown findUnknown(mlir::Operation *root) {
  UnknownFinder finder;
  root->walk([&](mlir::Operation *operation) { finder.visit(operation); });
  return finder.take();
}

Outcome<Program> parseForeign(llvm::StringRef source, llvm::StringRef name, const Stop &stop) {
  Outcome<Program> program = Program::parse(source, name, /*allowUnregistered=*/true, stop);
  if (!program)
    return program;
  if (!keepSkipped(source, name, program->module()))
    return Failure{Kind::Parse, "cannot parse " + name.str() + " as MLIR in generic form"};
  if (stop.isRequested())
    return stop.failure("parse");
  return program;
}

} // namespace twinjit
