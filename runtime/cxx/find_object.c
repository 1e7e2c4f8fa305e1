/* Where the unwinding tables of a static program are: libgcc's unwinder asks glibc so (glibc's `dlfcn.h`), musl says it otherwise. Weak: a program
 * and its native replay may both bring it. */
#include <link.h>
#include <stddef.h>

struct found {
	unsigned long long flags;
	void *start, *end, *link_map, *tables;
};

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct found *found = data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = info->dlpi_phdr + i;
		if (part->p_type == PT_GNU_EH_FRAME) found->tables = (void *)(info->dlpi_addr + part->p_vaddr);
	}
	return found->tables != 0;
}

__attribute__((weak)) int _dl_find_object(void *address, struct found *found)
{
	found->flags = 0;
	found->start = 0;
	found->end = (void *)-1L;
	found->link_map = 0;
	found->tables = 0;
	return dl_iterate_phdr(look, found) ? 0 : -1;
}
