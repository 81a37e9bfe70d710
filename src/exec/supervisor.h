/* SPDX-License-Identifier: MIT */
/*
 * Answers the notifications of a filter: gets the real mask from the kernel, keeps the CPUs that are shown to the program
 * that asks, and writes it into that program's memory. Whatever is not the plain case, and whatever fails, is left to the
 * kernel, so that its errors are its own.
 */
#ifndef CQ_SUPERVISOR_H
#define CQ_SUPERVISOR_H

#include "view.h"

#include <linux/seccomp.h>

struct cq_supervisor {
	int listener;
	struct cq_view *view; /* its policy is that of a program without sections of its own */
	/* The notification in hand; in memory that another process can see, which answers it should this one die. An id of
	 * 0: none. */
	struct seccomp_notif *request;
};

/* Waits for a notification. Returns false when no process is left that could ask (POLLHUP, Linux 5.9). */
bool cq_supervisor_wait(const struct cq_supervisor *supervisor);

/* Takes one notification, waiting for it if it has gone since poll(2) said that it is there, and answers it. */
void cq_supervisor_serve(struct cq_supervisor *supervisor);

/* Leaves the request that is in hand, if any, to the kernel. */
void cq_supervisor_abandon(struct cq_supervisor *supervisor);

#endif
