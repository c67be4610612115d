#include "sql/aggregator.h"

#include <algorithm>
#include <new>
#include <stdexcept>

using namespace twinjit::sql;

namespace {

// What `save` writes, each number in the machine's byte order:
//   magic, u64
//   keys: how many, u64; the kind of each, u8
//   aggregates: how many, u64; of each the name, the kind of its argument or 0xff, u8, and whether
//     it is distinct, u8
//   with keys, a table of the groups: how many, u64; for each key validity and values
//   for each aggregate: what its `States` write; if it is distinct, a table of groups' numbers and
//     the values that were seen
// An i64 stands before whatever has no fixed length, and counts its bytes. Version 1 of the format.
constexpr uint64_t magic = 0x316767615f4a54; // "TJ_agg1"
constexpr uint8_t noKind = 0xff;
constexpr uint64_t mostGroups = GroupTable::none;

void saveColumn(Packer &packer, Kind kind, Column column, size_t rows) {
  packer.putBytes(reinterpret_cast<const char *>(column.validity), rows);
  if (kind != Kind::Text) {
    packer.putBytes(column.values, rows * bytesOf(kind));
    return;
  }
  for (size_t row = 0; row < rows; ++row) {
    Text text = column.validity[row] ? column.at<Text>(row) : Text{"", 0};
    packer.putBytes(text.data, text.length);
  }
}

/// A column that was read, and where it lies.
struct LoadedColumn {
  std::vector<uint8_t> validity;
  std::vector<char> values;

  Column column() const { return {values.data(), validity.data()}; }
};

LoadedColumn loadColumn(Unpacker &unpacker, Kind kind, size_t rows) {
  LoadedColumn loaded{unpacker.takeAll<uint8_t>(rows), {}};
  if (kind != Kind::Text) {
    loaded.values = unpacker.takeAll<char>(rows * bytesOf(kind));
    return loaded;
  }
  for (size_t row = 0; row < rows; ++row) {
    std::string_view bytes = unpacker.takeBytes();
    Text text{bytes.data(), static_cast<int64_t>(bytes.size())};
    const char *raw = reinterpret_cast<const char *>(&text);
    loaded.values.insert(loaded.values.end(), raw, raw + sizeof(text));
  }
  return loaded;
}

void saveTable(Packer &packer, const GroupTable &table) {
  packer.put<uint64_t>(table.size());
  for (size_t key = 0; key < table.kinds().size(); ++key)
    saveColumn(packer, table.kinds()[key], table.key(key), table.size());
}

/// Adds rows to a table; gives their numbers.
std::vector<uint32_t> addAll(GroupTable &table, std::vector<Column> columns, size_t rows) {
  std::vector<uint32_t> numbers(rows);
  for (size_t begin = 0; begin < rows; begin += blockRows) {
    auto count = static_cast<int64_t>(std::min<size_t>(blockRows, rows - begin));
    table.find(columns.data(), count, numbers.data() + begin);
    for (size_t key = 0; key < columns.size(); ++key)
      columns[key] = columns[key].from(count, table.kinds()[key]);
  }
  return numbers;
}

void loadTable(Unpacker &unpacker, GroupTable &table) {
  auto rows = unpacker.take<uint64_t>();
  if (rows >= mostGroups)
    Unpacker::refuse();
  std::vector<LoadedColumn> loaded;
  std::vector<Column> columns;
  for (Kind kind : table.kinds())
    loaded.push_back(loadColumn(unpacker, kind, rows));
  for (const LoadedColumn &each : loaded)
    columns.push_back(each.column());
  addAll(table, columns, rows);
  if (table.size() != rows)
    Unpacker::refuse();
}

Kind takeKind(uint8_t number) {
  if (number > static_cast<uint8_t>(Kind::Text))
    Unpacker::refuse();
  return static_cast<Kind>(number);
}

} // namespace

Aggregator::Aggregator(std::vector<Kind> keys, std::vector<AggregateSpec> specs)
    : keyKinds(std::move(keys)) {
  if (hasKeys())
    table = std::make_unique<GroupTable>(keyKinds);
  for (AggregateSpec &spec : specs) {
    Part part{spec, makeStates(spec.function, spec.kind), nullptr};
    if (!part.states || (spec.isDistinct && !spec.kind))
      throw std::invalid_argument("there is no aggregate " + spec.function + " of that kind");
    if (spec.isDistinct)
      part.seen = std::make_unique<GroupTable>(std::vector<Kind>{Kind::Int4, *spec.kind});
    part.states->resize(groups());
    parts.push_back(std::move(part));
  }
}

