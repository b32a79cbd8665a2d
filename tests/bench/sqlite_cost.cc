// sqlite-cost: times appends of the same bytes to a SQLite database, each durable by itself.
// usage: sqlite-cost COUNT SIZE, in the current directory; prints seconds. WAL, synchronous=FULL.
#include <sqlite3.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void Require(bool ok, sqlite3* database) {
  if (!ok) {
    fprintf(stderr, "sqlite-cost: %s\n", sqlite3_errmsg(database));
    exit(1);
  }
}

void Execute(sqlite3* database, const char* statement) {
  Require(sqlite3_exec(database, statement, nullptr, nullptr, nullptr) == SQLITE_OK, database);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fputs("usage: sqlite-cost COUNT SIZE\n", stderr);
    return 2;
  }
  const long count = strtol(argv[1], nullptr, 10);
  const std::string payload(strtoul(argv[2], nullptr, 10), 'x');
  for (const char* name : {"peer.db", "peer.db-wal", "peer.db-shm"}) {
    remove(name);
  }
  sqlite3* database = nullptr;
  sqlite3_stmt* insert = nullptr;
  Require(sqlite3_open("peer.db", &database) == SQLITE_OK, database);
  Execute(database, "PRAGMA journal_mode=WAL");
  Execute(database, "PRAGMA synchronous=FULL");
  Execute(database, "CREATE TABLE log (sequence INTEGER PRIMARY KEY, payload BLOB)");
  Require(sqlite3_prepare_v2(database, "INSERT INTO log (payload) VALUES (?)", -1, &insert,
                             nullptr) == SQLITE_OK,
          database);
  const auto start = std::chrono::steady_clock::now();
  for (long i = 0; i < count; ++i) {
    Require(sqlite3_bind_blob(insert, 1, payload.data(), static_cast<int>(payload.size()),
                              nullptr) == SQLITE_OK &&
                sqlite3_step(insert) == SQLITE_DONE && sqlite3_reset(insert) == SQLITE_OK,
            database);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  printf("%.9f\n", seconds.count());
  sqlite3_finalize(insert);
  sqlite3_close(database);
  return 0;
}
