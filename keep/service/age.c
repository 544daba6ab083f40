// SPDX-License-Identifier: GPL-2.0
/* Age: see age.h. */
#include "age.h"

#include <sys/stat.h>
#include <time.h>

#include "common/log.h"
#include "common/monotonic.h"

#define SECOND_NS 1000000000LL
#define JUMP_NS (3600 * SECOND_NS)
#define AFTER_JUMP_NS (3600 * SECOND_NS)
#define DAY_S (24 * 3600)
#define GAP_S (8 * DAY_S)
#define ONCE_GAP_S (40 * DAY_S) /* somebody may use the program once a month */

static void jumped(struct age *a, int64_t boot_ns)
{
	a->has_jumped = true;
	a->jumped_ns = boot_ns;
}

void age_begin(struct age *a, int last, bool once)
{
	struct stat st;
	int64_t gap_s;

	*a = (struct age){ .last = last, .once = once };
	if (fstat(last, &st))
		return;
	gap_s = (int64_t)clock_ns(CLOCK_REALTIME) / SECOND_NS - st.st_mtime;
	if (gap_s <= (once ? ONCE_GAP_S : GAP_S))
		return;
	log_line("the last saluki-keep worked here %lld days ago; %s, in case the clock is wrong",
		 (long long)gap_s / DAY_S,
		 once ? "this one deletes no file for its age"
		      : "no file is deleted for its age in the next hour");
	jumped(a, (int64_t)clock_ns(CLOCK_BOOTTIME));
}

void age_look(struct age *a)
{
	int64_t boot_ns = (int64_t)clock_ns(CLOCK_BOOTTIME);
	int64_t now_ns = (int64_t)clock_ns(CLOCK_REALTIME), ahead_ns = now_ns - boot_ns;
	int64_t by_ns = ahead_ns - a->ahead_ns;

	if (a->ahead_ns && (by_ns > JUMP_NS || by_ns < -JUMP_NS)) {
		log_line("the clock was set %s by %lld s; no file is deleted for its age in the "
			 "next hour",
			 by_ns > 0 ? "forward" : "back",
			 (long long)((by_ns > 0 ? by_ns : -by_ns) / SECOND_NS));
		jumped(a, boot_ns);
	}
	a->ahead_ns = ahead_ns;
	a->now_ns = a->has_jumped && boot_ns - a->jumped_ns < AFTER_JUMP_NS ? 0 : now_ns;
	if (a->now_ns || a->once)
		futimens(a->last, NULL); /* a service must see a right clock for an hour */
}
