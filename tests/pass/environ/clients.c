//@ frontend: bitcode x86_64
//@ args: --sym-socket 8080:2 --sym-socket 9090:1 --sym-socket 8080:1
// Clients connect to their ports in their order, by IPv4 and IPv6; an event loop serves them. What cannot be bound is refused.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static int loop;

static void watch(int fd, unsigned events) {
  struct epoll_event event = {events, {.fd = fd}};
  if (epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event)) printf("not watched: %d\n", errno);
}

static void named(const char *what, int (*of)(int, struct sockaddr *restrict, socklen_t *restrict), int fd) {
  struct sockaddr_in6 a;
  struct sockaddr_in *four = (struct sockaddr_in *)&a;
  socklen_t size = sizeof a;
  char text[64] = "";
  int done = of(fd, (struct sockaddr *)&a, &size);
  if (done) {
    printf("%s: %d\n", what, errno);
    return;
  }
  inet_ntop(a.sin6_family, a.sin6_family == AF_INET ? (void *)&four->sin_addr : (void *)&a.sin6_addr, text, sizeof text);
  printf("%s: %s %d, %d bytes\n", what, text, ntohs(four->sin_port), (int)size);
}

static void option(int fd, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  int done = getsockopt(fd, SOL_SOCKET, name, &value, &size);
  printf("option %d: %d %d\n", name, done, value);
}

int main(void) {
  int four = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP), six = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, served = 0;
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(8080)}, wrong = a;
  struct sockaddr_in6 b = {.sin6_family = AF_INET6, .sin6_port = htons(9090), .sin6_addr = IN6ADDR_ANY_INIT};
  loop = epoll_create1(EPOLL_CLOEXEC);
  if (four < 0 || six < 0 || loop < 0) return 1;
  named("unbound", getsockname, four);
  named("not connected", getpeername, four);
  setsockopt(four, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  wrong.sin_addr.s_addr = htonl(0x08080808);
  printf("elsewhere: %d\n", bind(four, (struct sockaddr *)&wrong, sizeof wrong) ? errno : 0);
  wrong.sin_family = AF_INET6;
  printf("another family: %d\n", bind(four, (struct sockaddr *)&wrong, sizeof wrong) ? errno : 0);
  printf("too short: %d\n", bind(four, (struct sockaddr *)&a, 8) ? errno : 0);
  if (bind(four, (struct sockaddr *)&a, sizeof a) || bind(six, (struct sockaddr *)&b, sizeof b)) return 2;
  printf("twice: %d\n", bind(four, (struct sockaddr *)&a, sizeof a) ? errno : 0);
  named("bound", getsockname, four);
  named("bound", getsockname, six);
  watch(four, EPOLLIN | EPOLLET);
  if (listen(four, 1) || listen(six, 1)) return 3;
  int other = socket(AF_INET, SOCK_STREAM, 0);
  printf("in use: %d\n", bind(other, (struct sockaddr *)&a, sizeof a) ? errno : 0);
  close(other);
  watch(six, EPOLLIN);
  option(four, SO_TYPE), option(six, SO_DOMAIN), option(four, SO_PROTOCOL), option(four, SO_ACCEPTCONN), option(four, SO_ERROR);
  while (served < 3) {
    struct epoll_event events[4];
    int n = epoll_wait(loop, events, 4, -1);
    for (int i = 0; i < n; i++) {
      int fd = events[i].data.fd, client;
      struct sockaddr_storage from;
      socklen_t size = sizeof from;
      if (fd == four || fd == six) {
        // At edges: all that wait.
        while ((client = accept4(fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK)) >= 0) {
          printf("accepted: %d, %d bytes\n", ntohs(((struct sockaddr_in *)&from)->sin_port), (int)size);
          named("client", getpeername, client);
          named("own", getsockname, client);
          watch(client, EPOLLIN | EPOLLRDHUP);
          if (fd == six) break;
        }
        continue;
      }
      unsigned char bytes[8];
      ssize_t got = recv(fd, bytes, sizeof bytes, 0);
      printf("events %x, %d bytes\n", (unsigned)events[i].events, (int)got);
      if (got > 0) {
        if (bytes[0] == 'x') printf("an x\n");
        if (send(fd, bytes, got, MSG_NOSIGNAL) != got) return 4;
        continue;
      }
      close(fd);
      served++;
    }
    if (n <= 0) return 5;
  }
  struct pollfd none = {four, POLLIN, 0};
  printf("nobody more: %d %d\n", poll(&none, 1, 0), accept(four, 0, 0) < 0 && errno == EAGAIN);
  return 0;
}
