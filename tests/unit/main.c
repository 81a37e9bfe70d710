/* SPDX-License-Identifier: MIT */
/*
 * Runs every suite and writes TAP. CK_RUN_SUITE=NAME runs one of them; CK_FORK=no runs all in this process, as valgrind
 * and debuggers want it.
 */
#include "suites.h"
#include "support.h"

#include <stdlib.h>

int main(void)
{
	static Suite *(*const suites[])(void) = {
		cq_test_text,
		cq_test_smallfile,
		cq_test_mountinfo,
		cq_test_cgroup,
		cq_test_limit,
		cq_test_count,
		cq_test_cpumask,
		cq_test_program,
		cq_test_policy,
		cq_test_procfile,
		cq_test_view,
		cq_test_cpustat,
		cq_test_advice,
	};
	SRunner *runner;
	int failed;

	begin_trees();
	runner = srunner_create(NULL);
	for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
		srunner_add_suite(runner, suites[i]());
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	remove_trees();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
