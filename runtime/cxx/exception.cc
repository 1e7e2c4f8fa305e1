/* Types and exceptions of C++ while a program runs (Itanium C++ ABI, sections 2.9.5 to 2.9.7, and level II of its exception handling,
 * https://itanium-cxx-abi.github.io/cxx-abi/abi-eh.html). Unwinding is libgcc's, which reads the tables of machine code by the personality below;
 * where bitcode is explored, it is that of `runtime/musl/src/unwind`, which has no need of it. */
#pragma clang section text=".text.library"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace __cxxabiv1 {
class __class_type_info;
class __pbase_type_info;
}

namespace std {
class type_info {
public:
  virtual ~type_info();
  virtual const __cxxabiv1::__class_type_info *as_class() const { return nullptr; }
  virtual const __cxxabiv1::__pbase_type_info *as_pointer() const { return nullptr; }
  virtual bool is_function() const { return false; }
  const char *name;
};
type_info::~type_info() {}
}
using std::type_info;

/* ---- types -------------------------------------------------------------------------------------------------------------------------- */

namespace __cxxabiv1 {
#define TYPE(name)                          \
  class name : public type_info {           \
  public:                                   \
    ~name() override;                       \
  };                                        \
  name::~name() {}
TYPE(__array_type_info)
TYPE(__enum_type_info)
TYPE(__fundamental_type_info)

class __function_type_info : public type_info {
public:
  ~__function_type_info() override;
  bool is_function() const override { return true; }
};
__function_type_info::~__function_type_info() {}

using Visit = void (*)(const __class_type_info *base, char *object, bool is_public, void *data);

class __class_type_info : public type_info {
public:
  ~__class_type_info() override;
  const __class_type_info *as_class() const override { return this; }
  /* Visits the direct bases of an object. A null object has null bases. */
  virtual void bases(char *object, Visit visit, void *data) const {}
};
__class_type_info::~__class_type_info() {}

class __si_class_type_info : public __class_type_info {
public:
  ~__si_class_type_info() override;
  void bases(char *object, Visit visit, void *data) const override { visit(base, object, true, data); }
  const __class_type_info *base;
};
__si_class_type_info::~__si_class_type_info() {}

class __vmi_class_type_info : public __class_type_info {
public:
  ~__vmi_class_type_info() override;
  void bases(char *object, Visit visit, void *data) const override {
    for (unsigned i = 0; i < count; i++) {
      long offset = all[i].offset_flags >> 8;
      char *at = object;
      if (at && (all[i].offset_flags & VIRTUAL))
        offset = *reinterpret_cast<long *>(*reinterpret_cast<char **>(at) + offset);
      visit(all[i].base, at ? at + offset : nullptr, all[i].offset_flags & PUBLIC, data);
    }
  }
  enum { VIRTUAL = 1, PUBLIC = 2 };
  unsigned flags, count;
  struct {
    const __class_type_info *base;
    long offset_flags;
  } all[1];
};
__vmi_class_type_info::~__vmi_class_type_info() {}

class __pbase_type_info : public type_info {
public:
  ~__pbase_type_info() override;
  const __pbase_type_info *as_pointer() const override { return this; }
  enum { CONST = 1, QUALIFIERS = 7, NOEXCEPT = 64 };
  unsigned flags;
  const type_info *pointee;
};
__pbase_type_info::~__pbase_type_info() {}

class __pointer_type_info : public __pbase_type_info {
public:
  ~__pointer_type_info() override;
};
__pointer_type_info::~__pointer_type_info() {}

class __pointer_to_member_type_info : public __pbase_type_info {
public:
  ~__pointer_to_member_type_info() override;
  const __pbase_type_info *as_pointer() const override { return nullptr; }
  const __class_type_info *context;
};
__pointer_to_member_type_info::~__pointer_to_member_type_info() {}
}

using __cxxabiv1::__class_type_info;
using __cxxabiv1::__pbase_type_info;

