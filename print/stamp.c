// SPDX-License-Identifier: GPL-2.0
/* A frame's time: see stamp.h. */
#include "stamp.h"

#include <time.h>

#define NS_PER_S 1000000000ULL
#define US_PER_S 1000000ULL

void stamp_init(struct stamp *s, unsigned int form)
{
	s->form = form;
	s->started = false;
	tzset();
}

static unsigned int microseconds(uint64_t ns)
{
	return ns % NS_PER_S / 1000;
}

static void stamp_local(struct text *t, uint64_t ns, bool date)
{
	time_t seconds = ns / NS_PER_S;
	struct tm at = { 0 };

	localtime_r(&seconds, &at);
	if (date)
		text_add(t, "%04d-%02d-%02d ", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday);
	text_add(t, "%02d:%02d:%02d.%06u ", at.tm_hour, at.tm_min, at.tm_sec, microseconds(ns));
}

/* tcpdump subtracts whole microseconds. */
static void stamp_difference(const struct stamp *s, struct text *t, uint64_t ns)
{
	uint64_t us = ns / 1000, reference_us = s->reference_ns / 1000;
	uint64_t by = us < reference_us ? reference_us - us : us - reference_us;
	unsigned long long seconds = by / US_PER_S;

	text_add(t, "%s%02llu:%02llu:%02llu.%06u ", us < reference_us ? "-" : " ", seconds / 3600,
		 seconds / 60 % 60, seconds % 60, (unsigned int)(by % US_PER_S));
}

void stamp_add(struct stamp *s, struct text *t, uint64_t ns)
{
	if (!s->started)
		s->reference_ns = ns;
	s->started = true;
	switch (s->form) {
	case 1:
		break;
	case 2:
		text_add(t, "%llu.%06u ", (unsigned long long)(ns / NS_PER_S), microseconds(ns));
		break;
	case 3:
		stamp_difference(s, t, ns);
		s->reference_ns = ns;
		break;
	case 4:
		stamp_local(t, ns, true);
		break;
	case 5:
		stamp_difference(s, t, ns);
		break;
	default:
		stamp_local(t, ns, false);
	}
}
