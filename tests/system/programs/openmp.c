/* SPDX-License-Identifier: MIT */
/* How many threads OpenMP takes, and how many CPUs it sees. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
	printf("%d %d\n", omp_get_max_threads(), omp_get_num_procs());
	return 0;
}
