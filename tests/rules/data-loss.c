//@ rule: data-loss
/* A file that replaces another: written, flushed, synced, renamed, as in paper 1, figure 5; and what programs do instead. `git_index` is how git 1.7
 * writes its index (lock file, write, close, rename, never synced), `shadow_defaults` how shadow 4.1 writes /etc/default/useradd (the old file is
 * moved away first). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file as there was before. */
static void old(const char *name) { close(open(name, O_WRONLY | O_CREAT, 0600)); }

static FILE *written(const char *name) {
  FILE *f = fopen(name, "w");
  if (!f) exit(9);
  fputs("data", f);
  return f;
}

int git_index(char c) {
  char lock[32];
  snprintf(lock, sizeof lock, "%s.lock", "index");
  old("index");
  int fd = open(lock, O_RDWR | O_CREAT | O_EXCL, 0666);
  if (fd < 0) return 128;
  if (write(fd, "DIRC", 4) != 4 || c == 'e') {
    close(fd);
    unlink(lock);
    return 1;
  }
  if (close(fd)) return 1;
  return rename(lock, "index");  //~ VIOLATION data-loss: file `index.lock` replaces another before it is synced
}

int shadow_defaults(char c) {
  old("useradd");
  FILE *out = written("nuaddXXX");
  if (fflush(out) || fsync(fileno(out)) || fclose(out)) return 1;
  if (rename("useradd", "useradd-")) return 1;
  return rename("nuaddXXX", "useradd");  //~ VIOLATION data-loss: file `useradd` is removed before its replacement is in its place
}

int neither_flushed_nor_synced(char c) {
  FILE *f = written("new");
  if (c == 'a') rename("new", "old");  //~ VIOLATION data-loss: file `new` replaces another before it is flushed and synced
  fclose(f);
  return 0;
}

int flushed_not_synced(char c) {
  FILE *f = written("new");
  fflush(f);
  if (c == 'a') fsync(fileno(f));
  rename("new", "old");  //~ VIOLATION data-loss: file `new` replaces another before it is synced
  fclose(f);
  return 0;
}

int synced_not_flushed(char c) {
  FILE *f = written("new");
  fsync(fileno(f));
  rename("new", "old");  //~ VIOLATION data-loss: file `new` replaces another before it is flushed and synced
  fclose(f);
  return 0;
}

int written_after_it_was_synced(char c) {
  FILE *f = written("new");
  fflush(f);
  fsync(fileno(f));
  if (c == 'a') fprintf(f, "more");
  fclose(f);
  return rename("new", "old");  //~ VIOLATION data-loss: file `new` replaces another before it is synced
}

int unlinked_first(char c) {
  old("old");
  FILE *f = written("new");
  fflush(f);
  fsync(fileno(f));
  fclose(f);
  if (c == 'a') unlink("old");
  return rename("new", "old");  //~ VIOLATION data-loss: file `old` is removed before its replacement is in its place
}

int removed_by_another_name_for_it(char c) {
  old("old");
  FILE *f = written("new");
  fflush(f);
  fsync(fileno(f));
  fclose(f);
  if (c == 'a') remove(".//old");
  return rename("new", "old");  //~ VIOLATION data-loss: file `old` is removed before its replacement is in its place
}

int directory_removed_first(char c) {
  mkdir("old", 0700);
  mkdir("new", 0700);
  if (c == 'a') rmdir("old");
  return rename("new", "old");  //~ VIOLATION data-loss: file `old` is removed before its replacement is in its place
}

int the_wrong_file_is_synced(char c) {
  FILE *f = written("new"), *g = written("other");
  fflush(f);
  fflush(g);
  fsync(fileno(c == 'a' ? g : f));
  fclose(f);
  fclose(g);
  return rename("new", "old");  //~ VIOLATION data-loss: file `new` replaces another before it is synced
}

int by_descriptor_and_at(char c) {
  int fd = openat(AT_FDCWD, "new", O_WRONLY | O_CREAT, 0600);
  write(fd, "a", 1);
  if (c != 'a') fdatasync(fd);
  close(fd);
  return renameat(AT_FDCWD, "new", AT_FDCWD, "old");  //~ VIOLATION data-loss: file `new` replaces another before it is synced
}

int written_by_a_duplicate(char c) {
  int fd = open("new", O_WRONLY | O_CREAT, 0600), copy = dup(fd);
  fsync(fd);
  if (c == 'a') write(copy, "a", 1);
  close(copy);
  close(fd);
  return rename("new", "old");  //~ VIOLATION data-loss: file `new` replaces another before it is synced
}

int descriptor_taken_from_its_stream(char c) {
  FILE *f = written("new");
  fflush(f);
  int fd = fileno(f);
  fsync(fd);
  if (c == 'a') close(fd);  //~ VIOLATION data-loss: file `new` loses its descriptor to `close` though it belongs to a stream
  else fclose(f);
  return rename("new", "old");
}

int a_second_rename_of_it(char c) {
  FILE *f = written("new");
  fflush(f);
  fsync(fileno(f));
  rename("new", "middle");
  if (c == 'a') fputs("more", f);
  fflush(f);
  rename("middle", "old");  //~ VIOLATION data-loss: file `new` replaces another before it is synced
  fclose(f);
  return 0;
}

