# SPDX-License-Identifier: MIT
# For table.sh: makes the table of what was collected, and what there is to compare.
#
# Reads what is expected (limit, policy, count), the programs (name, rule, "keep" if hide does not reach it), the
# questions (way and policy) and the answers (name, way, policy, NUMBER/NUMBER..., from a file whose name ends in
# -LIMIT); `what` says which. Writes the table, and to the file `rows` a line for each row, way and kind: description,
# answers, what they should be.

# together(NUMBERS): the one number that all of them are.
function together(numbers, parts, count, i)
{
	count = split(numbers, parts, "/")
	for (i = 2; i <= count; i++) {
		if (parts[i] != parts[1])
			return numbers
	}
	return numbers == "" ? "-" : parts[1]
}

function are_numbers(text)
{
	return text ~ /^[1-9][0-9]*(\/[1-9][0-9]*)*$/
}

# bounded(NUMBERS, COUNT, KIND): what a program that on its own gives NUMBERS should give.
function bounded(numbers, number, kind, parts, count, i, result)
{
	count = split(numbers, parts, "/")
	for (i = 1; i <= count; i++) {
		if (kind == "hide" || parts[i] + 0 > number + 0)
			parts[i] = number
		result = result (i > 1 ? "/" : "") parts[i]
	}
	return result
}

# ruled(NUMBERS, RULE, LIMIT): what a program that answers by the rule should give on its own. Go gives two numbers, of
# which the first does not follow its rule.
function ruled(numbers, rule, limit, number)
{
	if (!are_numbers(numbers))
		return "numbers"
	if (rule == "any")
		return numbers
	if (rule == "machine")
		return bounded(numbers, real, "hide")
	number = expected[limit, "rule=" (rule == "ceil2" ? "ceil:2" : rule ":1")]
	if (rule == "ceil2")
		return real "/" number
	return bounded(numbers, number, "hide")
}

function question(kind, policy)
{
	return "runtime_quota=" kind "," policy
}

function row(description, said, wanted)
{
	printf "%s\t%s\t%s\n", description, said, wanted > rows
}

# The column of a policy is headed by its first letter, or its number.
function letter(policy)
{
	sub(/.*=/, "", policy)
	return substr(policy, 1, 1)
}

# A cell of the table has the answer, both ways where they differ.
function cell(name, kind, policy, limit, asked, preloaded, executed)
{
	asked = question(kind, policy)
	preloaded = together(answers[name, "ENV", asked, limit])
	executed = together(answers[name, "cpuquota-exec", asked, limit])
	return preloaded == executed || !is_asked["cpuquota-exec", asked] ? preloaded : preloaded "|" executed
}

function padded(text, width)
{
	return sprintf("%-" width "s", text)
}

function longer(width, text)
{
	return length(text) > width ? length(text) : width
}

# The widest cell of each column; of the answers alone, too.
function measure(i, j, k, width)
{
	for (i = 1; i <= limit_count; i++) {
		alone_width[i] = length("alone")
		for (k = 1; k <= program_count; k++) {
			width = longer(alone_width[i], together(answers[name_of[k], "alone", "-", limit_of[i]]))
			alone_width[i] = width
		}
		for (kind in kinds) {
			for (j = 1; j <= policy_count; j++) {
				width = 1
				for (k = 1; k <= program_count; k++)
					width = longer(width, cell(name_of[k], kind, policy_of[j], limit_of[i]))
				cell_width[kind, i, j] = width
			}
		}
	}
}

# cells(KIND, I, NAME): what the program says under a limit; without a name, the headings.
function cells(kind, i, name, j, text, line)
{
	for (j = 1; j <= policy_count; j++) {
		text = name == "" ? letter(policy_of[j]) : cell(name, kind, policy_of[j], limit_of[i])
		line = line padded(text, cell_width[kind, i, j]) (j < policy_count ? " " : "")
	}
	return padded(line, length("hide"))
}

function group(i, alone, hide, keep)
{
	return " | " padded(alone, alone_width[i]) " " hide "  " keep
}

function print_line(first, rest)
{
	sub(/ +$/, "", rest)
	print "# " padded(first, 20) rest
}

function headings(i, limits_line, kinds_line, policies_line, hide, keep)
{
	for (i = 1; i <= limit_count; i++) {
		hide = cells("hide", i)
		keep = cells("keep", i)
		policies_line = policies_line group(i, "", hide, keep)
		kinds_line = kinds_line group(i, "alone", padded("hide", length(hide)), padded("keep", length(keep)))
		limits_line = limits_line padded(" | " limit_of[i] / 100000, length(group(i, "", hide, keep)))
	}
	print "# " title
	print_line("limit, in CPUs:", limits_line)
	print_line("runtime_quota:", kinds_line)
	print_line("policy:", policies_line)
	print "# (c, f, n: round=ceil, floor, nearest; a digit: min; alone: without cpuquota; A/B: a program of two minds)"
}

function table_line(name, i, line)
{
	for (i = 1; i <= limit_count; i++) {
		line = line group(i, together(answers[name, "alone", "-", limit_of[i]]), cells("hide", i, name), \
			cells("keep", i, name))
	}
	print_line(name, line (is_out_of_reach[name] ? "   hide does not reach it" : ""))
}

function compare_alone(name, i, said, wanted)
{
	for (i = 1; i <= limit_count; i++) {
		said = said " " answers[name, "alone", "-", limit_of[i]]
		wanted = wanted " " ruled(answers[name, "alone", "-", limit_of[i]], rule[name], limit_of[i])
	}
	row("alone: " name ", by its own rule (" rule[name] ")", said, wanted)
}

function compare(name, way, kind, i, j, said, wanted, own, meant, asked)
{
	meant = kind == "hide" && is_out_of_reach[name] ? "keep" : kind
	for (i = 1; i <= limit_count; i++) {
		own = answers[name, "alone", "-", limit_of[i]]
		for (j = 1; j <= policy_count; j++) {
			asked = question(kind, policy_of[j])
			if (!is_asked[way, asked])
				continue
			said = said " " answers[name, way, asked, limit_of[i]]
			wanted = wanted " " (are_numbers(own) ? bounded(own, expected[limit_of[i], policy_of[j]], meant) : "numbers")
		}
		said = said ","
		wanted = wanted ","
	}
	row(way ": " name ", runtime_quota=" kind (meant == kind ? "" : ", which does not reach it"), said, wanted)
}

BEGIN {
	limit_count = split(limits, limit_of, " ")
	policy_count = split(policies, policy_of, " ")
	kinds["hide"]
	kinds["keep"]
}
what == "expected" {
	expected[$1, $2] = $3
	next
}
what == "rules" {
	name_of[++program_count] = $1
	rule[$1] = $2
	is_out_of_reach[$1] = $3 == "keep"
	next
}
what == "questions" {
	split($0, parts, " ")
	is_asked[parts[1], parts[2]] = 1
	next
}
NF == 4 {
	limit = FILENAME
	sub(/.*-/, "", limit)
	answers[$1, $2, $3, limit] = $4
	next
}
{
	print "# " FILENAME ": " $0
}
END {
	measure()
	headings()
	for (i = 1; i <= program_count; i++)
		table_line(name_of[i])
	for (i = 1; i <= program_count; i++) {
		compare_alone(name_of[i])
		for (j = split("ENV cpuquota-exec", ways, " "); j >= 1; j--) {
			compare(name_of[i], ways[j], "hide")
			compare(name_of[i], ways[j], "keep")
		}
	}
}
