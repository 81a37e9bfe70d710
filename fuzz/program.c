/* SPDX-License-Identifier: MIT */
/* An executable file of any bytes. */
#include "fuzz.h"

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cq_program program;
	char interpreter[64];
	int fd = make_file(data, size);

	if (cq_program_inspect(fd, &program) == 0)
		must(!cq_program_needs_trap(&program) || program.is_go || !program.has_interpreter ||
		     !cq_program_is_native(&program));
	if (cq_program_interpreter(fd, interpreter, sizeof interpreter) == 0)
		must(*interpreter && strlen(interpreter) < sizeof interpreter && !strpbrk(interpreter, " \t\n"));
	cq_program_has_go_note((const char *)data, size);
	close(fd);
	return 0;
}
