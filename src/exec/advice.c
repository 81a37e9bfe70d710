/* SPDX-License-Identifier: MIT */
#include "advice.h"

#include "count.h"

/* Fewer periods than this, of the time that the run took, say nothing. */
#define ENOUGH_PERIODS 10

/* A load is steady if it uses that much of the limit, on average. */
#define STEADY_PERCENT 80

/* Throttled in no more of the periods than this, or for no more of the time, is as good as not throttled: a single thread
 * on a whole CPU is now and then stopped for the last moment of a period. */
#define THROTTLED_PERCENT 5
#define LOST_PERCENT 1

/* Others are worth a word if they used more than this, in relation to the run. */
#define OTHERS_PERCENT 25

/* The periods that the run took, whether or not a thread wanted to run in them: the kernel counts only such. */
static uint64_t periods_of_run(const struct cq_figures *figures, const struct cq_metered_level *level)
{
	return figures->wall / 1000 / level->limit.period;
}

static bool is_throttled(const struct cq_figures *figures, const struct cq_metered_level *level)
{
	return level->stat.throttled > periods_of_run(figures, level) * THROTTLED_PERCENT / 100 &&
	       level->stat.lost > figures->wall / 100 * LOST_PERCENT;
}

/* True if the run used PERCENT or more of QUOTA / PERIOD CPUs on average. */
static bool uses(const struct cq_figures *figures, unsigned percent, uint64_t quota, uint64_t period)
{
	return (unsigned __int128)cq_figures_cpu(figures) * 100 * period >=
	       (unsigned __int128)figures->wall * quota * percent;
}

/* The rules. Each may take for granted that none of those before it in the table applies. */

static bool cgroup_is_unknown(const struct cq_figures *figures)
{
	return !figures->knows_cgroup;
}

static bool has_moved(const struct cq_figures *figures)
{
	return figures->has_moved;
}

static bool limit_has_changed(const struct cq_figures *figures)
{
	return figures->limit_has_changed;
}

static bool is_unlimited(const struct cq_figures *figures)
{
	return !figures->effective;
}

static bool throttling_is_unknown(const struct cq_figures *figures)
{
	return !figures->effective->is_known;
}

static bool is_too_short(const struct cq_figures *figures)
{
	return periods_of_run(figures, figures->effective) < ENOUGH_PERIODS;
}

/* A limit that is wider than the effective one throttles only if others have a part in it. */
static bool is_throttled_elsewhere(const struct cq_figures *figures)
{
	for (size_t i = 0; i < figures->level_count; i++) {
		const struct cq_metered_level *level = &figures->levels[i];

		if (level != figures->effective && level->is_known && is_throttled(figures, level) &&
		    level->stat.lost > figures->effective->stat.lost)
			return true;
	}
	return false;
}

static bool is_held_back(const struct cq_figures *figures)
{
	return !is_throttled(figures, figures->effective) && figures->shown && figures->shown < figures->shown_by_ceil &&
	       uses(figures, 90, figures->shown, 1);
}

static bool is_fine(const struct cq_figures *figures)
{
	return !is_throttled(figures, figures->effective);
}

static bool others_share(const struct cq_figures *figures)
{
	const struct cq_cpustat *stat = &figures->effective->stat;
	uint64_t own = cq_figures_cpu(figures);

	return stat->knows_used && stat->used > own && (stat->used - own) / OTHERS_PERCENT > own / 100;
}

static bool sees_too_many(const struct cq_figures *figures)
{
	uint64_t paid = cq_count_round(&figures->effective->limit, CQ_ROUND_CEIL);

	return figures->shown > paid;
}

static bool is_steady(const struct cq_figures *figures)
{
	return uses(figures, STEADY_PERCENT, figures->effective->limit.quota, figures->effective->limit.period);
}

static bool is_steady_and_rounded_up(const struct cq_figures *figures)
{
	return is_steady(figures) && figures->shown_by_floor < figures->shown;
}

static bool is_bursty_and_rounded_down(const struct cq_figures *figures)
{
	return figures->shown && figures->shown < figures->shown_by_ceil;
}

static bool always(const struct cq_figures *figures)
{
	(void)figures;
	return true;
}

static const struct rule {
	bool (*applies)(const struct cq_figures *figures);
	struct cq_advice advice;
} rules[] = {
	{cgroup_is_unknown, {"no_cgroup", "No cgroup with CPU limits can be seen from here: nothing is known of throttling."}},
	{has_moved, {"moved", "Some of this ran in another cgroup than it began in: nothing is known of throttling."}},
	{limit_has_changed, {"limit_changed", "The limit has changed meanwhile: run it again for a word about the policy."}},
	{is_unlimited, {"unlimited", "No limit is set: nothing was there to throttle it."}},
	{throttling_is_unknown, {"unreadable", "The cgroup's cpu.stat could not be read: nothing is known of throttling."}},
	{is_too_short, {"too_short", "Too short to say: that takes ten periods of the limit, a second as a rule."}},
	{is_throttled_elsewhere,
	 {"shared_limit", "It was throttled by a wider limit than the tightest, one that other cgroups have a part in: the "
			  "policy cannot help there."}},
	{is_held_back,
	 {"held_back", "Not throttled, and busy on all the CPUs that it was shown: fine for latency. The limit pays for more, "
		       "which round=ceil would use at the price of throttling."}},
	{is_fine, {"fine", "Not throttled, or hardly: fine as it is."}},
	{others_share,
	 {"others", "Throttled, but others in the cgroup used CPU too, and are throttled together with it: measure it alone, or "
		    "give it a cgroup of its own."}},
	{sees_too_many,
	 {"try_policy", "Throttled, and shown more CPUs than the limit pays for: leave the number to the limit (no CPUQUOTA=off, "
			"and a smaller count or min)."}},
	{is_steady_and_rounded_up,
	 {"try_floor", "A steady load, throttled because the limit was rounded up: try round=floor, which leaves a part of the "
		       "limit unused for even latency."}},
	{is_steady,
	 {"raise_limit", "A steady load that uses up the limit, with more threads than it was shown CPUs, or less than a CPU to "
			 "run on: start fewer threads, or raise the limit."}},
	{is_bursty_and_rounded_down,
	 {"bursty_try_ceil", "Below the limit on average, but throttled: bursts. Try round=ceil, or raise the limit."}},
	{always, {"bursty", "Below the limit on average, but throttled: bursts. Raise the limit, or allow it bursts "
			    "(cpu.max.burst)."}},
};

const struct cq_advice *cq_advice_of(const struct cq_figures *figures)
{
	const struct rule *rule = rules;

	while (!rule->applies(figures))
		rule++;
	return &rule->advice;
}
