/* What the compiler calls behind a C++ program's back (Itanium C++ ABI, sections 2.9, 3.2.6 and 3.3.2), without exceptions: memory
 * that is not there, like everything else that would be thrown, ends the program. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

namespace std {
enum class align_val_t : size_t {};
struct nothrow_t;
struct nothrow_t { explicit nothrow_t() = default; };
extern const nothrow_t nothrow;
const nothrow_t nothrow;

class type_info {
public:
  virtual ~type_info();
private:
  const char *name;
};
type_info::~type_info() {}
}

namespace {
[[noreturn]] void die(const char *why) {
  fprintf(stderr, "%s\n", why);
  abort();
}

void *allocate(size_t size) {
  void *memory = malloc(size ? size : 1);
  if (!memory)
    die("operator new: out of memory");
  return memory;
}

void *allocate(size_t size, std::align_val_t alignment) {
  void *memory = aligned_alloc((size_t)alignment, size ? size : 1);
  if (!memory)
    die("operator new: out of memory");
  return memory;
}
}

#define WEAK __attribute__((weak))

WEAK void *operator new(size_t size) { return allocate(size); }
WEAK void *operator new[](size_t size) { return allocate(size); }
WEAK void *operator new(size_t size, std::align_val_t alignment) { return allocate(size, alignment); }
WEAK void *operator new[](size_t size, std::align_val_t alignment) { return allocate(size, alignment); }
WEAK void *operator new(size_t size, const std::nothrow_t &) noexcept { return malloc(size ? size : 1); }
WEAK void *operator new[](size_t size, const std::nothrow_t &) noexcept { return malloc(size ? size : 1); }
WEAK void operator delete(void *memory) noexcept { free(memory); }
WEAK void operator delete[](void *memory) noexcept { free(memory); }
WEAK void operator delete(void *memory, size_t) noexcept { free(memory); }
WEAK void operator delete[](void *memory, size_t) noexcept { free(memory); }
WEAK void operator delete(void *memory, std::align_val_t) noexcept { free(memory); }
WEAK void operator delete[](void *memory, std::align_val_t) noexcept { free(memory); }
WEAK void operator delete(void *memory, size_t, std::align_val_t) noexcept { free(memory); }
WEAK void operator delete[](void *memory, size_t, std::align_val_t) noexcept { free(memory); }

extern "C" {
void __cxa_pure_virtual(void) { die("pure virtual function called"); }
void __cxa_deleted_virtual(void) { die("deleted virtual function called"); }

/* Guards of static locals: programs have one thread. Their first byte says that the value is there. */
int __cxa_guard_acquire(char *guard) { return !*guard; }
void __cxa_guard_release(char *guard) { *guard = 1; }
void __cxa_guard_abort(char *) {}
}

/* The tables that type descriptions point to; nobody asks them anything without `dynamic_cast`. */
namespace __cxxabiv1 {
#define TYPE(name)                          \
  class name : public std::type_info {      \
  public:                                   \
    ~name() override;                       \
  };                                        \
  name::~name() {}
TYPE(__array_type_info)
TYPE(__class_type_info)
TYPE(__enum_type_info)
TYPE(__function_type_info)
TYPE(__fundamental_type_info)
TYPE(__pbase_type_info)
TYPE(__pointer_type_info)
TYPE(__pointer_to_member_type_info)
TYPE(__si_class_type_info)
TYPE(__vmi_class_type_info)
}
