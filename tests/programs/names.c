/* SPDX-License-Identifier: MIT */
/* What sysconf says for all names but the two that count CPUs: to be compared with and without the library. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

long __sysconf(int name);

#define ALL_NAMES 512 /* both libcs have fewer */
#define LARGEST_INT 0x7fffffff

static void tell(int name)
{
	long value;

	/* The last is of free pages, another number each time. */
	if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF || name == _SC_AVPHYS_PAGES)
		return;
	errno = 0;
	value = sysconf(name);
	printf("%d %ld errno %d", name, value, errno);
	errno = EXDEV;
	value = __sysconf(name);
	printf(" %ld errno %d\n", value, errno);
}

int main(void)
{
	for (int name = -1; name < ALL_NAMES; name++)
		tell(name);
	tell(LARGEST_INT);
	return 0;
}
