/* SPDX-License-Identifier: MIT */
#include "policy.h"

#include "program.h"
#include "smallfile.h"
#include "text.h"

#include <errno.h>
#include <string.h>

/* Some editors begin a file with it (UTF-8). */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

#define KEY_FIELD(name) offsetof(struct cq_policy, name)

const struct cq_policy_key cq_policy_keys[CQ_POLICY_KEYS] = {
	{"round", "ceil,floor,nearest", 0, 0, KEY_FIELD(round)},
	{"min", "", 1, CQ_POLICY_MAX_COUNT, KEY_FIELD(min)},
	{"max", "", 1, CQ_POLICY_MAX_COUNT, KEY_FIELD(max)},
	{"count", "", 1, CQ_POLICY_MAX_COUNT, KEY_FIELD(count)},
	{"mask", "spread,first", 0, 0, KEY_FIELD(mask)},
	{"conf", "real,shown", 0, 0, KEY_FIELD(conf)},
	{"affinity", "shown,real", 0, 0, KEY_FIELD(affinity)},
	{"files", "shown,real", 0, 0, KEY_FIELD(files)},
	{"runtime_quota", "keep,hide", 0, 0, KEY_FIELD(runtime_quota)},
	{"malloc_arenas", "shown,real", 0, 0, KEY_FIELD(malloc_arenas)},
	{"trap", "auto,always,never", 0, 0, KEY_FIELD(trap)},
	{"refresh", "", 0, CQ_POLICY_MAX_REFRESH, KEY_FIELD(refresh)},
};

/* One text in the making: where it stands, for messages. */
struct place {
	const struct cq_policy_source *source;
	const char *name;
	unsigned line; /* 0: a text without lines */
	bool is_ignored; /* in a section about other programs */
};

/* The name of the program that the policy is for, once a section has asked for it. */
struct program_name {
	bool is_known; /* as far as it can be known */
	char name[CQ_PROGRAM_NAME_MAX];
};

static bool is_go(const struct cq_policy_source *source)
{
	if (source->is_go)
		return source->is_go();
	return source->executable && cq_program_is_go(source->root, source->executable);
}

static bool has_name(const struct cq_policy_source *source, const char *pattern, struct program_name *program)
{
	if (!program->is_known) {
		program->is_known = true;
		if (!source->executable ||
		    cq_program_name(source->root, source->executable, program->name, sizeof program->name) < 0)
			program->name[0] = '\0';
	}
	return program->name[0] && cq_text_matches(pattern, program->name);
}

static void begin_message(struct cq_message *message, const struct place *place)
{
	message->length = 0;
	cq_message_add_string(message, place->name);
	cq_message_add_string(message, ":");
	if (place->line) {
		cq_message_add_number(message, place->line);
		cq_message_add_string(message, ":");
	}
	cq_message_add_string(message, " ");
}

/* What was written, in one piece: a stray control character must not reach a terminal. */
static void add_quoted(struct cq_message *message, const char *text, size_t length)
{
	size_t shown = length < 60 ? length : 60;

	for (size_t i = 0; i < shown; i++)
		cq_message_add(message, (unsigned char)text[i] < ' ' || text[i] == 127 ? "?" : text + i, 1);
	if (shown < length)
		cq_message_add_string(message, "...");
}

static void tell(const struct place *place, const char *what)
{
	struct cq_message message;

	begin_message(&message, place);
	cq_message_add_string(&message, what);
	place->source->problem(place->source->argument, message.text);
}

/* "round = up: expected ceil, floor or nearest"; WORDS separated by commas. */
static void add_alternatives(struct cq_message *message, const char *words)
{
	for (;;) {
		size_t length = strcspn(words, ",");

		cq_message_add(message, words, length);
		if (!words[length])
			return;
		words += length + 1;
		cq_message_add_string(message, strchr(words, ',') ? ", " : " or ");
	}
}

static void begin_value_message(struct cq_message *message, const struct place *place, const char *name,
				const char *value, size_t length)
{
	begin_message(message, place);
	cq_message_add_string(message, name);
	cq_message_add_string(message, " = ");
	add_quoted(message, value, length);
	cq_message_add_string(message, ": expected ");
}

