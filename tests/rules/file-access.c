//@ rule: file-access
/* Streams used after they were closed or had an error, and such as are not. Using freed memory is a fault as well; `tmp` streams of static memory
 * show what only the rule sees. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#define IN "/etc/passwd"

/* Reading a stream that is for writing only is an error of the stream. */
static FILE *failed(void) {
  FILE *out = fopen("/dev/null", "w");
  if (out) fgetc(out);
  return out && ferror(out) ? out : 0;
}

int written_after_an_error(char c) {
  FILE *f = failed();
  if (!f) return 1;
  if (c == 'a') fputs("x", f);  //~ VIOLATION file-access: stream is used after it had an error
  fclose(f);
  return 0;
}

int read_after_an_error(char c) {
  FILE *f = failed();
  if (!f) return 1;
  if (c == 'a') fgetc(f);  //~ VIOLATION file-access: stream is used after it had an error
  fclose(f);
  return 0;
}

int block_after_an_error(char c) {
  char block[4];
  FILE *f = failed();
  if (!f) return 1;
  if (c == 'a') fread(block, 1, 4, f);  //~ VIOLATION file-access: stream is used after it had an error
  if (c == 'b') fwrite("abc", 1, 3, f);  //~ VIOLATION file-access: stream is used after it had an error
  fclose(f);
  return 0;
}

int line_after_an_error(char c) {
  char line[4];
  FILE *f = failed();
  if (!f) return 1;
  if (c == 'a') fgets(line, 4, f);  //~ VIOLATION file-access: stream is used after it had an error
  if (c == 'b') fprintf(f, "%d", c);  //~ VIOLATION file-access: stream is used after it had an error
  fclose(f);
  return 0;
}

int pushed_back_after_an_error(char c) {
  FILE *f = failed();
  if (!f) return 1;
  if (c == 'a') ungetc('x', f);  //~ VIOLATION file-access: stream is used after it had an error
  if (c == 'b') putc('x', f);  //~ VIOLATION file-access: stream is used after it had an error
  fclose(f);
  return 0;
}

int cleared_too_late(char c) {
  FILE *f = failed();
  if (!f) return 1;
  if (c == 'a') clearerr(f);
  fputc('x', f);  //~ VIOLATION file-access: stream is used after it had an error
  clearerr(f);
  fputc('x', f);
  fclose(f);
  return 0;
}

int standard_output_had_an_error(char c) {
  fgetc(stdout);
  if (ferror(stdout) && c == 'a') puts("x");  //~ VIOLATION file-access: stream is used after it had an error
  return 0;
}

int standard_output_is_closed(char c) {
  fclose(stdout);
  if (c == 'a') printf("%d", c);  //~ VIOLATION file-access: stream is used after it was closed
  return 0;
}

int standard_input_is_closed(char c) {
  fclose(stdin);
  if (c == 'a') return getchar();  //~ VIOLATION file-access: stream is used after it was closed
  if (c == 'b') return feof(stdin);  //~ VIOLATION file-access: stream is used after it was closed
  return 0;
}

int closed(char c) {
  FILE *in = fopen(IN, "r");
  if (!in) return 1;
  fclose(in);
  if (c == 'a') fgetc(in);  //~ VIOLATION file-access: stream is used after it was closed //~ FAULT use-after-free
  return 0;
}

int asked_when_closed(char c) {
  FILE *in = fopen(IN, "r");
  if (!in) return 1;
  fclose(in);
  if (c == 'a') ferror(in);  //~ VIOLATION file-access: stream is used after it was closed //~ FAULT use-after-free
  return 0;
}

int read_and_closed(void) {
  FILE *in = fopen(IN, "r");
  if (!in) return 1;
  fgetc(in);
  fclose(in);
  return 0;
}

int cleared(char c) {
  FILE *f = failed();
  if (!f) return 1;
  clearerr(f);
  fputc(c, f);
  fclose(f);
  return 0;
}

int rewound(char c) {
  FILE *f = failed();
  if (!f) return 1;
  rewind(f);
  fputc(c, f);
  fclose(f);
  return 0;
}

int no_more_after_an_error(char c) {
  FILE *f = failed();
  if (!f) return 1;
  int bad = ferror(f);
  if (!bad) fputc(c, f);
  fclose(f);
  return bad;
}

int nobody_asked(char c) {
  FILE *out = fopen("/dev/null", "w");
  if (!out) return 1;
  fgetc(out);
  // There was an error, which nobody told.
  fputc(c, out);
  fclose(out);
  return 0;
}

int end_of_file_is_no_error(char c) {
  FILE *in = fopen("/dev/null", "r");
  if (!in) return 1;
  while (fgetc(in) != EOF);
  if (!ferror(in)) fgetc(in);
  fclose(in);
  return 0;
}

int another_stream(char c) {
  FILE *f = failed();
  FILE *g = fopen(IN, "r");
  if (g) fgetc(g);
  if (f) fclose(f);
  if (g) fgetc(g), fclose(g);
  return 0;
}

int opened_again(char c) {
  FILE *f = failed();
  if (!f) return 1;
  f = freopen(IN, "r", f);
  if (!f) return 1;
  fgetc(f);
  fclose(f);
  return 0;
}

int standard_streams(char c) {
  putchar(c);
  printf("%d", 3);
  if (!ferror(stdout)) puts("x");
  return getchar();
}
