/* SPDX-License-Identifier: MIT */
/*
 * --capture: writes the files that --sysroot reads, so that a bug report can carry its machine. Of the files of /proc only
 * the lines that are read, and in mountinfo not the sources: no host names, no other processes, no other file systems.
 */
#ifndef CQ_CAPTURE_H
#define CQ_CAPTURE_H

/* Writes the tree into DIRECTORY, which is not there yet or is empty: all of it or, having said why on standard error,
 * nothing. Returns an exit status. */
int cq_capture(const char *directory);

#endif
