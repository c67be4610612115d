#include "sql/join_table.h"

#include <algorithm>

using namespace twinjit::sql;

std::vector<Column> JoinTable::columnsOf(const int64_t *words) const {
  std::vector<Column> columns;
  for (size_t key = 0; key < kinds().size(); ++key)
    columns.push_back({reinterpret_cast<const char *>(words[2 * key]),
                       reinterpret_cast<const uint8_t *>(words[2 * key + 1])});
  return columns;
}

bool JoinTable::hasNull(const std::vector<Column> &columns, int64_t row) const {
  for (const Column &column : columns)
    if (!column.validity[row])
      return true;
  return false;
}

void JoinTable::append(uint32_t number, int64_t row) {
  Chain &chain = chains[number];
  (chain.first == end ? chain.first : next[chain.last]) = row;
  chain.last = row;
}

void JoinTable::build(const int64_t *words, int64_t rows) {
  std::vector<Column> columns = columnsOf(words);
  uint32_t numbers[blockRows];
  for (int64_t begin = 0; begin < rows; begin += blockRows) {
    int64_t count = std::min(blockRows, rows - begin);
    table.find(columns.data(), count, numbers);
    chains.resize(table.size(), Chain{end, end});
    for (int64_t row = 0; row < count; ++row) {
      next.push_back(end);
      if (!hasNull(columns, row))
        append(numbers[row], static_cast<int64_t>(next.size()) - 1);
    }
    for (size_t key = 0; key < columns.size(); ++key)
      columns[key] = columns[key].from(count, kinds()[key]);
  }
}

JoinTable::Pairs JoinTable::probe(const int64_t *words, int64_t rows) const {
  std::vector<Column> columns = columnsOf(words);
  std::vector<uint64_t> scratch;
  uint32_t numbers[blockRows];
  Pairs pairs;
  for (int64_t begin = 0; begin < rows; begin += blockRows) {
    int64_t count = std::min(blockRows, rows - begin);
    table.lookUp(columns.data(), count, numbers, scratch);
    pair(numbers, begin, count, pairs);
    for (size_t key = 0; key < columns.size(); ++key)
      columns[key] = columns[key].from(count, kinds()[key]);
  }
  return pairs;
}

/// Adds the pairs of a block that begins with row `begin`.
void JoinTable::pair(const uint32_t *numbers, int64_t begin, int64_t rows, Pairs &pairs) const {
  constexpr int64_t ahead = 16; // rows whose chains are fetched before they are needed
  for (int64_t row = 0; row < rows; ++row) {
    if (row + ahead < rows && numbers[row + ahead] != GroupTable::none)
      __builtin_prefetch(&chains[numbers[row + ahead]]);
    if (numbers[row] == GroupTable::none)
      continue;
    Chain chain = chains[numbers[row]];
    for (int64_t found = chain.first; found != end;
         found = found == chain.last ? end : next[found]) {
      pairs.probed.push_back(begin + row);
      pairs.built.push_back(found);
    }
  }
}

int64_t JoinTable::bytes() const {
  return table.bytes() + chains.capacity() * sizeof(Chain) + next.capacity() * sizeof(int64_t);
}
