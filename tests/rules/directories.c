//@ rule: directories
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int never_closed(void) {
  DIR *d = opendir("/");  //~ VIOLATION directories: directory from `opendir` is never closed
  return d == 0;
}

int left_open_on_an_error(char c) {
  DIR *d = opendir("/");  //~ VIOLATION directories: directory from `opendir` is never closed
  if (!d || c == 'e') return 1;
  closedir(d);
  return 0;
}

int left_open_by_exit(char c) {
  DIR *d = opendir("/");  //~ VIOLATION directories: directory from `opendir` is never closed
  if (!d) return 1;
  if (!readdir(d) || c == 'e') exit(1);
  closedir(d);
  return 0;
}

int of_a_descriptor(char c) {
  DIR *d = fdopendir(open("/", O_RDONLY | O_DIRECTORY));  //~ VIOLATION directories: directory from `fdopendir` is never closed
  if (d && c != 'k') closedir(d);
  return 0;
}

int closed_twice(char c) {
  DIR *d = opendir("/");
  if (!d) return 1;
  closedir(d);
  if (c == 'a') closedir(d);  //~ VIOLATION directories: directory is closed again //~ FAULT use-after-free
  return 0;
}

int read_when_closed(char c) {
  DIR *d = opendir("/");
  if (!d) return 1;
  closedir(d);
  if (c == 'a') readdir(d);  //~ VIOLATION directories: directory is used after it was closed //~ FAULT use-after-free
  return 0;
}

int rewound_when_closed(char c) {
  DIR *d = opendir("/");
  if (!d) return 1;
  closedir(d);
  if (c == 'a') rewinddir(d);  //~ VIOLATION directories: directory is used after it was closed //~ FAULT use-after-free
  return 0;
}

int told_when_closed(char c) {
  DIR *d = opendir("/");
  if (!d) return 1;
  closedir(d);
  if (c == 'a') return telldir(d);  //~ VIOLATION directories: directory is used after it was closed //~ FAULT use-after-free
  return 0;
}

int one_of_nested(char c) {
  DIR *above = opendir("/"), *below = opendir("/etc");  //~ VIOLATION directories: directory from `opendir` is never closed
  if (above) closedir(above);
  if (below && c) closedir(below);
  return 0;
}

int closed(void) {
  DIR *d = opendir("/");
  if (d) closedir(d);
  return 0;
}

int read_and_closed(unsigned char n) {
  DIR *d = opendir("/");
  if (!d) return 1;
  for (int i = 0; i < n && i < 3 && readdir(d); i++);
  closedir(d);
  return 0;
}

int closed_on_each_way(char c) {
  DIR *d = opendir("/");
  if (!d) return 1;
  struct dirent *e = readdir(d);
  if (!e || e->d_name[0] == c) goto out;
  rewinddir(d);
out:
  closedir(d);
  return 0;
}

int not_there(char c) {
  DIR *d = opendir(c ? "/none/such" : "/etc");
  if (d) closedir(d);
  return 0;
}

int with_its_descriptor(void) {
  DIR *d = opendir("/");
  if (!d) return 1;
  int fd = dirfd(d);
  closedir(d);
  return fd < 0;
}

int from_a_descriptor(void) {
  int fd = open("/", O_RDONLY | O_DIRECTORY);
  DIR *d = fdopendir(fd);
  if (d) closedir(d);
  else close(fd);
  return 0;
}

int nested(char c) {
  DIR *above = opendir("/");
  if (!above) return 1;
  DIR *below = opendir("/etc");
  if (below) {
    readdir(below);
    closedir(below);
  }
  readdir(above);
  closedir(above);
  return 0;
}

static DIR *kept;
static void at_exit(void) {
  if (kept) closedir(kept);
}
int closed_by_an_exit_handler(char c) {
  atexit(at_exit);
  kept = opendir("/");
  if (c == 'e') exit(1);
  return 0;
}
