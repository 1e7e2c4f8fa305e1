//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// Local sockets: pairs, connections of the program to itself, ends that are closed; a name that no file has is ENOENT.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un name(const char *path) {
  struct sockaddr_un a;
  memset(&a, 0, sizeof a);
  a.sun_family = AF_UNIX;
  strcpy(a.sun_path, path);
  return a;
}

static int with_pair(char c) {
  int fd[2], waiting;
  char b[16] = "";
  struct stat s;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd)) return 1;
  if (fstat(fd[0], &s) || !S_ISSOCK(s.st_mode)) return 2;
  if (lseek(fd[0], 0, SEEK_SET) != -1 || errno != ESPIPE) return 3;
  if (write(fd[0], &c, 1) != 1 || write(fd[1], "back", 4) != 4) return 4;
  if (ioctl(fd[0], FIONREAD, &waiting) || waiting != 4) return 5;
  if (recv(fd[0], b, sizeof b, MSG_PEEK) != 4 || recv(fd[0], b, 2, 0) != 2 || memcmp(b, "back", 4)) return 6;
  if (recv(fd[0], b, sizeof b, 0) != 2 || memcmp(b, "ckck", 4)) return 7;
  if (recv(fd[0], b, 1, MSG_DONTWAIT) != -1 || errno != EAGAIN) return 8;
  struct pollfd p = {fd[1], POLLIN | POLLOUT, 0};
  if (poll(&p, 1, 0) != 1 || p.revents != (POLLIN | POLLOUT)) return 9;
  if (read(fd[1], b, sizeof b) != 1) return 10;
  if (shutdown(fd[0], SHUT_WR) || read(fd[1], b + 1, 1) != 0) return 11;
  if (write(fd[1], "x", 1) != 1) return 12;
  // It is closed with a byte unread.
  close(fd[0]);
  if (send(fd[1], "y", 1, MSG_NOSIGNAL) != -1 || errno != EPIPE) return 13;
  if (poll(&p, 1, 0) != 1 || !(p.revents & POLLHUP) || !(p.revents & POLLIN)) return 14;
  if (read(fd[1], b + 1, 1) != 0 && errno != ECONNRESET) return 15;
  close(fd[1]);
  return b[0] == 'q' ? 21 : 0;
}

static int shut_down(void) {
  int fd[2];
  char b[4];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) || write(fd[1], "ab", 2) != 2) return 51;
  if (shutdown(fd[0], SHUT_RD) || read(fd[0], b, 1) != 1 || read(fd[0], b, 4) != 1 || read(fd[0], b, 4) != 0) return 52;
  if (write(fd[1], "", 0) != -1 || errno != EPIPE) return 53;
  if (recv(fd[1], b, 0, MSG_DONTWAIT) != -1 || errno != EAGAIN || read(fd[1], b, 0) != 0) return 54;
  if (fallocate(fd[0], 0, 0, 1) != -1 || errno != ENODEV) return 55;
  if (posix_fadvise(fd[0], 0, 0, POSIX_FADV_NORMAL)) return 56;
  close(fd[0]);
  close(fd[1]);
  return 0;
}

static int with_names(void) {
  struct sockaddr_un a = name("sock"), b;
  socklen_t len = sizeof b;
  char c = 0;
  int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(client, (void *)&a, sizeof a) != -1 || errno != ENOENT) return 31;
  if (accept(server, 0, 0) != -1 || errno != EINVAL) return 32;
  if (bind(server, (void *)&a, sizeof a)) return 33;
  if (connect(client, (void *)&a, sizeof a) != -1 || errno != ECONNREFUSED) return 34;
  if (bind(client, (void *)&a, sizeof a) != -1 || errno != EADDRINUSE) return 35;
  if (listen(server, 2) || connect(client, (void *)&a, sizeof a)) return 36;
  if (connect(client, (void *)&a, sizeof a) != -1 || errno != EISCONN) return 37;
  int accepted = accept(server, (void *)&b, &len);
  if (accepted < 0 || len != sizeof b.sun_family || b.sun_family != AF_UNIX) return 38;
  len = sizeof b;
  if (getpeername(client, (void *)&b, &len) || len != sizeof b.sun_family + 5 || strcmp(b.sun_path, "sock")) return 39;
  if (write(client, "!", 1) != 1 || read(accepted, &c, 1) != 1 || c != '!') return 40;
  if (open("sock", O_RDWR) != -1 || errno != ENXIO) return 47;
  int value;
  len = sizeof value;
  if (getsockopt(server, SOL_SOCKET, SO_TYPE, &value, &len) || value != SOCK_STREAM) return 41;
  close(client);
  if (read(accepted, &c, 1) != 0) return 42;
  if (getsockopt(0, SOL_SOCKET, SO_TYPE, &value, &len) != -1 || errno != ENOTSOCK) return 43;
  close(accepted);
  close(server);
  client = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (connect(client, (void *)&a, sizeof a) != -1 || errno != ECONNREFUSED) return 44;
  if (unlink("sock") || connect(client, (void *)&a, sizeof a) != -1 || errno != ENOENT) return 45;
  if (read(client, &c, 0)) return 46;
  return 0;
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  int bad = with_pair(argv[1][0]);
  bad = bad ? bad : shut_down();
  return bad ? bad : with_names();
}