/// Does what takes memory.
template <typename Work> void Aggregator::guard(Work work) {
  if (isOutOfMemory)
    return;
  try {
    work();
  } catch (const std::bad_alloc &) {
    isOutOfMemory = true;
  }
}

void Aggregator::requireMemory() const {
  if (isOutOfMemory)
    throw std::bad_alloc();
}

void Aggregator::update(const int64_t *words, int64_t rows) {
  guard([&] { updateAll(words, rows); });
}

void Aggregator::updateAll(const int64_t *words, int64_t rows) {
  std::vector<Column> columns;
  std::vector<Kind> kinds = keyKinds;
  for (const Part &part : parts)
    if (part.spec.kind)
      kinds.push_back(*part.spec.kind);
  for (size_t index = 0; index < kinds.size(); ++index)
    columns.push_back({reinterpret_cast<const char *>(words[2 * index]),
                       reinterpret_cast<const uint8_t *>(words[2 * index + 1])});
  for (int64_t begin = 0; begin < rows; begin += blockRows) {
    int64_t count = std::min(blockRows, rows - begin);
    updateBlock(columns, count);
    for (size_t index = 0; index < columns.size(); ++index)
      columns[index] = columns[index].from(count, kinds[index]);
  }
}

void Aggregator::updateBlock(const std::vector<Column> &columns, int64_t rows) {
  uint32_t numbers[blockRows];
  if (hasKeys()) {
    size_t before = groups();
    table->find(columns.data(), rows, numbers);
    if (groups() != before)
      for (Part &part : parts)
        part.states->resize(groups());
  }
  const Column *next = columns.data() + keyKinds.size();
  for (Part &part : parts) {
    Column column = part.spec.kind ? *next++ : Column{nullptr, nullptr};
    updatePart(part, hasKeys() ? numbers : nullptr, rows, column);
  }
}

void Aggregator::updatePart(Part &part, const uint32_t *numbers, int64_t rows, Column column) {
  if (part.seen)
    updateDistinct(part, numbers, rows, column);
  else
    part.states->update(numbers, rows, column);
}

void Aggregator::updateDistinct(Part &part, const uint32_t *numbers, int64_t rows, Column column) {
  static const std::vector<uint32_t> zeros(blockRows);
  static const std::vector<uint8_t> ones(blockRows, 1);
  const uint32_t *groupsOfRows = numbers ? numbers : zeros.data();
  Column pair[2] = {{reinterpret_cast<const char *>(groupsOfRows), ones.data()}, column};
  uint32_t found[blockRows];
  uint8_t isNew[blockRows];
  uint32_t known = part.seen->size();
  part.seen->find(pair, rows, found);
  for (int64_t row = 0; row < rows; ++row) {
    // New ones are numbered on, each by the row in which it comes first.
    isNew[row] = found[row] == known;
    known += isNew[row];
    isNew[row] &= column.validity[row];
  }
  part.states->update(numbers, rows, {column.values, isNew});
}

int64_t Aggregator::run(const Call &call, int64_t begin, int64_t end, int64_t step) {
  for (; begin < end && !__atomic_load_n(call.stop, __ATOMIC_RELAXED); begin += step) {
    call.arena->reset();
    int64_t until = std::min(begin + step, end);
    int64_t rows = call.kernel(call.inputs, call.slots, call.outputs, begin, until, call.arena);
    if (rows < 0)
      return begin;
    update(call.outputs, rows);
    if (failure() != Failure::None)
      return begin;
  }
  return std::min(begin, end);
}

bool Aggregator::isLike(const Aggregator &other) const {
  auto isSame = [](const Part &left, const Part &right) {
    return left.spec.function == right.spec.function && left.spec.kind == right.spec.kind &&
           left.spec.isDistinct == right.spec.isDistinct;
  };
  return keyKinds == other.keyKinds &&
         std::equal(parts.begin(), parts.end(), other.parts.begin(), other.parts.end(), isSame);
}

std::vector<uint32_t> Aggregator::numbersOf(const Aggregator &other) {
  if (!hasKeys())
    return {0};
  std::vector<Column> columns;
  for (size_t key = 0; key < keyKinds.size(); ++key)
    columns.push_back(other.key(key));
  return addAll(*table, columns, other.groups());
}

