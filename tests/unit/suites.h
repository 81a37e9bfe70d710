/* SPDX-License-Identifier: MIT */
/* The unit tests: a suite for each file of the core, and for those of cpuquota-exec that only reckon. */
#ifndef CQ_TEST_SUITES_H
#define CQ_TEST_SUITES_H

#include <check.h>

Suite *cq_test_advice(void);
Suite *cq_test_cgroup(void);
Suite *cq_test_count(void);
Suite *cq_test_cpumask(void);
Suite *cq_test_cpustat(void);
Suite *cq_test_limit(void);
Suite *cq_test_mountinfo(void);
Suite *cq_test_policy(void);
Suite *cq_test_procfile(void);
Suite *cq_test_program(void);
Suite *cq_test_smallfile(void);
Suite *cq_test_text(void);
Suite *cq_test_view(void);

#endif
