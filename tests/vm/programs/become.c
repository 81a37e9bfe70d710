/* SPDX-License-Identifier: MIT */
/* "become PROGRAM ARGUMENT...": executes that. For libc, unlike the shell of the machines here. */
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc > 1)
		execv(argv[1], argv + 1);
	return 127;
}