void Aggregator::merge(const Aggregator &other) {
  if (!isLike(other))
    throw std::invalid_argument("the aggregators have other keys or aggregates");
  isOutOfMemory |= other.isOutOfMemory;
  guard([&] { mergeAll(other); });
}

void Aggregator::mergeAll(const Aggregator &other) {
  std::vector<uint32_t> numbers = numbersOf(other);
  for (size_t index = 0; index < parts.size(); ++index) {
    Part &part = parts[index];
    const Part &theirs = other.parts[index];
    part.states->resize(groups());
    if (theirs.states->failure() != Failure::None)
      part.states->fail(theirs.states->failure());
    if (part.seen)
      mergeSeen(part, *theirs.seen, numbers.data());
    else
      part.states->merge(*theirs.states, numbers.data());
  }
}

void Aggregator::mergeSeen(Part &part, const GroupTable &seen, const uint32_t *numbers) {
  uint32_t groupsOfRows[blockRows];
  Column column = seen.key(1);
  Kind kind = seen.kinds()[1];
  for (int64_t begin = 0; begin < seen.size(); begin += blockRows) {
    int64_t count = std::min<int64_t>(blockRows, seen.size() - begin);
    for (int64_t row = 0; row < count; ++row)
      groupsOfRows[row] = numbers[seen.key(0).at<uint32_t>(begin + row)];
    updateDistinct(part, groupsOfRows, count, column.from(begin, kind));
  }
}

Column Aggregator::key(size_t index) const {
  requireMemory();
  return table->key(index);
}

const States &Aggregator::states(size_t index) const {
  requireMemory();
  return *parts[index].states;
}

Failure Aggregator::failure() const {
  if (isOutOfMemory)
    return Failure::OutOfMemory;
  for (const Part &part : parts)
    if (part.states->failure() != Failure::None)
      return part.states->failure();
  return Failure::None;
}

int64_t Aggregator::bytes() const {
  int64_t total = table ? table->bytes() : 0;
  for (const Part &part : parts)
    total += part.states->bytes() + (part.seen ? part.seen->bytes() : 0);
  return total;
}

std::string Aggregator::save() const {
  requireMemory();
  Packer packer;
  packer.put(magic);
  packer.put<uint64_t>(keyKinds.size());
  for (Kind kind : keyKinds)
    packer.put(static_cast<uint8_t>(kind));
  packer.put<uint64_t>(parts.size());
  for (const Part &part : parts) {
    packer.putBytes(part.spec.function.data(), part.spec.function.size());
    packer.put(part.spec.kind ? static_cast<uint8_t>(*part.spec.kind) : noKind);
    packer.put(static_cast<uint8_t>(part.spec.isDistinct));
  }
  if (table)
    saveTable(packer, *table);
  for (const Part &part : parts) {
    part.states->save(packer);
    if (part.seen)
      saveTable(packer, *part.seen);
  }
  return std::move(packer.bytes);
}

std::unique_ptr<Aggregator> Aggregator::load(const char *data, size_t size) {
  Unpacker unpacker(data, size);
  if (unpacker.take<uint64_t>() != magic)
    Unpacker::refuse();
  std::vector<Kind> keys;
  for (auto left = unpacker.take<uint64_t>(); left > 0; --left)
    keys.push_back(takeKind(unpacker.take<uint8_t>()));
  std::vector<AggregateSpec> specs;
  for (auto left = unpacker.take<uint64_t>(); left > 0; --left) {
    AggregateSpec spec{std::string(unpacker.takeBytes()), std::nullopt, false};
    auto kind = unpacker.take<uint8_t>();
    if (kind != noKind)
      spec.kind = takeKind(kind);
    spec.isDistinct = unpacker.take<uint8_t>() != 0;
    specs.push_back(std::move(spec));
  }
  auto loaded = std::make_unique<Aggregator>(std::move(keys), std::move(specs));
  if (loaded->table)
    loadTable(unpacker, *loaded->table);
  for (Part &part : loaded->parts) {
    part.states->load(unpacker, loaded->groups());
    if (!part.seen)
      continue;
    loadTable(unpacker, *part.seen);
    for (uint32_t row = 0; row < part.seen->size(); ++row)
      if (part.seen->key(0).at<uint32_t>(row) >= loaded->groups())
        Unpacker::refuse();
  }
  unpacker.finish();
  return loaded;
}
