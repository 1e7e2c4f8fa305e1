//@ frontend: bitcode x86_64
//@ args: --sym-socket udp:5353:3 --sym-socket udp:53:1 --sym-socket udp:5353:0
// Datagrams come to their ports, whole or cut off, with their senders' addresses.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void receive(int fd, size_t room, int flags) {
  struct sockaddr_in6 a = {0};
  struct sockaddr_in *four = (struct sockaddr_in *)&a;
  socklen_t size = sizeof a;
  char bytes[8] = "", text[64] = "";
  ssize_t got = recvfrom(fd, bytes, room, flags, (struct sockaddr *)&a, &size);
  if (got < 0) {
    printf("nothing: %d\n", errno);
    return;
  }
  inet_ntop(a.sin6_family, a.sin6_family == AF_INET ? (void *)&four->sin_addr : (void *)&a.sin6_addr, text, sizeof text);
  printf("%d bytes of %s %d, %d bytes\n", (int)got, text, ntohs(four->sin_port), (int)size);
  if (bytes[0] == 'x') printf("an x\n");
  if (sendto(fd, bytes, got, 0, (struct sockaddr *)&a, size) != got) printf("not sent: %d\n", errno);
}

int main(void) {
  int four = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP), six = socket(AF_INET6, SOCK_DGRAM, 0), loop = epoll_create1(0), value = 0;
  int other = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(5353)};
  struct sockaddr_in6 b = {.sin6_family = AF_INET6, .sin6_port = htons(53), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  struct epoll_event event = {EPOLLIN | EPOLLET, {.u64 = 7}}, got[4];
  struct pollfd both[] = {{four, POLLIN | POLLOUT, 0}, {six, POLLIN | POLLOUT, 0}};
  socklen_t size = sizeof value;
  epoll_ctl(loop, EPOLL_CTL_ADD, four, &event);
  printf("before: %d\n", epoll_wait(loop, got, 4, 0));
  printf("listen: %d\n", listen(four, 1) ? errno : 0);
  if (bind(four, (struct sockaddr *)&a, sizeof a) || bind(six, (struct sockaddr *)&b, sizeof b)) return 1;
  printf("in use: %d\n", bind(other, (struct sockaddr *)&a, sizeof a) ? errno : 0);
  printf("ready: %d\n", epoll_wait(loop, got, 4, 0));
  printf("at edges: %d\n", epoll_wait(loop, got, 4, 0));
  printf("poll: %d", poll(both, 2, 0));
  printf(" %x %x\n", both[0].revents, both[1].revents);
  getsockopt(four, SOL_SOCKET, SO_PROTOCOL, &value, &size);
  printf("protocol: %d\n", value);
  receive(four, 8, MSG_PEEK);
  receive(four, 2, 0);
  receive(six, 8, 0);
  receive(four, 8, 0);
  receive(four, 8, 0);
  printf("no address: %d\n", sendto(other, "x", 1, 0, 0, 0) < 0 ? errno : 0);
  printf("poll: %d", poll(both, 1, 0));
  printf(" %x\n", both[0].revents);
  close(four);
  return 0;
}
