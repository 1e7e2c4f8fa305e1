//! The table of models: which functions have a model, by name.

use wryneck_exec::{Cx, Reply, Stop};

use crate::Linux;
use crate::intrinsics::{klee, overflow, verifier, wryneck};
use crate::libc::{alloc, assert, fenv, jump, memory, stdlib, string, unwind};
use crate::sig::{Args, Ty};
use crate::threads::{exclusion, life, stacks, waits};
use crate::{start, sys};

/// When a model stands in for its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Also where a library has a body for it. What the program itself defines is never replaced.
    Always,
    /// As `Always`, but only for some arguments: for others the body runs.
    Partly,
    /// As `Always`, but not in machine code.
    Bitcode,
    /// Only where there is no body.
    Undefined,
}

/// A model of a function.
pub(crate) struct Model {
    pub name: &'static str,
    pub sig: &'static [Ty],
    pub when: When,
    pub run: fn(&Linux, &Args<'_>, &mut Cx<'_>) -> Result<Reply, Stop>,
}

macro_rules! models {
    ($($name:literal ($($ty:ident)*) $when:ident $run:expr;)*) => {
        pub(crate) static MODELS: &[Model] = &[$(Model { name: $name, sig: &[$(Ty::$ty),*], when: When::$when, run: $run }),*];
    };
}