int descriptor_taken_at_once(char c) {
  FILE *f = fopen("new", "w");
  if (!f) return 1;
  int fd = fileno(f);
  if (c == 'a') close(fd);  //~ VIOLATION data-loss: file `new` loses its descriptor to `close` though it belongs to a stream
  else fputc(c, f);
  if (c == 'b') close(fd);  //~ VIOLATION data-loss: file `new` loses its descriptor to `close` though it belongs to a stream
  fflush(f);
  if (c == 'c') close(fd);  //~ VIOLATION data-loss: file `new` loses its descriptor to `close` though it belongs to a stream
  fclose(f);
  return 0;
}

int written_after_it_was_flushed(char c) {
  FILE *f = written("new");
  fflush(f);
  fputs("more", f);
  fsync(fileno(f));
  rename("new", "old");  //~ VIOLATION data-loss: file `new` replaces another before it is flushed and synced
  fclose(f);
  return 0;
}

int written_through_after_it_was_synced(char c) {
  int fd = open("new", O_WRONLY | O_CREAT, 0600);
  write(fd, "a", 1);
  fsync(fd);
  if (c == 'a') write(fd, "b", 1);
  close(fd);
  return rename("new", "old");  //~ VIOLATION data-loss: file `new` replaces another before it is synced
}

static void synced(const char *name) {
  FILE *f = written(name);
  fflush(f);
  fsync(fileno(f));
  fclose(f);
}

int removed_in_any_state(char c) {
  synced("new");
  FILE *f = written("old");
  if (c == 'a') unlink("old");
  fflush(f);
  if (c == 'b') unlink("old");
  fsync(fileno(f));
  if (c == 'c') unlink("old");
  fclose(f);
  return rename("new", "old");  //~ VIOLATION data-loss: write by `fputs` at data-loss.c:18, remove by `unlink` at data-loss.c:196 //~ VIOLATION data-loss: flush by `fflush` at data-loss.c:197, remove //~ VIOLATION data-loss: sync by `fsync` at data-loss.c:199, remove
}

int figure_5(void) {
  FILE *f = fopen("src", "w");
  if (!f) return 1;
  fwrite("data", 1, 4, f);
  fflush(f);
  int fd = fileno(f);
  fsync(fd);
  fclose(f);
  return rename("src", "dst");
}

int git_index_synced(char c) {
  old("index");
  int fd = open("index.lock", O_RDWR | O_CREAT | O_EXCL, 0666);
  if (fd < 0) return 128;
  if (write(fd, "DIRC", 4) != 4 || c == 'e') {
    close(fd);
    unlink("index.lock");
    return 1;
  }
  if (fsync(fd) || close(fd)) return 1;
  return rename("index.lock", "index");
}

int shadow_defaults_linked(char c) {
  old("useradd");
  FILE *out = written("nuaddXXX");
  if (fflush(out) || fsync(fileno(out)) || fclose(out)) return 1;
  // The copy is a second name, so that there is a file all the time.
  unlink("useradd-");
  if (link("useradd", "useradd-")) return 1;
  return rename("nuaddXXX", "useradd");
}

int synced_by_sync(char c) {
  FILE *f = written("new");
  if (c) fflush(f);
  else fflush(0);
  sync();
  fclose(f);
  return rename("new", "old");
}

int opened_again_to_be_synced(char c) {
  FILE *f = written("new");
  fclose(f);
  int fd = open("./new", O_RDONLY);
  if (fd < 0 || fsync(fd)) return 1;
  close(fd);
  return rename("new", "old");
}

int moved_only(char c) {
  old("here");
  return rename("here", "there");
}

int removed_and_made_again(char c) {
  old("old");
  unlink("old");
  old("old");
  FILE *f = written("new");
  fflush(f);
  fdatasync(fileno(f));
  fclose(f);
  return rename("new", "old");
}

int directory_made_again(char c) {
  mkdir("old", 0700);
  rmdir("old");
  mkdir("old", 0700);
  mkdir("new", 0700);
  return rename("new", "old");
}

int stream_of_a_descriptor(char c) {
  int fd = open("new", O_WRONLY | O_CREAT, 0600);
  FILE *f = fdopen(fd, "w");
  if (!f) return 1;
  fputc(c, f);
  fflush(f);
  fsync(fd);
  fclose(f);
  return rename("new", "old");
}

int not_renamed(char c) {
  FILE *f = written("new");
  fclose(f);
  return c == 'a' ? unlink("new") : 0;
}

int number_of_a_stream_used_again(char c) {
  FILE *f = written("new");
  fflush(f);
  fsync(fileno(f));
  fclose(f);
  int fd = open("other", O_WRONLY | O_CREAT, 0600);
  close(fd);
  return rename("new", "old");
}

int both_ways(char c) {
  FILE *f = written("new");
  fflush(f);
  if (c == 'a') fsync(fileno(f));
  fclose(f);
  if (c != 'a') return 1;
  return rename("new", "old");
}
