//@ frontend: bitcode x86_64
//@ args: --sym-files 1 3 A
// A buffer is freed where an error is found, and where all errors end.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
static int load(const char *name) {
  int status = 1, fd = open(name, O_RDONLY);
  char *data = malloc(3);
  if (fd < 0 || !data || read(fd, data, 3) != 3) goto out;
  if (data[0] != '%') goto out;
  if (data[1] == '!' && data[2] != '1') {
    free(data);
#ifdef FIXED
    data = NULL;
#endif
    goto out;
  }
  status = 0;
out:
  free(data);  //~ FAULT double-free
  if (fd >= 0) close(fd);
  return status;
}
int main(int argc, char **argv) { return load(argv[1]); }
