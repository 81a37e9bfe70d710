# SPDX-License-Identifier: MIT
# For table.t: makes the table of what it has collected, and what there is to compare.
#
# Reads what is expected (limit, policy, count), the programs (name, rule, "keep" if hide does not reach it) and the
# answers (name, way, policy, NUMBER/NUMBER..., from a file named answers-ROOT-LIMIT). Writes the table, and to the file
# `rows` a line for each row, way and kind: description, answers, what they should be.

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

function answer(name, way, kind, policy, limit)
{
	return answers[name, way, "runtime_quota=" kind "," policy, limit]
}

function row(description, said, wanted)
{
	printf "%s\t%s\t%s\n", description, said, wanted > rows
}

# A cell of the table has the answer, both ways where they differ.
function cell(name, kind, policy, limit, preloaded, executed)
{
	preloaded = together(answer(name, "ENV", kind, policy, limit))
	executed = together(answer(name, "cpuquota-exec", kind, policy, limit))
	return preloaded == executed ? preloaded : preloaded "|" executed
}

function headings(i, j, line)
{
	line = sprintf("# %-18s", "limit, in CPUs:")
	for (i = 1; i <= limit_count; i++)
		line = line sprintf(i < limit_count ? " | %-23s" : " | %s", limit_of[i] / 100000)
	print line
	line = sprintf("# %-18s", "runtime_quota:")
	for (i = 1; i <= limit_count; i++)
		line = line sprintf(" | %5s %-8s %s", "alone", "hide", i < limit_count ? "keep    " : "keep")
	print line
	line = sprintf("# %-18s", "policy:")
	for (i = 1; i <= limit_count; i++) {
		line = line " |      "
		for (j = 1; j <= 2 * policy_count; j++)
			line = line " " substr("cfn2", (j - 1) % policy_count + 1, 1) (j == policy_count ? " " : "")
	}
	print line
	print "# (c, f, n: round=ceil, floor, nearest; 2: min=2; alone: without cpuquota; A/B: a program of two minds)"
}

function table_line(name, i, j, line)
{
	line = sprintf("# %-18s", name)
	for (i = 1; i <= limit_count; i++) {
		line = line sprintf(" | %-5s", together(answers[name, "alone", "-", limit_of[i]]))
		for (j = 1; j <= policy_count; j++)
			line = line " " cell(name, "hide", policy_of[j], limit_of[i])
		line = line " "
		for (j = 1; j <= policy_count; j++)
			line = line " " cell(name, "keep", policy_of[j], limit_of[i])
	}
	print line (is_out_of_reach[name] ? "  hide does not reach it" : "")
}

function compare_alone(name, i, said, wanted)
{
	for (i = 1; i <= limit_count; i++) {
		said = said " " answers[name, "alone", "-", limit_of[i]]
		wanted = wanted " " ruled(answers[name, "alone", "-", limit_of[i]], rule[name], limit_of[i])
	}
	row("alone: " name ", by its own rule (" rule[name] ")", said, wanted)
}

function compare(name, way, kind, i, j, said, wanted, own, meant)
{
	meant = kind == "hide" && is_out_of_reach[name] ? "keep" : kind
	for (i = 1; i <= limit_count; i++) {
		own = answers[name, "alone", "-", limit_of[i]]
		for (j = 1; j <= policy_count; j++) {
			said = said " " answer(name, way, kind, policy_of[j], limit_of[i])
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
}
FILENAME ~ /\/expected$/ {
	expected[$1, $2] = $3
	next
}
FILENAME ~ /\/rules$/ {
	name_of[++program_count] = $1
	rule[$1] = $2
	is_out_of_reach[$1] = $3 == "keep"
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
