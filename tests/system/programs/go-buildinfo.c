/* SPDX-License-Identifier: MIT */
/* Has the section and the note of a program that Go up to 1.17 built (debug/buildinfo on the format with pointers): the
 * header, the size of a pointer, the byte order, and pointers to two strings of Go. */
#include <stdint.h>

struct go_string {
	const char *text;
	uintptr_t length;
};

#define VERSION "go1.15.15"
#define MODULE                                                   \
	"0w\xaf\x0c\x92t\x08\x02\x41\xe1\xc1\x07\xe6\xd6\x18\xe6" \
	"path\tmain\n"                                           \
	"mod\texample.org/main\t(devel)\t\n"                     \
	"dep\tgo.uber.org/automaxprocs\tv1.5.3\th1:sum=\n"       \
	"\xf9\x32\x43\x31\x86\x18\x20\x72\x00\x82\x42\x10\x41\x16\xd8\xf2"

static const struct go_string version = {VERSION, sizeof VERSION - 1};
static const struct go_string module = {MODULE, sizeof MODULE - 1};

__attribute__((section(".go.buildinfo"), used, aligned(16))) static struct {
	char magic[14];
	uint8_t pointer_size;
	uint8_t is_big_endian;
	const struct go_string *version, *module;
} build_info = {"\xff Go buildinf:", sizeof(void *), 0, &version, &module};

int main(void)
{
	return build_info.pointer_size != sizeof(void *);
}
