//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 2
// 128-bit arithmetic.
int main(int argc, char **argv) {
  unsigned __int128 x = (unsigned char)argv[1][0];
  x = (x << 100) + 7;
  x *= 3;
  return (unsigned)(x >> 100) == 3 * 0x21 ? (int)(x & 0xff) : 0;
}
