#include "llvmir/metadata.h"

namespace twinjit::llvmir {
namespace {

enum MetadataTag : uint8_t {
  kNull = 0,
  kString = 1,
  kNode = 2,
  kNodeIdentity = 3,
  kConstant = 4,
  kLocal = 5,
  kList = 6,
};

/// Whether an operand is a size or offset of zero, which text leaves out.
bool isAbsentNumber(const llvm::MDNode &node, size_t index) {
  if (!llvm::isa<llvm::DIType>(node) || (index != 3 && index != 4))
    return false;
  auto *number = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node.getOperand(index));
  return number && number->isZero();
}

} // namespace

/// Tarjan's search for cycles among uniqued nodes, with a stack of its own.
struct MetadataContents::Search {
  struct Visit {
    const llvm::MDNode *node;
    unsigned nextOperand;
  };
  struct State {
    unsigned order;  // of discovery
    unsigned lowest; // order of the earliest node that this one reaches and that is still open
  };

  State &discover(const llvm::MDNode *node) {
    visits.push_back({node, 0});
    open.push_back(node);
    unsigned order = states.size();
    return states.try_emplace(node, State{order, order}).first->second;
  }

  llvm::SmallVector<Visit, 16> visits;
  llvm::SmallVector<const llvm::MDNode *, 16> open; // found, and in no component yet
  llvm::DenseMap<const llvm::MDNode *, State> states;
};

void MetadataContents::explore(const llvm::MDNode &root) {
  Search search;
  search.discover(&root);
  while (!search.visits.empty()) {
    Search::Visit &visit = search.visits.back();
    const llvm::MDNode *node = visit.node;
    if (visit.nextOperand != node->getNumOperands()) {
      const llvm::Metadata *operand = node->getOperand(visit.nextOperand++);
      auto *next = llvm::dyn_cast_or_null<llvm::MDNode>(operand);
      if (!next || !counts(next, *node) || isKnown(*next))
        continue;
      auto found = search.states.find(next);
      if (found == search.states.end()) {
        search.discover(next);
      } else {
        Search::State &state = search.states[node];
        state.lowest = std::min(state.lowest, found->second.order);
      }
      continue;
    }
    search.visits.pop_back();
    Search::State state = search.states[node];
    if (!search.visits.empty()) {
      Search::State &parent = search.states[search.visits.back().node];
      parent.lowest = std::min(parent.lowest, state.lowest);
    }
    if (state.lowest != state.order)
      continue;
    size_t first = search.open.size() - 1;
    while (search.open[first] != node)
      --first;
    finish(llvm::ArrayRef(search.open).drop_front(first));
    search.open.truncate(first);
  }
}

bool MetadataContents::counts(const llvm::Metadata *operand, const llvm::MDNode &user) const {
  return !policy.ignoreLocations || isDebugInfo(user) ||
         !llvm::isa_and_nonnull<llvm::DILocation>(operand);
}

/// Settle nodes that reach each other: all that they lead to is known.
void MetadataContents::finish(llvm::ArrayRef<const llvm::MDNode *> component) {
  const llvm::MDNode *node = component.front();
  bool isCycle = component.size() > 1 || llvm::is_contained(node->operands(), node);
  if (isCycle) {
    shared.insert(component.begin(), component.end());
    return;
  }
  Fields fields;
  describeInside(*node, fields);
  if (fields.identities().size() > kMaxIdentities)
    shared.insert(node);
  else
    contents.try_emplace(node, constants.keep(fields));
}

void MetadataContents::describe(const llvm::Metadata *metadata, Fields &fields) {
  if (!metadata) {
    fields.tag(kNull);
  } else if (auto *string = llvm::dyn_cast<llvm::MDString>(metadata)) {
    fields.tag(kString);
    fields.string(string->getString());
  } else if (auto *value = llvm::dyn_cast<llvm::ValueAsMetadata>(metadata)) {
    describeValue(*value, fields);
  } else if (auto *list = llvm::dyn_cast<llvm::DIArgList>(metadata)) {
    describeList(*list, fields);
  } else if (auto *node = llvm::dyn_cast<llvm::MDNode>(metadata)) {
    if (!isKnown(*node))
      explore(*node);
    if (hasIdentity(*node)) {
      fields.tag(kNodeIdentity);
      fields.identity(node);
    } else {
      fields.tag(kNode);
      fields.content(contents.find(node)->second);
    }
  } else if (constants.problem.empty()) {
    constants.problem = "metadata of a kind that twinjit does not know (LLVM's number " +
                        std::to_string(metadata->getMetadataID()) + ")";
  }
}

void MetadataContents::describeValue(const llvm::ValueAsMetadata &value, Fields &fields) {
  if (auto *constant = llvm::dyn_cast<llvm::Constant>(value.getValue())) {
    fields.tag(kConstant);
    fields.content(constants.of(constant));
  } else {
    fields.tag(kLocal);
    fields.identity(static_cast<const llvm::Value *>(value.getValue()));
  }
}

void MetadataContents::describeList(const llvm::DIArgList &list, Fields &fields) {
  fields.tag(kList);
  fields.number(list.getArgs().size());
  for (const llvm::ValueAsMetadata *value : list.getArgs())
    describe(value, fields);
}

void MetadataContents::describeInside(const llvm::MDNode &node, Fields &fields) {
  if (node.isTemporary() && constants.problem.empty())
    constants.problem = "a forward reference to metadata that is nowhere defined";
  fields.number(node.isDistinct());
  fields.number(isDebugInfo(node) ? node.getMetadataID() + 1U : 0U);
  if (isDebugInfo(node) && !describeDebugData(node, fields) && constants.problem.empty())
    constants.problem = "a debug-info node of a kind that twinjit does not know (LLVM's number " +
                        std::to_string(node.getMetadataID()) + ")";
  llvm::SmallVector<const llvm::Metadata *, 8> operands(node.operands());
  llvm::erase_if(operands, [&](const llvm::Metadata *operand) { return !counts(operand, node); });
  fields.number(operands.size());
  for (auto [index, operand] : llvm::enumerate(operands))
    describe(isAbsentNumber(node, index) ? nullptr : operand, fields);
}

} // namespace twinjit::llvmir
