// SPDX-License-Identifier: GPL-2.0
/* Loss report: see loss_report.h. */
#include "loss_report.h"

#include "common/log.h"

enum loss_report_news loss_report_look(struct loss_report *l, uint64_t dropped, uint64_t now_ns)
{
	bool waits = l->told_ns && now_ns - l->told_ns < LOSS_REPORT_AGAIN_NS;
	enum loss_report_news news = l->goes_on ? LOSS_REPORT_GOES_ON : LOSS_REPORT_BEGINS;

	if (dropped > l->dropped)
		l->last_ns = now_ns;
	l->dropped = dropped;
	if (l->goes_on && now_ns - l->last_ns >= LOSS_REPORT_OVER_NS) {
		l->goes_on = false;
		l->told = dropped;
		return LOSS_REPORT_IS_OVER;
	}
	/* A loss that starts again within the minute waits too, as losses may start and end
	 * often. */
	if (dropped == l->told || waits)
		return LOSS_REPORT_NOTHING;
	l->told = dropped;
	l->told_ns = now_ns;
	l->goes_on = now_ns - l->last_ns < LOSS_REPORT_OVER_NS;
	return l->goes_on ? news : LOSS_REPORT_IS_OVER;
}

void loss_report_tell(struct loss_report *l, const struct totals *t, bool up, uint64_t now_ns)
{
	enum loss_report_news news = loss_report_look(l, t->dropped_store, now_ns);
	unsigned long long dropped = t->dropped_store;

	if (news == LOSS_REPORT_BEGINS)
		log_line("the store is full: the oldest frames are given up, since %s; "
			 "dropped_store %llu; see --store-bytes and --spool",
			 up ? "the collector does not take them as fast as they come"
			    : "no collector answers",
			 dropped);
	else if (news == LOSS_REPORT_GOES_ON)
		log_line("the store is still full, %s; dropped_store %llu",
			 up ? "a collector answers" : "no collector answers", dropped);
	else if (news == LOSS_REPORT_IS_OVER)
		log_line("the store is no longer full; dropped_store %llu", dropped);
}
