/* SPDX-License-Identifier: MIT */
/*
 * careless COUNT PROGRAM [ARGUMENT]...: as PID 1 that reaps what it has started and nothing else; executes PROGRAM COUNT
 * times, one after the other, and then says how many zombies it has.
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

int main(int argc, char **argv)
{
	const struct dirent *entry;
	int zombies = 0;
	DIR *proc;

	if (argc < 3)
		return 2;
	for (int i = 0; i < atoi(argv[1]); i++) {
		pid_t child = fork();

		if (child == 0) {
			execvp(argv[2], argv + 2);
			_exit(127);
		}
		waitpid(child, NULL, 0);
		usleep(20000); /* for the watch to end */
	}
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc)))
		zombies += entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_zombie(entry->d_name);
	printf("%d zombies\n", zombies);
	return 0;
}