namespace {
bool same(const type_info *a, const type_info *b) { return a == b || (a->name[0] != '*' && !strcmp(a->name, b->name)); }

/* Looks for the subobjects of a class that are of one type. */
struct Search {
  const type_info *wanted;
  /* By public bases alone. */
  bool publicly;
  /* Counts the object at this address alone, if there is one. */
  char *only;
  /* If there is one: counts the subobjects that have it as a public base. */
  const Search *inner;
  char *found;
  int count;
};

void search(const __class_type_info *type, char *object, bool is_public, void *data) {
  Search *all = static_cast<Search *>(data);
  if (all->publicly && !is_public)
    return;
  if (!same(type, all->wanted))
    return type->bases(object, search, data);
  if (all->only && object != all->only)
    return;
  if (all->inner) {
    Search inner = *all->inner;
    search(type, object, true, &inner);
    if (!inner.count)
      return;
  }
  if (!all->count || all->found != object)
    all->count++;
  all->found = object;
}

/* The address of the only public base of this type. */
bool as_base(const __class_type_info *type, const type_info *wanted, void **object) {
  Search all = {wanted, true, nullptr, nullptr, nullptr, 0};
  search(type, static_cast<char *>(*object), true, &all);
  if (all.count == 1)
    *object = all.found;
  return all.count == 1;
}

/* Whether a pointer converts to another by its qualifiers alone, from the second level on. */
bool requalifies(const __pbase_type_info *to, const __pbase_type_info *from) {
  if (from->flags & ~to->flags & __pbase_type_info::QUALIFIERS)
    return false;
  if (same(to->pointee, from->pointee))
    return true;
  auto to_next = to->pointee->as_pointer(), from_next = from->pointee->as_pointer();
  return to_next && from_next && (to->flags & __pbase_type_info::CONST) && requalifies(to_next, from_next);
}

/* Whether a handler for `caught` takes a thrown object of type `thrown`. `*object` is then its address as one of the caught type, or, of
 * a pointer, its value. */
bool handles(const type_info *caught, const type_info *thrown, void **object) {
  auto to = caught->as_pointer(), from = thrown->as_pointer();
  if (!from) {
    if (same(caught, thrown))
      return true;
    if (to && !strcmp(thrown->name, "Dn")) {
      *object = nullptr;
      return true;
    }
    auto type = thrown->as_class();
    return type && caught->as_class() && as_base(type, caught, object);
  }
  if (!to)
    return false;
  void *value = *static_cast<void **>(*object);
  bool fits = requalifies(to, from) && !(to->flags & ~from->flags & __pbase_type_info::NOEXCEPT);
  if (!fits && !(from->flags & ~to->flags & __pbase_type_info::QUALIFIERS)) {
    auto type = from->pointee->as_class();
    fits = (!strcmp(to->pointee->name, "v") && !from->pointee->is_function()) ||
           (type && to->pointee->as_class() && as_base(type, to->pointee, &value));
  }
  if (fits)
    *object = value;
  return fits;
}
}

/* `dynamic_cast`: down to the only object of the type that has the source as a public base, or across the whole object. */
extern "C" void *__dynamic_cast(const void *source, const __class_type_info *from, const __class_type_info *to, ptrdiff_t) {
  char *at = static_cast<char *>(const_cast<void *>(source));
  void **table = *reinterpret_cast<void ***>(at);
  char *whole = at + reinterpret_cast<ptrdiff_t>(table[-2]);
  auto type = static_cast<const __class_type_info *>(table[-1]);
  Search base = {from, true, at, nullptr, nullptr, 0};
  Search down = {to, false, nullptr, &base, nullptr, 0};
  search(type, whole, true, &down);
  if (down.count)
    return down.count == 1 ? down.found : nullptr;
  search(type, whole, true, &base);
  void *across = whole;
  return base.count && as_base(type, to, &across) ? across : nullptr;
}

/* ---- exceptions --------------------------------------------------------------------------------------------------------------------- */

extern "C" {
struct _Unwind_Exception {
  uint64_t exception_class;
  void (*cleanup)(int, _Unwind_Exception *);
  uintptr_t unused;
  /* The unwinder of bitcode asks here; that of machine code has this word for itself. */
  int (*catches)(const type_info *, _Unwind_Exception *);
} __attribute__((aligned(16)));
struct _Unwind_Context;

int _Unwind_RaiseException(_Unwind_Exception *);
[[noreturn]] void _Unwind_Resume(_Unwind_Exception *);
void _Unwind_DeleteException(_Unwind_Exception *);
const unsigned char *_Unwind_GetLanguageSpecificData(_Unwind_Context *);
uintptr_t _Unwind_GetIP(_Unwind_Context *);
uintptr_t _Unwind_GetRegionStart(_Unwind_Context *);
void _Unwind_SetGR(_Unwind_Context *, int, uintptr_t);
void _Unwind_SetIP(_Unwind_Context *, uintptr_t);

void *__cxa_allocate_exception(size_t size) noexcept;
void __cxa_free_exception(void *object) noexcept;
/* Where bitcode is explored: ends the path. */
[[noreturn]] __attribute__((weak)) void __wryneck_uncaught(const char *type);
}

