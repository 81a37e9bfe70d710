// SPDX-License-Identifier: MIT

// Makes counts a program with libc: import "C" does.
package main

// static int answer(void) { return 42; }
import "C"

import "os"

func init() {
	if C.answer() != 42 {
		os.Exit(3)
	}
}
