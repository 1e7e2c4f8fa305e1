/* Constructors and destructors: the engine knows them from the program's own tables and runs them when asked. */
#include "libc.h"

hidden void __libc_start_init(void);
hidden void __libc_exit_fini(void);
void __wryneck_run_init_array(void);
void __wryneck_run_fini_array(void);

void __libc_start_init(void) { __wryneck_run_init_array(); }
void __libc_exit_fini(void) { __wryneck_run_fini_array(); }