namespace std {
__attribute__((noreturn)) void terminate() noexcept;
}

namespace {
const uint64_t OURS = 0x5759524e432b2b00, MASK = ~uint64_t(0xff);

/* Before a thrown object, whose address is the end of this. */
struct Exception {
  const type_info *type;
  void (*destroy)(void *);
  /* What is thrown: behind this, or another exception's, which `std::rethrow_exception` throws again. */
  void *object;
  Exception *primary;
  /* The address that its handler gets. */
  void *adjusted;
  Exception *next;
  /* Handlers that run; negative while it is thrown again. */
  int handlers;
  size_t owners;
  _Unwind_Exception unwind;
};

Exception *of_object(void *thrown) { return static_cast<Exception *>(thrown) - 1; }
Exception *of_unwind(_Unwind_Exception *unwind) {
  return reinterpret_cast<Exception *>(reinterpret_cast<char *>(unwind) - offsetof(Exception, unwind));
}
bool is_ours(const _Unwind_Exception *unwind) { return (unwind->exception_class & MASK) == OURS; }

/* Exceptions that are handled, innermost first, and how many are thrown and not handled yet. */
thread_local Exception *caught;
thread_local unsigned uncaught;

/* For exceptions when there is no memory. */
const size_t ROOM = 1024, ROOMS = 8;
alignas(16) char spare[ROOMS][ROOM];
bool in_use[ROOMS];

void release(Exception *exception) {
  if (__atomic_sub_fetch(&exception->owners, 1, __ATOMIC_ACQ_REL))
    return;
  if (exception->primary)
    release(exception->primary);
  else if (exception->destroy)
    exception->destroy(exception->object);
  __cxa_free_exception(exception + 1);
}

int catches(const type_info *type, _Unwind_Exception *unwind) {
  if (!is_ours(unwind))
    return 0;
  Exception *exception = of_unwind(unwind);
  void *object = exception->object;
  if (!handles(type, exception->type, &object))
    return 0;
  exception->adjusted = object;
  return 1;
}

void foreign(int, _Unwind_Exception *unwind) { release(of_unwind(unwind)); }
}

