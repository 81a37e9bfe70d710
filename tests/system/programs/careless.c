/* SPDX-License-Identifier: MIT */
/*
 * careless COUNT PAUSE MORE PROGRAM [ARGUMENT]...: as PID 1 that reaps what it has started and nothing else; executes
 * PROGRAM COUNT times, one after the other, waits PAUSE seconds, executes it MORE times, and then says how many zombies it
 * has.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_zombie(const char *process)
{
	char path[300], line[100] = "", *state;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%s/stat", process);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(line, sizeof line, file))
		line[0] = '\0';
	fclose(file);
	state = strchr(line, ')');
	return state && state[1] && state[2] == 'Z';
}

static void execute(int count, char **program)
{
	for (int i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0) {
			execvp(program[0], program);
			_exit(127);
		}
		waitpid(child, NULL, 0);
		usleep(20000); /* for the watch to end */
	}
}

int main(int argc, char **argv)
{
	const struct dirent *entry;
	int zombies = 0;
	DIR *proc;

	if (argc < 5)
		return 2;
	execute(atoi(argv[1]), argv + 4);
	sleep((unsigned)atoi(argv[2]));
	execute(atoi(argv[3]), argv + 4);
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc)))
		zombies += entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_zombie(entry->d_name);
	printf("%d zombies\n", zombies);
	return 0;
}