// One more model: a function in `libc/<area>.rs` or `intrinsics/<family>.rs`, its row here (sorted by name, as C sorts bytes),
// and a test; where it stands in for real code, one that compares it with that code. One more system call: `sys::SYSCALLS`.
models! {
    "_Exit" (Int) Undefined stdlib::exit;
    "_ZdaPv" (Ptr) Always alloc::delete_array;
    "_ZdaPvm" (Ptr) Always alloc::delete_array;
    "_ZdlPv" (Ptr) Always alloc::delete;
    "_ZdlPvm" (Ptr) Always alloc::delete;
    "_Znam" (Size) Always alloc::new_array;
    "_Znwm" (Size) Always alloc::new;
    "__VERIFIER_assert" (Int) Undefined verifier::assert;
    "__VERIFIER_assume" (Int) Undefined verifier::assume;
    "__VERIFIER_atomic_begin" () Undefined klee::nothing;
    "__VERIFIER_atomic_end" () Undefined klee::nothing;
    "__VERIFIER_error" () Undefined verifier::error;
    "__VERIFIER_nondet_bool" () Undefined verifier::nondet_bool;
    "__VERIFIER_nondet_char" () Undefined verifier::nondet;
    "__VERIFIER_nondet_double" () Undefined verifier::nondet;
    "__VERIFIER_nondet_float" () Undefined verifier::nondet;
    "__VERIFIER_nondet_int" () Undefined verifier::nondet;
    "__VERIFIER_nondet_int128" () Undefined verifier::nondet;
    "__VERIFIER_nondet_loff_t" () Undefined verifier::nondet;
    "__VERIFIER_nondet_long" () Undefined verifier::nondet;
    "__VERIFIER_nondet_longlong" () Undefined verifier::nondet;
    "__VERIFIER_nondet_memory" (Ptr Size) Undefined verifier::nondet_memory;
    "__VERIFIER_nondet_pchar" () Undefined verifier::nondet;
    "__VERIFIER_nondet_pointer" () Undefined verifier::nondet;
    "__VERIFIER_nondet_pthread_t" () Undefined verifier::nondet;
    "__VERIFIER_nondet_sector_t" () Undefined verifier::nondet;
    "__VERIFIER_nondet_short" () Undefined verifier::nondet;
    "__VERIFIER_nondet_size_t" () Undefined verifier::nondet;
    "__VERIFIER_nondet_u16" () Undefined verifier::nondet;
    "__VERIFIER_nondet_u32" () Undefined verifier::nondet;
    "__VERIFIER_nondet_u64" () Undefined verifier::nondet;
    "__VERIFIER_nondet_u8" () Undefined verifier::nondet;
    "__VERIFIER_nondet_uchar" () Undefined verifier::nondet;
    "__VERIFIER_nondet_uint" () Undefined verifier::nondet;
    "__VERIFIER_nondet_uint128" () Undefined verifier::nondet;
    "__VERIFIER_nondet_ulong" () Undefined verifier::nondet;
    "__VERIFIER_nondet_ulonglong" () Undefined verifier::nondet;
    "__VERIFIER_nondet_unsigned" () Undefined verifier::nondet;
    "__VERIFIER_nondet_ushort" () Undefined verifier::nondet;
    "__acquire_ptc" () Bitcode klee::nothing;
    "__assert_fail" (Ptr Ptr Int Ptr) Always assert::assert_fail;
    "__clock_gettime" (Int Ptr) Partly sys::clock_gettime;
    "__inhibit_ptc" () Bitcode klee::nothing;
    "__pthread_cond_timedwait" (Ptr Ptr Ptr) Bitcode waits::condition_timedwait;
    "__pthread_create" (Ptr Ptr Ptr Ptr) Always life::create;
    "__pthread_detach" (Size) Bitcode life::detach;
    "__pthread_exit" (Ptr) Bitcode life::exit;
    "__pthread_getspecific" (Int) Bitcode life::key_value;
    "__pthread_join" (Size Ptr) Bitcode life::join;
    "__pthread_key_create" (Ptr Ptr) Bitcode life::key_create;
    "__pthread_key_delete" (Int) Bitcode life::key_delete;
    "__pthread_mutex_lock" (Ptr) Bitcode exclusion::mutex_lock;
    "__pthread_mutex_timedlock" (Ptr Ptr) Bitcode exclusion::mutex_timedlock;
    "__pthread_mutex_trylock" (Ptr) Bitcode exclusion::mutex_trylock;
    "__pthread_mutex_unlock" (Ptr) Bitcode exclusion::mutex_unlock;
    "__pthread_rwlock_rdlock" (Ptr) Bitcode exclusion::read_lock;
    "__pthread_rwlock_timedrdlock" (Ptr Ptr) Bitcode exclusion::timed_read_lock;
    "__pthread_rwlock_timedwrlock" (Ptr Ptr) Bitcode exclusion::timed_write_lock;
    "__pthread_rwlock_tryrdlock" (Ptr) Bitcode exclusion::try_read_lock;
    "__pthread_rwlock_trywrlock" (Ptr) Bitcode exclusion::try_write_lock;
    "__pthread_rwlock_unlock" (Ptr) Bitcode exclusion::read_write_unlock;
    "__pthread_rwlock_wrlock" (Ptr) Bitcode exclusion::write_lock;
    "__pthread_timedjoin_np" (Size Ptr Ptr) Bitcode life::timedjoin;
    "__pthread_tryjoin_np" (Size Ptr) Bitcode life::tryjoin;
    "__release_ptc" () Bitcode klee::nothing;
    "__sigsetjmp" (Ptr Int) Always jump::sigsetjmp;
    "__ubsan_handle_add_overflow" (Ptr Size Size) Undefined overflow::add;
    "__ubsan_handle_add_overflow_abort" (Ptr Size Size) Undefined overflow::add;
    "__ubsan_handle_divrem_overflow" (Ptr Size Size) Undefined overflow::divide;
    "__ubsan_handle_divrem_overflow_abort" (Ptr Size Size) Undefined overflow::divide;
    "__ubsan_handle_float_cast_overflow" (Ptr Size) Undefined overflow::convert_float;
    "__ubsan_handle_float_cast_overflow_abort" (Ptr Size) Undefined overflow::convert_float;
    "__ubsan_handle_implicit_conversion" (Ptr Size Size) Undefined overflow::convert;
    "__ubsan_handle_implicit_conversion_abort" (Ptr Size Size) Undefined overflow::convert;
    "__ubsan_handle_mul_overflow" (Ptr Size Size) Undefined overflow::mul;
    "__ubsan_handle_mul_overflow_abort" (Ptr Size Size) Undefined overflow::mul;
    "__ubsan_handle_negate_overflow" (Ptr Size) Undefined overflow::negate;
    "__ubsan_handle_negate_overflow_abort" (Ptr Size) Undefined overflow::negate;
    "__ubsan_handle_shift_out_of_bounds" (Ptr Size Size) Undefined overflow::shift;
    "__ubsan_handle_shift_out_of_bounds_abort" (Ptr Size Size) Undefined overflow::shift;
    "__ubsan_handle_sub_overflow" (Ptr Size Size) Undefined overflow::sub;
    "__ubsan_handle_sub_overflow_abort" (Ptr Size Size) Undefined overflow::sub;
    "__wryneck_bad_return" (Size Size) Undefined wryneck::bad_return;
    "__wryneck_begin" () Undefined start::begin;
    "__wryneck_call" () Undefined start::call;
    "__wryneck_concretise" (Size) Undefined wryneck::concretise_number;
    "__wryneck_deleted" (Ptr Int) Always alloc::deleted;
    "__wryneck_exit" (Int) Undefined start::exit;
    "__wryneck_finish" () Undefined start::finish;
    "__wryneck_frame_address" (Int) Undefined unwind::frame_address;
    "__wryneck_land" (Size) Undefined unwind::land;
    "__wryneck_loaded" () Undefined start::loaded;
    "__wryneck_made_by_new" (Ptr Int) Always alloc::made_by_new;
    "__wryneck_overflow" (Int Int Int Size Size) Undefined overflow::check;
    "__wryneck_pad_below" (Size Ptr) Undefined unwind::pad_below;
    "__wryneck_panic" (Size) Undefined unwind::panic;
    "__wryneck_preamble" () Undefined start::preamble;
    "__wryneck_return_address" (Int) Undefined unwind::return_address;
    "__wryneck_room" (Ptr) Undefined wryneck::room;
    "__wryneck_run_fini_array" () Undefined start::run_fini_array;
    "__wryneck_run_init_array" () Undefined start::run_init_array;
    "__wryneck_signalled" (Size Size) Undefined sys::signals::returned;
    "__wryneck_signals" () Undefined sys::signals::others;
    "__wryneck_start" () Undefined start::start;
    "__wryneck_syscall" (Size Size Size Size Size Size Size) Undefined sys::syscall;
    "__wryneck_terminate" (Ptr) Undefined unwind::terminate;
    "__wryneck_turn" () Undefined waits::before;
    "_exit" (Int) Undefined stdlib::exit;
    "_longjmp" (Ptr Int) Always jump::longjmp;
    "_setjmp" (Ptr) Always jump::setjmp;
    "abort" () Partly assert::abort;
    "aligned_alloc" (Size Size) Always alloc::aligned_alloc;
    "bcmp" (Ptr Ptr Size) Partly string::memcmp;
    "calloc" (Size Size) Always alloc::calloc;
    "clock_gettime" (Int Ptr) Partly sys::clock_gettime;
    "cnd_broadcast" (Ptr) Bitcode waits::condition_broadcast;
    "cnd_signal" (Ptr) Bitcode waits::condition_signal;
    "cnd_timedwait" (Ptr Ptr Ptr) Bitcode waits::cnd_timedwait;
    "cnd_wait" (Ptr Ptr) Bitcode waits::cnd_wait;
    "exit" (Int) Undefined stdlib::exit;
    "fesetround" (Int) Always fenv::fesetround;
    "fetestexcept" (Int) Always fenv::fetestexcept;
    "free" (Ptr) Always alloc::free;
    "klee_abort" () Undefined klee::abort;
    "klee_alias_function" () Undefined stdlib::unsupported;
    "klee_alias_undefined" () Undefined stdlib::unsupported;
    "klee_assume" (Size) Undefined klee::assume;
    "klee_check_memory_access" (Ptr Size) Undefined klee::check_memory_access;
    "klee_choose" (Size) Undefined klee::choose;
    "klee_close_merge" () Undefined klee::nothing;
    "klee_define_fixed_object" () Undefined stdlib::unsupported;
    "klee_get_errno" () Undefined klee::get_errno;
    "klee_get_obj_size" (Ptr) Undefined klee::get_obj_size;
    "klee_get_value_i32" (Size) Undefined klee::get_value;
    "klee_get_value_i64" (Size) Undefined klee::get_value;
    "klee_get_valued" (Size) Undefined klee::get_value;
    "klee_get_valuef" (Size) Undefined klee::get_value;
    "klee_get_valuel" (Size) Undefined klee::get_value;
    "klee_get_valuell" (Size) Undefined klee::get_value;
    "klee_int" (Ptr) Undefined klee::int;
    "klee_is_replay" () Undefined klee::is_replay;
    "klee_is_symbolic" (Size) Undefined klee::is_symbolic;
    "klee_make_symbolic" (Ptr Size Ptr) Undefined klee::make_symbolic;
    "klee_mark_global" () Undefined klee::nothing;
    "klee_open_merge" () Undefined klee::nothing;
    "klee_posix_prefer_cex" () Undefined klee::nothing;
    "klee_prefer_cex" () Undefined klee::nothing;
    "klee_print_expr" (Ptr) Undefined klee::print_expr;
    "klee_print_range" (Ptr) Undefined klee::print_expr;
    "klee_range" (Int Int Ptr) Undefined klee::range;
    "klee_report_error" (Ptr Int Ptr Ptr) Undefined klee::report_error;
    "klee_set_forking" () Undefined klee::nothing;
    "klee_set_rounding_mode" () Undefined klee::nothing;
    "klee_silent_exit" (Int) Undefined klee::silent_exit;
    "klee_stack_trace" () Undefined klee::nothing;
    "klee_warning" (Ptr) Undefined klee::warning;
    "klee_warning_once" (Ptr) Undefined klee::warning;
    "longjmp" (Ptr Int) Always jump::longjmp;
    "malloc" (Size) Always alloc::malloc;
    "malloc_usable_size" (Ptr) Always alloc::malloc_usable_size;
    "memalign" (Size Size) Always alloc::aligned_alloc;
    "memchr" (Ptr Int Size) Partly string::memchr;
    "memcmp" (Ptr Ptr Size) Partly string::memcmp;
    "memcpy" (Ptr Ptr Size) Partly memory::memcpy;
    "memmove" (Ptr Ptr Size) Partly memory::memcpy;
    "mempcpy" (Ptr Ptr Size) Partly memory::mempcpy;
    "memset" (Ptr Int Size) Partly memory::memset;
    "mtx_lock" (Ptr) Bitcode exclusion::mtx_lock;
    "mtx_timedlock" (Ptr Ptr) Bitcode exclusion::mtx_timedlock;
    "mtx_trylock" (Ptr) Bitcode exclusion::mtx_trylock;
    "mtx_unlock" (Ptr) Bitcode exclusion::mutex_unlock;
    "posix_memalign" (Ptr Size Size) Always alloc::posix_memalign;
    "pthread_attr_getstack" (Ptr Ptr Ptr) Bitcode stacks::of_attributes;
    "pthread_barrier_wait" (Ptr) Bitcode waits::barrier_wait;
    "pthread_cancel" (Size) Bitcode life::lacking;
    "pthread_cond_broadcast" (Ptr) Bitcode waits::condition_broadcast;
    "pthread_cond_signal" (Ptr) Bitcode waits::condition_signal;
    "pthread_cond_timedwait" (Ptr Ptr Ptr) Bitcode waits::condition_timedwait;
    "pthread_cond_wait" (Ptr Ptr) Bitcode waits::condition_wait;
    "pthread_create" (Ptr Ptr Ptr Ptr) Always life::create;
    "pthread_detach" (Size) Bitcode life::detach;
    "pthread_exit" (Ptr) Bitcode life::exit;
    "pthread_getattr_np" (Size Ptr) Bitcode stacks::of_thread;
    "pthread_getspecific" (Int) Bitcode life::key_value;
    "pthread_join" (Size Ptr) Bitcode life::join;
    "pthread_key_create" (Ptr Ptr) Bitcode life::key_create;
    "pthread_key_delete" (Int) Bitcode life::key_delete;
    "pthread_kill" (Size Int) Bitcode life::lacking;
    "pthread_mutex_lock" (Ptr) Bitcode exclusion::mutex_lock;
    "pthread_mutex_timedlock" (Ptr Ptr) Bitcode exclusion::mutex_timedlock;
    "pthread_mutex_trylock" (Ptr) Bitcode exclusion::mutex_trylock;
    "pthread_mutex_unlock" (Ptr) Bitcode exclusion::mutex_unlock;
    "pthread_rwlock_rdlock" (Ptr) Bitcode exclusion::read_lock;
    "pthread_rwlock_timedrdlock" (Ptr Ptr) Bitcode exclusion::timed_read_lock;
    "pthread_rwlock_timedwrlock" (Ptr Ptr) Bitcode exclusion::timed_write_lock;
    "pthread_rwlock_tryrdlock" (Ptr) Bitcode exclusion::try_read_lock;
    "pthread_rwlock_trywrlock" (Ptr) Bitcode exclusion::try_write_lock;
    "pthread_rwlock_unlock" (Ptr) Bitcode exclusion::read_write_unlock;
    "pthread_rwlock_wrlock" (Ptr) Bitcode exclusion::write_lock;
    "pthread_setspecific" (Int Ptr) Bitcode life::set_key_value;
    "pthread_spin_lock" (Ptr) Bitcode exclusion::spin_lock;
    "pthread_spin_trylock" (Ptr) Bitcode exclusion::spin_trylock;
    "pthread_spin_unlock" (Ptr) Bitcode exclusion::spin_unlock;
    "pthread_timedjoin_np" (Size Ptr Ptr) Bitcode life::timedjoin;
    "pthread_tryjoin_np" (Size Ptr) Bitcode life::tryjoin;
    "pvalloc" (Size) Always alloc::pvalloc;
    "reach_error" () Undefined verifier::error;
    "realloc" (Ptr Size) Always alloc::realloc;
    "reallocarray" (Ptr Size Size) Always alloc::reallocarray;
    "sem_post" (Ptr) Bitcode waits::semaphore_post;
    "sem_timedwait" (Ptr Ptr) Bitcode waits::semaphore_timedwait;
    "sem_trywait" (Ptr) Bitcode waits::semaphore_trywait;
    "sem_wait" (Ptr) Bitcode waits::semaphore_wait;
    "setjmp" (Ptr) Always jump::setjmp;
    "siglongjmp" (Ptr Int) Always jump::longjmp;
    "sigsetjmp" (Ptr Int) Always jump::sigsetjmp;
    "strchr" (Ptr Int) Partly string::strchr;
    "strcmp" (Ptr Ptr) Partly string::strcmp;
    "strlen" (Ptr) Partly string::strlen;
    "strncmp" (Ptr Ptr Size) Partly string::strncmp;
    "strnlen" (Ptr Size) Partly string::strnlen;
    "thrd_detach" (Size) Bitcode life::detach;
    "tss_get" (Int) Bitcode life::key_value;
    "tss_set" (Int Ptr) Bitcode life::set_key_value;
    "valloc" (Size) Always alloc::valloc;
    "wryneck_assume" (Int) Undefined verifier::assume;
    "wryneck_choose_range" (Size Size Ptr) Undefined wryneck::choose_range;
    "wryneck_concretise" (Size) Undefined wryneck::concretise;
    "wryneck_drop" () Undefined klee::silent_exit;
    "wryneck_is_replay" () Undefined klee::is_replay;
    "wryneck_is_symbolic" (Size) Undefined klee::is_symbolic;
    "wryneck_make_symbolic" (Ptr Size Ptr) Undefined klee::make_symbolic;
    "wryneck_report" (Ptr Ptr) Undefined wryneck::report;
    "wryneck_room" (Ptr) Undefined wryneck::room;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_without_repetition() {
        assert!(MODELS.windows(2).all(|w| w[0].name < w[1].name), "sort the rows of MODELS");
    }
}
