/* SPDX-License-Identifier: MIT */
/* The policy as the preload library will read it, and the clock that it is kept by. */
#ifndef CQ_SETTINGS_H
#define CQ_SETTINGS_H

#include "policy.h"

/* Loads the policy of EXECUTABLE (NULL: of no program in particular), with the default file below ROOT. COMPLAIN is told
 * of every error, if it is not NULL. Returns how many there were. */
unsigned cq_settings_load(struct cq_policy *ret, const char *root, const char *executable,
			  void (*complain)(const char *message));

/* Who is told of what stands in a policy; each may be NULL. */
struct cq_settings_listener {
	void (*problem)(void *argument, const char *message); /* an error */
	void (*assigned)(void *argument, const struct cq_policy_assignment *assignment);
	void *argument;
};

/* As cq_settings_load(), with a listener. */
unsigned cq_settings_read(struct cq_policy *ret, const char *root, const char *executable,
			  const struct cq_settings_listener *listener);

/* A policy is read again by every program that is started, so that a pipe will not do: COMPLAIN is told of one that
 * CPUQUOTA_POLICY names. Returns how many there are. */
unsigned cq_settings_check_file(void (*complain)(const char *message));

/* Reads FILE, which may be a pipe, or without one the policy that would be read; and CPUQUOTA. Unlike cq_settings_load()
 * it does so with CPUQUOTA=off as well. COMPLAIN is told of every error. Returns how many there were. */
unsigned cq_settings_check(const char *file, void (*complain)(const char *message));

/* Puts ASSIGNMENT, "KEY=VALUE", behind what CPUQUOTA has already, so that it holds for the program. Returns 0 or -1, as
 * setenv(3). */
int cq_settings_override(const char *assignment);

/* Milliseconds that never go back. */
uint64_t cq_settings_now(void);

#endif
