//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 5
#ifdef FIXED
enum { TABLE = 8, LOCAL = 8 };
#else
enum { TABLE = 4, LOCAL = 3 };
#endif
static int table[TABLE] = {1, 2, 3, 4};
int main(int argc, char **argv) {
  unsigned char i = argv[1][0];
  if (i & 1) {
    int local[LOCAL] = {0};
    local[i & 7] = 1;   //~ FAULT out-of-bounds-write: write of 4 bytes  //~ NOT x86_64 -O2: in optimised code no address tells its variable
    return local[1];
  }
  return table[i & 7];  //~ FAULT out-of-bounds-read: read of 4 bytes  //~ NOT x86_64 -O2: in optimised code no address tells its variable
}  //~ ONLY x86_64 -O2 FAULT overwritten-return-address
