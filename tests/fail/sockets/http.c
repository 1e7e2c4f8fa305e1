//@ frontend: bitcode x86_64
//@ args: --sym-socket 8080:24
// A server copies the value of a header to a buffer, whatever its length.
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void answer(int client, const char *text) { send(client, text, strlen(text), MSG_NOSIGNAL); }

static void serve(int client) {
  char request[64], *host;
  size_t n = 0, at = 0;
  ssize_t got;
  while (n < sizeof request - 1 && (got = read(client, request + n, sizeof request - 1 - n)) > 0) n += got;
  request[n] = 0;
  if (memcmp(request, "GET /", 5)) return answer(client, "HTTP/1.0 501 Not Implemented\r\n\r\n");
  const char *line = strchr(request, '\n');
  if (!line || strncmp(line + 1, "Host: ", 6)) return answer(client, "HTTP/1.0 400 Bad Request\r\n\r\n");
  if (!(host = malloc(8))) return;
  for (line += 7; *line && *line != '\r'; line++) {
#ifdef FIXED
    if (at == 7) {
      free(host);
      return answer(client, "HTTP/1.0 431 Request Header Fields Too Large\r\n\r\n");
    }
#endif
    host[at++] = *line;  //~ FAULT out-of-bounds-write
  }
  host[at] = 0;  //~ FAULT out-of-bounds-write
  answer(client, "HTTP/1.0 200 OK\r\n\r\n");
  answer(client, host);
  free(host);
}

int main(void) {
  int server = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(8080), .sin_addr.s_addr = htonl(INADDR_ANY)};
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (server < 0 || bind(server, (struct sockaddr *)&here, sizeof here) || listen(server, 5)) return 1;
  int client = accept(server, 0, 0);
  if (client < 0) return 2;
  serve(client);
  close(client);
  close(server);
  return 0;
}