static void tell_bad_value(const struct place *place, const struct cq_policy_key *key, const char *value, size_t length)
{
	struct cq_message message;

	begin_value_message(&message, place, key->name, value, length);
	if (*key->words) {
		add_alternatives(&message, key->words);
	} else {
		cq_message_add_string(&message, "a whole number from ");
		cq_message_add_number(&message, key->least);
		cq_message_add_string(&message, " to ");
		cq_message_add_number(&message, key->most);
	}
	place->source->problem(place->source->argument, message.text);
}

static void tell_unknown_key(const struct place *place, const char *name, size_t length)
{
	struct cq_message message;

	begin_message(&message, place);
	cq_message_add_string(&message, "unknown key '");
	add_quoted(&message, name, length);
	cq_message_add_string(&message, "': expected ");
	for (size_t i = 0; i < CQ_POLICY_KEYS; i++) {
		cq_message_add_string(&message, cq_policy_keys[i].name);
		cq_message_add_string(&message, ", ");
	}
	cq_message_add_string(&message, "or unlimited");
	place->source->problem(place->source->argument, message.text);
}

/* The place of the word in a list separated by commas, or -1. */
static int find_word(const char *words, const char *value, size_t length)
{
	for (int i = 0;; i++) {
		size_t word = strcspn(words, ",");

		if (word == length && memcmp(words, value, length) == 0)
			return i;
		if (!words[word])
			return -1;
		words += word + 1;
	}
}

/* Says where a value is from that has just been taken. */
static void tell_assigned(const struct place *place, const char *key, const char *value, size_t length)
{
	struct cq_policy_assignment assignment = {key, value, length, place->name, place->line};

	if (place->source->assigned && !place->is_ignored)
		place->source->assigned(place->source->argument, &assignment);
}

/* A number of CPUs as Kubernetes writes it: "2", "1.5", "500m". The fraction is kept exactly. */
static bool parse_cpus(const char *text, struct cq_limit *ret)
{
	struct cq_limit cpus = {0, 1};

	if (!cq_text_number(&text, CQ_POLICY_MAX_COUNT, &cpus.quota))
		return false;
	if (*text == 'm') {
		text++;
		cpus.period = 1000;
	} else if (*text == '.') {
		do {
			text++;
			if (*text < '0' || *text > '9' || cpus.period > 1000000000)
				return false;
			cpus.quota = cpus.quota * 10 + (uint64_t)(*text - '0');
			cpus.period *= 10;
		} while (text[1]);
		text++;
	}
	if (*text)
		return false;
	/* The Downward API gives 0 for a container that requests nothing. */
	*ret = cpus.quota ? cpus : (struct cq_limit){0, 0};
	return true;
}

/* Both setters return false, having told of it, where the value is none that the key can have. */
static bool set_unlimited(struct cq_policy *policy, const struct place *place, const char *value, size_t length)
{
	static const char prefix[] = "env:";
	size_t prefix_length = sizeof prefix - 1;
	struct cq_message message;
	char variable[128];
	const char *cpus;

	if (cq_text_equals(value, length, "all")) {
		policy->unlimited = (struct cq_limit){0, 0};
		return true;
	}
	if (length <= prefix_length || memcmp(value, prefix, prefix_length) != 0 ||
	    length - prefix_length >= sizeof variable || memchr(value, '=', length) || memchr(value, ' ', length)) {
		begin_value_message(&message, place, "unlimited", value, length);
		cq_message_add_string(&message, "all or env:NAME");
		place->source->problem(place->source->argument, message.text);
		return false;
	}
	memmove(variable, value + prefix_length, length - prefix_length);
	variable[length - prefix_length] = '\0';
	cpus = place->source->environment(variable);
	if (!cpus || !*cpus) {
		policy->unlimited = (struct cq_limit){0, 0};
	} else if (!parse_cpus(cpus, &policy->unlimited)) {
		begin_value_message(&message, place, "unlimited", value, length);
		cq_message_add_string(&message, "a number of CPUs in that variable, as 2, 1.5 or 500m, not '");
		add_quoted(&message, cpus, strlen(cpus));
		cq_message_add_string(&message, "'");
		place->source->problem(place->source->argument, message.text);
		return false;
	}
	return true;
}

