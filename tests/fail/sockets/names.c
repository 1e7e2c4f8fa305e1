//@ frontend: bitcode x86_64
//@ args: --sym-socket udp:5353:6
// A name server believes the length of a label.
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
  int server = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(5353)}, from;
  socklen_t size = sizeof from;
  unsigned char message[16] = {0}, *name = calloc(1, 4);
  struct pollfd waits = {server, POLLIN, 0};
  if (!name || bind(server, (struct sockaddr *)&here, sizeof here) || poll(&waits, 1, -1) != 1) return 1;
  ssize_t got = recvfrom(server, message, sizeof message, 0, (struct sockaddr *)&from, &size);
  if (got != 6 || message[0] != 'q') return 2;
  unsigned length = message[1];
#ifdef FIXED
  if (length > 4) return 3;
#endif
  if (length > 9) return 4;
  memcpy(name, message + 2, length);  //~ FAULT out-of-bounds-write
  if (sendto(server, name, length, 0, (struct sockaddr *)&from, size) != length) return 5;
  free(name);
  return 0;
}