extern "C" {
void *__cxa_allocate_exception(size_t size) noexcept {
  size += sizeof(Exception);
  void *memory = malloc(size);
  for (size_t i = 0; !memory && i < ROOMS && size <= ROOM; i++)
    if (!in_use[i]) {
      in_use[i] = true;
      memory = spare[i];
    }
  if (!memory)
    std::terminate();
  memset(memory, 0, size);
  return static_cast<Exception *>(memory) + 1;
}

void __cxa_free_exception(void *object) noexcept {
  void *memory = of_object(object);
  for (size_t i = 0; i < ROOMS; i++)
    if (memory == spare[i]) {
      in_use[i] = false;
      return;
    }
  free(memory);
}

Exception *__cxa_init_primary_exception(void *object, type_info *type, void (*destroy)(void *)) noexcept {
  Exception *exception = of_object(object);
  exception->type = type;
  exception->destroy = destroy;
  exception->object = object;
  exception->unwind.exception_class = OURS;
  exception->unwind.cleanup = foreign;
  exception->unwind.catches = catches;
  return exception;
}

void *__cxa_begin_catch(_Unwind_Exception *unwind) noexcept {
  Exception *exception = of_unwind(unwind);
  if (!is_ours(unwind)) {
    /* Of another language: nothing can be kept in it, so there is no other handler around. */
    if (caught)
      std::terminate();
    caught = exception;
    return unwind + 1;
  }
  exception->handlers = (exception->handlers < 0 ? -exception->handlers : exception->handlers) + 1;
  if (caught != exception) {
    exception->next = caught;
    caught = exception;
  }
  uncaught--;
  return exception->adjusted;
}

void __cxa_end_catch() {
  Exception *exception = caught;
  if (!exception)
    return;
  if (!is_ours(&exception->unwind)) {
    caught = nullptr;
    _Unwind_DeleteException(&exception->unwind);
    return;
  }
  if (exception->handlers < 0) {
    /* It is thrown again, out of this handler. */
    if (++exception->handlers == 0)
      caught = exception->next;
  } else if (--exception->handlers == 0) {
    caught = exception->next;
    release(exception);
  }
}

void *__cxa_get_exception_ptr(_Unwind_Exception *unwind) noexcept { return of_unwind(unwind)->adjusted; }

/* Nobody catches it. */
[[noreturn]] static void nobody(_Unwind_Exception *unwind) {
  __cxa_begin_catch(unwind);
  std::terminate();
}

[[noreturn]] void __cxa_throw(void *object, type_info *type, void (*destroy)(void *)) {
  Exception *exception = __cxa_init_primary_exception(object, type, destroy);
  exception->owners = 1;
  uncaught++;
  _Unwind_RaiseException(&exception->unwind);
  nobody(&exception->unwind);
}

[[noreturn]] void __cxa_rethrow() {
  Exception *exception = caught;
  if (!exception)
    std::terminate();
  if (is_ours(&exception->unwind)) {
    exception->handlers = -exception->handlers;
    uncaught++;
  } else
    caught = nullptr;
  _Unwind_RaiseException(&exception->unwind);
  nobody(&exception->unwind);
}

[[noreturn]] void __cxa_call_terminate(_Unwind_Exception *unwind) noexcept { nobody(unwind); }

/* An exception leaves a function whose list of exceptions lacks it. */
[[noreturn]] void __cxa_call_unexpected(_Unwind_Exception *unwind) { nobody(unwind); }

type_info *__cxa_current_exception_type() { return caught && is_ours(&caught->unwind) ? const_cast<type_info *>(caught->type) : nullptr; }
unsigned __cxa_uncaught_exceptions() noexcept { return uncaught; }
bool __cxa_uncaught_exception() noexcept { return uncaught > 0; }

/* What `std::exception_ptr` holds: a thrown object. */
void __cxa_increment_exception_refcount(void *object) noexcept {
  if (object)
    __atomic_fetch_add(&of_object(object)->owners, 1, __ATOMIC_RELAXED);
}
void __cxa_decrement_exception_refcount(void *object) noexcept {
  if (object)
    release(of_object(object));
}
void *__cxa_current_primary_exception() noexcept {
  if (!caught || !is_ours(&caught->unwind))
    return nullptr;
  __cxa_increment_exception_refcount(caught->object);
  return caught->object;
}
void __cxa_rethrow_primary_exception(void *object) {
  if (!object)
    return;
  Exception *primary = of_object(object), *again = of_object(__cxa_allocate_exception(0));
  *again = *primary;
  again->primary = primary;
  again->next = nullptr;
  again->handlers = 0;
  again->owners = 1;
  __cxa_increment_exception_refcount(object);
  uncaught++;
  _Unwind_RaiseException(&again->unwind);
  nobody(&again->unwind);
}
}

namespace std {
using Handler = void (*)();
static Handler handler;

Handler set_terminate(Handler next) noexcept {
  Handler before = handler;
  handler = next;
  return before;
}
Handler get_terminate() noexcept { return handler; }

void terminate() noexcept {
  if (handler)
    handler();
  type_info *type = __cxa_current_exception_type();
  const char *name = type ? type->name + (type->name[0] == '*') : nullptr;
  if (__wryneck_uncaught)
    __wryneck_uncaught(name);
  fprintf(stderr, name ? "terminate called: uncaught %s\n" : "terminate called without an exception\n", name);
  abort();
}
}

/* ---- the tables of machine code (LLVM's `lib/CodeGen/AsmPrinter/EHStreamer.cpp` writes them) -------------------------------------------- */

namespace {
struct Reader {
  const unsigned char *at;

  uint64_t leb(bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0, byte;
    do {
      byte = *at++;
      value |= uint64_t(byte & 0x7f) << shift;
      shift += 7;
    } while (byte & 0x80);
    return is_signed && shift < 64 && (byte & 0x40) ? value | ~uint64_t(0) << shift : value;
  }

