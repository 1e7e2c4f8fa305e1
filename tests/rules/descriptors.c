//@ rule: descriptors
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define IN "/etc/passwd"

int never_closed(void) {
  int fd = open(IN, O_RDONLY);  //~ VIOLATION descriptors: descriptor from `open` is never closed
  return fd < 0;
}

int left_open_on_an_error(char c) {
  int fd = open(IN, O_RDONLY);  //~ VIOLATION descriptors: descriptor from `open` is never closed
  if (fd < 0) return 1;
  if (c == 'e') return 2;
  close(fd);
  return 0;
}

int left_by_exit(char c) {
  int fd = creat("new", 0600);  //~ VIOLATION descriptors: descriptor from `creat` is never closed
  if (c == 'e') exit(1);
  close(fd);
  return 0;
}

int one_end_of_a_pipe(char c) {
  int ends[2];
  if (pipe(ends)) return 1;  //~ VIOLATION descriptors: descriptor from `pipe` is never closed
  close(ends[0]);
  if (c) close(ends[1]);
  return 0;
}

int the_duplicate(char c) {
  int fd = open(IN, O_RDONLY), copy = dup(fd);  //~ VIOLATION descriptors: descriptor from `dup` is never closed
  close(fd);
  if (c) close(copy);
  return 0;
}

int duplicated_by_fcntl(char c) {
  int fd = open(IN, O_RDONLY);
  int copy = fcntl(fd, F_DUPFD, 10);  //~ VIOLATION descriptors: descriptor from `fcntl` is never closed
  close(fd);
  if (c) close(copy);
  return 0;
}

int closed_twice(char c) {
  int fd = open(IN, O_RDONLY);
  close(fd);
  if (c == 'a') close(fd);  //~ VIOLATION descriptors: descriptor is closed again
  return 0;
}

int read_when_closed(char c) {
  char b;
  int fd = open(IN, O_RDONLY);
  close(fd);
  if (c == 'a') return read(fd, &b, 1);  //~ VIOLATION descriptors: descriptor is used after it was closed
  return 0;
}

int moved_when_closed(char c) {
  int fd = open(IN, O_RDONLY);
  close(fd);
  if (c == 'a') lseek(fd, 0, SEEK_SET);  //~ VIOLATION descriptors: descriptor is used after it was closed
  return 0;
}

int closed_under_its_stream(char c) {
  FILE *in = fopen(IN, "r");
  if (!in) return 1;
  if (c == 'a') close(fileno(in));  //~ VIOLATION descriptors: descriptor is closed by `close` though it belongs to a stream
  fclose(in);
  return 0;
}

int given_away_and_closed(char c) {
  int fd = open(IN, O_RDONLY);
  FILE *in = fdopen(fd, "r");
  if (!in) return 1;
  fgetc(in);
  if (c == 'a') close(fd);  //~ VIOLATION descriptors: descriptor is closed by `close` though it belongs to a stream
  fclose(in);
  return 0;
}

int closed_under_its_directory(char c) {
  DIR *d = opendir("/");
  if (!d) return 1;
  if (c == 'a') close(dirfd(d));  //~ VIOLATION descriptors: descriptor is closed by `close` though it belongs to a directory
  closedir(d);
  return 0;
}

int closed_again_after_its_stream(char c) {
  int fd = open(IN, O_RDONLY);
  FILE *in = fdopen(fd, "r");
  if (!in) return 1;
  fclose(in);
  if (c == 'a') close(fd);  //~ VIOLATION descriptors: descriptor is closed again
  return 0;
}

int standard_input_closed_twice(char c) {
  close(0);
  if (c == 'a') close(0);  //~ VIOLATION descriptors: descriptor is closed again
  return 0;
}

int standard_input_given_to_a_stream(char c) {
  FILE *in = fdopen(0, "r");
  if (!in) return 1;
  if (c == 'a') close(0);  //~ VIOLATION descriptors: descriptor is closed by `close` though it belongs to a stream
  fclose(in);
  return 0;
}

int standard_input_put_in_place_of_a_directory(char c) {
  close(0);
  if (open("/", O_RDONLY | O_DIRECTORY) != 0) return 1;
  DIR *d = fdopendir(0);
  if (!d) return 1;
  if (c == 'a') close(0);  //~ VIOLATION descriptors: descriptor is closed by `close` though it belongs to a directory
  closedir(d);
  return 0;
}

int number_used_again_by_a_stream(char c) {
  int fd = open(IN, O_RDONLY);
  close(fd);
  FILE *in = fopen(IN, "r");
  if (!in) return 1;
  if (fileno(in) == fd && c == 'a') close(fd);  //~ VIOLATION descriptors: descriptor is closed by `close` though it belongs to a stream
  fclose(in);
  return 0;
}

int closed(void) {
  int fd = open(IN, O_RDONLY);
  if (fd >= 0) close(fd);
  return 0;
}

int closed_on_each_way(char c) {
  char b;
  int fd = open(IN, O_RDONLY);
  if (fd < 0) return 1;
  if (read(fd, &b, 1) != 1 || b == c) goto out;
  lseek(fd, 1, SEEK_SET);
out:
  close(fd);
  return 0;
}

int both_ends(void) {
  int ends[2];
  if (pipe(ends)) return 1;
  close(ends[0]);
  close(ends[1]);
  return 0;
}

int put_in_place_of_standard_input(char c) {
  char b;
  close(0);
  if (open(IN, O_RDONLY) != 0) return 1;
  return read(0, &b, 1);
}

int put_in_place_of_standard_output(char c) {
  int fd = open("/dev/null", O_WRONLY);
  if (fd < 0) return 1;
  dup2(fd, 1);
  close(fd);
  return 0;
}

int number_used_again(char c) {
  for (int i = 0; i < 3; i++) {
    int fd = open(IN, O_RDONLY);
    if (fd < 0) return 1;
    close(fd);
  }
  return 0;
}

int closed_by_its_stream(char c) {
  FILE *in = fdopen(open(IN, O_RDONLY), "r");
  if (!in) return 1;
  fgetc(in);
  fclose(in);
  return 0;
}

int closed_by_its_directory(void) {
  DIR *d = fdopendir(open("/", O_RDONLY | O_DIRECTORY));
  if (!d) return 1;
  readdir(d);
  closedir(d);
  return 0;
}

int asked_of_a_stream(char c) {
  FILE *in = fopen(IN, "r");
  char b;
  if (!in) return 1;
  int got = read(fileno(in), &b, 1);
  fclose(in);
  return got;
}

int number_of_a_stream_used_again(char c) {
  FILE *in = fopen(IN, "r");
  if (!in) return 1;
  int old = fileno(in);
  fclose(in);
  int fd = open(IN, O_RDONLY);
  if (fd >= 0) close(fd);
  return old == fd;
}

int not_opened(char c) {
  int fd = open(c ? "/none/such" : IN, O_RDONLY);
  if (fd >= 0) close(fd);
  return 0;
}
