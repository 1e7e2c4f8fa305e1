//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 2
// Concrete floating point is the hardware's.
int main(int argc, char **argv) {
  volatile double third = 1.0 / 3;
  volatile float f = 16777217.0f;
  long double l = third;
  int ok = third * 3 == 1.0 && f == 16777216.0f && (int)(l * 9) == 3 && (int)-2.7 == -2;
  return argv[1][0] == 'f' ? ok : !ok;
}
