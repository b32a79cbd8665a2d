// What the tests put outside for hostile programs to find: System V objects, a message queue.
// usage: outer_objects make|remove
#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  constexpr key_t kOuterKey = 0x4D41;
  const bool make = argc == 2 && strcmp(argv[1], "make") == 0;
  const int flags = make ? IPC_CREAT | 0600 : 0;
  const int shm = shmget(kOuterKey, make ? 4096 : 0, flags);
  const int sem = semget(kOuterKey, make ? 1 : 0, flags);
  const int msg = msgget(kOuterKey, flags);
  const mqd_t queue = mq_open("/outer", make ? O_CREAT | O_RDWR : O_RDWR, 0600, nullptr);
  if (shm < 0 || sem < 0 || msg < 0 || queue < 0) {
    perror("outer_objects");
    return 1;
  }
  if (!make) {
    shmctl(shm, IPC_RMID, nullptr);
    semctl(sem, 0, IPC_RMID);
    msgctl(msg, IPC_RMID, nullptr);
    mq_unlink("/outer");
  }
  return 0;
}
