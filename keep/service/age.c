// SPDX-License-Identifier: GPL-2.0
/* Age: see age.h. */
#include "age.h"

#include <time.h>

#include "common/log.h"
#include "common/monotonic.h"

#define SECOND_NS 1000000000LL
#define JUMP_NS (3600 * SECOND_NS)
#define AFTER_JUMP_NS (3600 * SECOND_NS)

bool age_is_known(struct age *a)
{
	int64_t boot_ns = (int64_t)clock_ns(CLOCK_BOOTTIME);
	int64_t ahead_ns = (int64_t)clock_ns(CLOCK_REALTIME) - boot_ns;
	int64_t by_ns = ahead_ns - a->ahead_ns;

	if (a->ahead_ns && (by_ns > JUMP_NS || by_ns < -JUMP_NS)) {
		log_line("the clock was set %s by %lld s; no file is deleted for its age in the "
			 "next hour",
			 by_ns > 0 ? "forward" : "back",
			 (long long)((by_ns > 0 ? by_ns : -by_ns) / SECOND_NS));
		a->has_jumped = true;
		a->jumped_ns = boot_ns;
	}
	a->ahead_ns = ahead_ns;
	return !a->has_jumped || boot_ns - a->jumped_ns >= AFTER_JUMP_NS;
}
