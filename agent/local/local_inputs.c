// SPDX-License-Identifier: GPL-2.0
/* Local inputs: see local_inputs.h. */
#include "local_inputs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <saluki/linktype.h>

#include "agent/filter/filter.h"
#include "agent/interface/interface_state.h"
#include "common/log.h"

static int check_filter(const struct capture_options *o, unsigned int i, int linktype)
{
	static struct filter f; /* 64 KiB */
	char why[FILTER_WHY_LEN];
	int err = filter_make(&f, &o->filter, o->monitors[i] ? LINKTYPE_RADIOTAP : linktype, why,
			      sizeof(why));

	if (err)
		log_line("%s: %s", o->interfaces[i], why);
	return err;
}

static int check_interface(const struct capture_options *o, unsigned int i)
{
	struct interface_state s;
	int err = interface_state_query(o->interfaces[i], &s);

	if (err) {
		log_line("%s: cannot ask for its state: %s", o->interfaces[i], strerror(-err));
		return err;
	}
	if (s.ifindex && s.linktype >= 0)
		return check_filter(o, i, s.linktype);
	log_line("%s: %s; 'saluki capture -D' lists the interfaces", o->interfaces[i],
		 s.ifindex ? "its type is not captured" : "no such interface");
	return -ENODEV;
}

int local_inputs_check(const struct capture_options *o, const char *file)
{
	int err = 0;

	if (file && strcmp(file, "-") && access(file, R_OK)) {
		log_line("-r %s: %s", file, strerror(errno));
		return -errno;
	}
	for (unsigned int i = 0; !err && i < o->count; i++)
		err = check_interface(o, i);
	return err;
}