  template <class Word> uint64_t fixed() {
    Word value;
    memcpy(&value, at, sizeof value);
    at += sizeof value;
    return uint64_t(int64_t(value));
  }

  /* A pointer as DWARF encodes it: its format, what it is relative to, and whether it is that of the pointer. */
  uint64_t pointer(unsigned encoding) {
    uint64_t here = reinterpret_cast<uintptr_t>(at), value;
    switch (encoding & 0xf) {
    case 0x1: value = leb(false); break;
    case 0x2: value = fixed<uint16_t>(); break;
    case 0x3: value = fixed<uint32_t>(); break;
    case 0x9: value = leb(true); break;
    case 0xa: value = fixed<int16_t>(); break;
    case 0xb: value = fixed<int32_t>(); break;
    default: value = fixed<uint64_t>();
    }
    if (!value)
      return 0;
    if ((encoding & 0x70) == 0x10)
      value += here;
    return encoding & 0x80 ? *reinterpret_cast<uint64_t *>(value) : value;
  }
};

unsigned size_of(unsigned encoding) {
  switch (encoding & 0xf) {
  case 0x2: case 0xa: return 2;
  case 0x3: case 0xb: return 4;
  default: return 8;
  }
}

const unsigned OMITTED = 0xff;

struct Types {
  const unsigned char *end;
  unsigned encoding;

  const type_info *number(int64_t n) const {
    Reader entry = {end - n * size_of(encoding)};
    return reinterpret_cast<const type_info *>(entry.pointer(encoding));
  }
};

/* The selector by which a chain of actions takes the exception; 0 and `*cleans`, if it only cleans up. */
int taken(const unsigned char *action, const Types &types, _Unwind_Exception *unwind, bool *cleans) {
  for (;;) {
    Reader record = {action};
    int64_t filter = int64_t(record.leb(true));
    const unsigned char *from = record.at;
    int64_t next = int64_t(record.leb(true));
    if (filter == 0)
      *cleans = true;
    else if (filter > 0) {
      const type_info *type = types.number(filter);
      if (!type || catches(type, unwind))
        return int(filter);
    } else {
      bool listed = false;
      Reader list = {types.end - filter - 1};
      while (uint64_t n = list.leb(false))
        listed |= catches(types.number(int64_t(n)), unwind) != 0;
      if (!listed)
        return int(filter);
    }
    if (!next)
      return 0;
    action = from + next;
  }
}
}

extern "C" int __gxx_personality_v0(int version, int actions, uint64_t, _Unwind_Exception *unwind, _Unwind_Context *context) {
  enum { SEARCH = 1, HANDLER = 4 };
  enum { FATAL = 3, HANDLER_FOUND = 6, INSTALL = 7, CONTINUE = 8 };
  const unsigned char *data = _Unwind_GetLanguageSpecificData(context);
  if (version != 1)
    return FATAL;
  if (!data)
    return CONTINUE;
  Reader table = {data};
  uintptr_t start = _Unwind_GetRegionStart(context), offset = _Unwind_GetIP(context) - 1 - start, base = start;
  if (unsigned encoding = *table.at++; encoding != OMITTED)
    base = table.pointer(encoding);
  Types types = {nullptr, *table.at++};
  if (types.encoding != OMITTED) {
    uint64_t length = table.leb(false);
    types.end = table.at + length;
  }
  unsigned sites = *table.at++;
  uint64_t length = table.leb(false);
  const unsigned char *chains = table.at + length;
  while (table.at < chains) {
    uint64_t from = table.pointer(sites), size = table.pointer(sites), pad = table.pointer(sites), action = table.leb(false);
    if (offset < from)
      break;
    if (offset >= from + size)
      continue;
    if (!pad)
      return CONTINUE;
    bool cleans = !action;
    int selector = action ? taken(chains + action - 1, types, unwind, &cleans) : 0;
    if (actions & SEARCH)
      return selector ? HANDLER_FOUND : CONTINUE;
    if (!selector && !cleans)
      return CONTINUE;
    _Unwind_SetGR(context, 0, reinterpret_cast<uintptr_t>(unwind));
    _Unwind_SetGR(context, 1, uintptr_t(intptr_t(actions & HANDLER ? selector : 0)));
    _Unwind_SetIP(context, base + pad);
    return INSTALL;
  }
  /* Nothing may be thrown here. */
  std::terminate();
}