static bool set_key(struct cq_policy *policy, const struct place *place, const struct cq_policy_key *key,
		    const char *value, size_t length)
{
	unsigned *field = (unsigned *)((char *)policy + key->field);
	const char *end = value;
	uint64_t number;
	int word = *key->words ? find_word(key->words, value, length) : -1;

	if (word >= 0) {
		*field = (unsigned)word;
	} else if (!*key->words && cq_text_number(&end, key->most, &number) && end == value + length &&
		   number >= key->least) {
		*field = (unsigned)number;
	} else {
		tell_bad_value(place, key, value, length);
		return false;
	}
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Takes the blanks off both ends of what stands between *TEXT and END. Returns its length. */
static size_t trim(const char **text, const char *end)
{
	while (*text < end && is_blank(**text))
		++*text;
	while (end > *text && is_blank(end[-1]))
		end--;
	return (size_t)(end - *text);
}

/* "KEY = VALUE" in LENGTH bytes of TEXT. */
static void read_assignment(struct cq_policy *policy, const struct place *place, const char *text, size_t length)
{
	const char *equals = memchr(text, '=', length);
	const char *name = text, *value;
	size_t name_length, value_length;

	if (!equals) {
		struct cq_message message;

		begin_message(&message, place);
		cq_message_add_string(&message, "'");
		add_quoted(&message, text, length);
		cq_message_add_string(&message, "': expected KEY = VALUE");
		place->source->problem(place->source->argument, message.text);
		return;
	}
	value = equals + 1;
	name_length = trim(&name, equals);
	value_length = trim(&value, text + length);
	if (cq_text_equals(name, name_length, "unlimited")) {
		if (set_unlimited(policy, place, value, value_length))
			tell_assigned(place, "unlimited", value, value_length);
		return;
	}
	for (size_t i = 0; i < CQ_POLICY_KEYS; i++) {
		if (cq_text_equals(name, name_length, cq_policy_keys[i].name)) {
			if (set_key(policy, place, &cq_policy_keys[i], value, value_length))
				tell_assigned(place, cq_policy_keys[i].name, value, value_length);
			return;
		}
	}
	tell_unknown_key(place, name, name_length);
}

/* The length of a line without its comment: a `#` at the start or behind a blank. */
static size_t without_comment(const char *line, size_t length)
{
	const char *hash = line;

	while ((hash = memchr(hash, '#', (size_t)(line + length - hash)))) {
		if (hash == line || is_blank(hash[-1]))
			return (size_t)(hash - line);
		hash++;
	}
	return length;
}

/* "[go]" or "[program PATTERN]", LENGTH bytes at TEXT, which are changed. Returns whether it is about the program. */
static bool read_section(const struct place *place, struct program_name *program, char *text, size_t length)
{
	static const char word[] = "program";
	const char *inside = text + 1, *pattern;
	size_t inside_length, pattern_length;
	bool is_program;

	if (text[length - 1] != ']') {
		tell(place, memchr(text, ']', length) ? "text behind the ']' of a section: expected nothing but a comment"
						      : "a section without its ']': expected [go] or [program PATTERN]");
		return false;
	}
	inside_length = trim(&inside, text + length - 1);
	if (cq_text_equals(inside, inside_length, "go"))
		return is_go(place->source);
	is_program = inside_length >= sizeof word - 1 && memcmp(inside, word, sizeof word - 1) == 0;
	pattern = inside + sizeof word - 1;
	if (!is_program || (inside_length > sizeof word - 1 && !is_blank(*pattern))) {
		tell(place, "an unknown section: expected [go] or [program PATTERN]");
		return false;
	}
	pattern_length = trim(&pattern, inside + inside_length);
	if (!pattern_length || memchr(pattern, '/', pattern_length)) {
		tell(place, pattern_length ? "a pattern with a '/' matches no program: expected a name without its directory"
					   : "a section without its pattern: expected [program PATTERN]");
		return false;
	}
	text[pattern - text + (ptrdiff_t)pattern_length] = '\0';
	return has_name(place->source, pattern, program);
}

static const char *describe_error(int error)
{
	switch (error) {
	case -ENOENT:
		return "no such file";
	case -EACCES:
	case -EPERM:
		return "permission denied";
	case -EISDIR:
		return "is a directory; expected a file";
	case -EFBIG:
		return "is larger than 64 KiB, the most that a policy may have";
	case -ENOTDIR:
		return "no such file: a part of its path is not a directory";
	case -ELOOP:
		return "too many symbolic links";
	case -EMFILE:
	case -ENFILE:
		return "no descriptor is free to read it";
	default:
		return "cannot be read";
	}
}

static void read_lines(struct cq_policy *policy, struct place *place, struct cq_lines *lines)
{
	struct cq_policy ignored; /* takes what stands in sections about other programs, so that it is checked too */
	struct program_name program;
	bool applies = true;
	char *line;

	program.is_known = false;
	cq_policy_init(&ignored);
	while ((line = cq_lines_next(lines))) {
		const char *text = line, *unreadable = NULL;
		size_t length;

		place->line = lines->number;
		if (lines->number == 1 && strncmp(line, BYTE_ORDER_MARK, sizeof BYTE_ORDER_MARK - 1) == 0) {
			text = line += sizeof BYTE_ORDER_MARK - 1;
			lines->length -= sizeof BYTE_ORDER_MARK - 1;
		}
		if (*line == '#' && !lines->is_cut)
			continue;
		length = without_comment(line, lines->length);
		if (lines->is_cut)
			unreadable = "the line is too long: expected less than 1024 bytes";
		else if (memchr(line, '\0', length))
			unreadable = "a NUL byte: expected a text";
		if (unreadable) {
			tell(place, unreadable);
			/* What follows the header of a section must not apply to all. */
			if (trim(&text, line + length) && *text == '[') {
				policy->has_sections = true;
				applies = false;
			}
			continue;
		}
		length = trim(&text, line + length);
		if (!length)
			continue;
		if (*text == '[') {
			policy->has_sections = true;
			applies = read_section(place, &program, line + (text - line), length);
			continue;
		}
		place->is_ignored = !applies;
		read_assignment(applies ? policy : &ignored, place, text, length);
	}
}

int cq_policy_read_open(struct cq_policy *policy, const struct cq_policy_source *source, int fd, const char *name)
{
	struct place place = {source, name, 0, false};
	struct cq_lines lines;

	cq_lines_take(&lines, fd, CQ_POLICY_FILE_BUDGET);
	lines.is_regular = true; /* which cpuquota-exec makes sure of */
	read_lines(policy, &place, &lines);
	cq_lines_close(&lines);
	place.line = lines.error && lines.number ? lines.number + 1 : 0;
	if (lines.error)
		tell(&place, describe_error(lines.error));
	return lines.error;
}

/* The default file need not be there. */
static int read_file(struct cq_policy *policy, const struct cq_policy_source *source, const char *root,
		     const char *file, bool is_optional)
{
	struct place place = {source, file, 0, false};
	int fd = cq_open_below(root, file);

	if (fd >= 0)
		return cq_policy_read_open(policy, source, fd, file);
	if (is_optional && (fd == -ENOENT || fd == -ENOTDIR))
		return 0;
	tell(&place, describe_error(fd));
	return fd;
}

int cq_policy_read_file(struct cq_policy *policy, const struct cq_policy_source *source, const char *root,
			const char *file)
{
	return read_file(policy, source, root, file, false);
}

void cq_policy_read_inline(struct cq_policy *policy, const struct cq_policy_source *source, const char *name,
			   const char *text)
{
	struct place place = {source, name, 0, false};

	for (;;) {
		size_t length = strcspn(text, ",");
		const char *item = text;
		size_t item_length = trim(&item, text + length);

		if (cq_text_equals(item, item_length, "off"))
			policy->is_off = true;
		else if (item_length)
			read_assignment(policy, &place, item, item_length);
		if (!text[length])
			return;
		text += length + 1;
	}
}

void cq_policy_init(struct cq_policy *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->min = 1;
	ret->refresh = 1;
}

void cq_policy_load(struct cq_policy *ret, const struct cq_policy_source *source)
{
	const char *overrides = source->environment("CPUQUOTA");
	const char *file = source->environment("CPUQUOTA_POLICY");

	cq_policy_init(ret);
	if (overrides && cq_text_has_word(overrides, "off")) {
		ret->is_off = true;
		return;
	}
	if (file && *file)
		read_file(ret, source, "/", file, false);
	else
		read_file(ret, source, source->root, source->default_file, true);
	if (overrides)
		cq_policy_read_inline(ret, source, "CPUQUOTA", overrides);
}
