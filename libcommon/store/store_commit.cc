// Commits: planned on the table, held against the limits, given room, then written.
// Contract: libcommon/store/store.h, docs/formats/store.md ("Room for letting go").
#include <algorithm>
#include <utility>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "libcommon/store/store.h"
#include "libcommon/store/store_journal.h"
#include "libcommon/store/store_record.h"
#include "libcommon/store/store_room.h"

namespace maco {

// What is to be written, and what the table will be like.
struct Store::Plan {
  std::vector<std::string> texts;
  std::vector<TableChange> changes;  // as a reader will find them
  std::vector<Table::Undo> undo;
  std::uint64_t bytes = 0;  // of the batch, frames included
  TableSize after;
  bool release = true;
  bool only_deletes = true;
};

Result<std::uint64_t> Store::Commit(const StoreChange& change, Durability durability) {
  return CommitGroup(std::span(&change, 1), durability);
}

Result<std::uint64_t> Store::CommitGroup(std::span<const StoreChange> changes,
                                         Durability durability) {
  MACO_TRY(CheckUsable());
  auto plan = MakePlan(changes);
  if (!plan) {
    return Fail(std::move(plan).error());
  }
  MACO_TRY(CheckQuotas(*plan));
  MACO_TRY(MakeRoom(*plan));
  std::vector<std::span<const std::uint8_t>> payloads;
  for (const std::string& text : plan->texts) {
    payloads.push_back(AsBytes(text));
  }
  poisoned_ = true;  // until it is written
  MACO_TRY(writer_->AppendGroup(payloads, durability));
  for (TableChange& change : plan->changes) {
    MACO_TRY(table_.Apply(std::move(change)));
  }
  poisoned_ = false;
  generation_ += plan->changes.size();
  return generation_;
}

// Carried out on the table and taken back: what cannot be applied is never written.
Result<Store::Plan> Store::MakePlan(std::span<const StoreChange> changes) {
  if (changes.empty() || changes.size() > kMaxBatchRecords) {
    return Fail(Code::kInvalid, "a group of 1 to 1024 changes is one commit");
  }
  Plan plan;
  Result<void> planned;
  for (const StoreChange& change : changes) {
    planned = PlanOne(change, plan);
    if (!planned) {
      break;
    }
  }
  plan.after = table_.size();
  for (; !plan.undo.empty(); plan.undo.pop_back()) {
    table_.Revert(std::move(plan.undo.back()));
  }
  if (!planned) {
    return Fail(std::move(planned).error());
  }
  return plan;
}

Result<void> Store::PlanOne(const StoreChange& change, Plan& plan) {
  if (change.release) {
    MACO_TRY(CheckRelease(change));
  }
  StoreRecord record;
  record.generation = generation_ + plan.texts.size() + 1;
  record.time_us = WallMicros();
  for (const auto& [key, value] : change.put) {
    Row row;
    MACO_ASSIGN(row, Row::Of(value));
    record.change.put.emplace_hint(record.change.put.end(), key, std::move(row));
  }
  record.change.erase = change.erase;
  std::ranges::sort(record.change.erase);
  std::string text;
  MACO_ASSIGN(text, EncodeRecord(record));
  plan.bytes += kFrameHeaderBytes + text.size();
  if (text.size() > kMaxPayloadBytes || plan.bytes > kMaxBatchBytes) {
    return Fail(Code::kLimit, "a change of a store is larger than 1 MiB, or a group than 4 MiB");
  }
  // What is applied is what a reader will find: the same types of numbers, for one.
  auto found = DecodeRecord(text);
  if (!found) {
    return Fail(std::move(found).error());
  }
  Table::Undo undo;
  MACO_TRY(table_.Apply(found->change, &undo));
  plan.undo.push_back(std::move(undo));
  const std::uint64_t limit = change.release ? limits_.release_bytes : limits_.row_bytes;
  for (const auto& member : found->change.put) {
    if (member.second.bytes() > limit) {
      return Fail(Code::kLimit, "row '" + EscapeControl(member.first) + "' of store '" + name() +
                                    "' is larger than " + std::to_string(limit) + " bytes");
    }
  }
  plan.only_deletes = plan.only_deletes && change.put.empty();
  plan.release = plan.release && (change.release || change.put.empty());
  plan.texts.push_back(std::move(text));
  plan.changes.push_back(std::move(found->change));
  return {};
}

Result<void> Store::CheckRelease(const StoreChange& change) const {
  for (const auto& member : change.put) {
    if (!table_.rows().contains(member.first)) {
      return Fail(Code::kInvalid, "a release adds a row to store '" + name() + "'");
    }
  }
  return {};
}

Result<void> Store::CheckQuotas(const Plan& plan) const {
  if (plan.release) {
    return {};
  }
  const TableSize& before = table_.size();
  // A table above its limit, since that was lowered, may still be changed where it is.
  const auto over = [](std::uint64_t was, std::uint64_t is, std::uint64_t limit) {
    return is > limit && is > was;
  };
  const auto full = [&](const std::string& what) {
    return Fail(Full(what, "release what is not needed any more"));
  };
  if (over(before.rows, plan.after.rows, limits_.rows)) {
    return full("it may have " + std::to_string(limits_.rows) + " rows");
  }
  if (over(before.table_bytes(), plan.after.table_bytes(), limits_.table_bytes)) {
    return full("its rows may have " + std::to_string(limits_.table_bytes) + " bytes");
  }
  const TableNeed was = NeedOf(before, limits_);
  const TableNeed is = NeedOf(plan.after, limits_);
  if (over(was.bytes, is.bytes, limits_.journal_bytes / 4 * 3) ||
      over(was.records, is.records, limits_.journal_records / 4 * 3)) {
    return full("its table may fill three quarters of a journal");
  }
  return {};
}

bool Store::Fits(const Plan& plan, std::uint64_t end, std::uint64_t records) const {
  std::uint64_t bytes = end + plan.bytes + DeleteRoom(plan.after);
  std::uint64_t count = records + plan.texts.size() + plan.after.rows;
  if (!plan.release) {
    bytes += ReplaceRoom(plan.after, limits_.release_bytes);
    count += plan.after.rows;
  }
  return bytes <= limits_.journal_bytes && count <= limits_.journal_records;
}

Result<void> Store::MakeRoom(const Plan& plan) {
  if (plan.only_deletes || Fits(plan, writer_->end(), writer_->last_sequence())) {
    return Reserve(plan);
  }
  const BaseBound base = BoundBase(table_.size());
  if (!Fits(plan, base.bytes, base.records)) {
    return Fail(Full("the change does not fit a journal with its table",
                     "release what is not needed any more"));
  }
  if (auto rolled = Rollover(); !rolled) {
    Error error = std::move(rolled).error();
    if (error.code == Code::kLimit && error.os_errno != 0) {
      error = Full("its journal is full and no new one can be made: " + error.message,
                   "free disk space");
    }
    return Fail(std::move(error));
  }
  return Reserve(plan);
}

// Room on disk for the batch, and for letting go of all rows after it.
Result<void> Store::Reserve(const Plan& plan) {
  const std::uint64_t after =
      DeleteRoom(plan.after) + (plan.release ? 0 : ReplaceRoom(plan.after, limits_.release_bytes));
  auto reserved = writer_->Reserve(plan.bytes + after);
  if (!reserved && plan.release) {
    reserved = writer_->Reserve(plan.bytes);  // the room was lost, say in a copy; better than no
  }
  if (reserved) {
    return {};
  }
  Error error = std::move(reserved).error();
  if (error.code == Code::kLimit && error.os_errno != 0) {
    error = Full("there is no room on the disk: " + error.message, "free disk space");
  }
  return Fail(std::move(error));
}

StoreFill Store::Fill() const {
  StoreFill fill;
  fill.rows = table_.size().rows;
  fill.table_bytes = table_.size().table_bytes();
  fill.active_bytes = writer_ ? writer_->end() : 0;
  fill.active_records = writer_ ? writer_->last_sequence() : 0;
  fill.reserved_bytes =
      DeleteRoom(table_.size()) + ReplaceRoom(table_.size(), limits_.release_bytes);
  fill.retained = locator_.retained.size();
  fill.limits = limits_;
  return fill;
}

}  // namespace maco
