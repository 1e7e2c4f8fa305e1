//@ frontend: bitcode x86_64
//@ options: --uninit symbolic
//@ paths: 1
/* Variables without an initial value are zeros, whatever memory never written is. */
char text[4];
int main(void) {
  static int used;
  return text[0] || used++;
}
