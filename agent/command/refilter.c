// SPDX-License-Identifier: GPL-2.0
/*
 * saluki filter: another filter for an interface, while frames come in. The agent that has it is
 * asked to; where there is none, the programs that are attached are replaced here.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saluki/options.h>

#include "agent/tap/adopt.h"
#include "agent/tap/attach.h"
#include "agent/commands.h"
#include "agent/ctl.h"

const struct option_def filter_defs[] = {
	{ 'i', "interface", "IF", "the interface" },
	{ OPT_FILTER_CODE, "filter-code", "FILE",
	  "a filter as 'tcpdump -ddd' prints it, in place of an expression" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(void)
{
	printf("Usage: saluki filter -i IF EXPRESSION\n"
	       "       saluki filter -i IF --filter-code FILE\n\n"
	       "Captures from now on what a pcap-filter(7) expression takes, with no frame lost "
	       "or\n"
	       "counted twice; '' takes everything. Needs an interface that is being captured, or\n"
	       "attached.\n\n");
	options_print(stdout, filter_defs);
}

/* ---- without an agent ------------------------------------------------------------------------ */

static int replace(struct attach *a, struct tap_interface *f, struct capture_options *o,
		   struct maps *maps, struct filter *new, char *why, size_t why_len)
{
	int found = adopt_config(f->name, &a->pin, &a->config, &a->config_fd), err;

	if (found < 1) {
		snprintf(why, why_len, "nothing is attached there; 'saluki status' lists what is");
		return found ? found : -ENOENT;
	}
	err = adopt_options(o, &a->config);
	o->persistent = a->config.persistent;
	err = err ?: maps_adopt(maps, &a->config, &a->pin);
	err = err ?: attach_adopt(a, maps, f);
	if (err) {
		snprintf(why, why_len, "cannot use what is pinned: %s", strerror(-err));
		return err;
	}
	f->keep_headers = a->config.keep_headers;
	f->filter = new;
	return attach_filter(a, why, why_len);
}

static int replace_pinned(const char *interface, struct filter *new, const struct link_state *link,
			  char *why, size_t why_len)
{
	struct tap_interface f = { .name = interface, .link = *link };
	struct capture_options o = { .interfaces = { interface }, .count = 1 };
	struct attach a;
	struct maps maps;
	struct lock lock;
	int err;

	attach_zero(&a);
	maps_zero(&maps);
	lock_zero(&lock);
	a.o = &o;
	a.name = interface;
	libbpf_set_print(NULL);
	why[0] = 0; /* these two say it themselves */
	err = lock_take(&lock, interface);
	err = err ?: pin_take(&a.pin, interface);
	err = err ?: replace(&a, &f, &o, &maps, new, why, why_len);
	attach_free(&a);
	maps_free(&maps);
	lock_release(&lock);
	return err;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int change(const char *interface, const struct filter_given *given)
{
	static struct ctl_request r = { .size = sizeof(r), .what = CTL_FILTER };
	static struct ctl_answer answer;
	char why[FILTER_WHY_LEN];
	struct link_state link;
	int err = link_query(interface, &link);

	snprintf(why, sizeof(why), "no such interface; 'ip link' lists them");
	if (!err && link.ifindex == 0)
		err = -ENODEV;
	r.linktype = link.linktype;
	err = err ?: filter_make(&r.filter, given, link.linktype, why, sizeof(why));
	if (!err) {
		err = ctl_ask(interface, &r, &answer);
		if (err == -ENOENT)
			err = replace_pinned(interface, &r.filter, &link, why, sizeof(why));
		else if (err)
			snprintf(why, sizeof(why), "the agent does not answer: %s", strerror(-err));
		else if (answer.error)
			snprintf(why, sizeof(why), "%.500s", answer.why);
		err = err ?: answer.error;
	}
	if (err && why[0])
		log_line("%s: %s", interface, why);
	return err;
}

int filter_main(int argc, char **argv)
{
	struct capture_options o;
	int id;

	capture_options_init(&o);
	while ((id = options_next(filter_defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return 0;
		}
		if (capture_option(&o, id))
			return EXIT_USAGE;
	}
	if (capture_expression(&o, argc, argv))
		return EXIT_USAGE;
	if (o.count != 1 || !(o.given & GIVEN_FILTER)) {
		log_line("filter: %s; see 'saluki filter --help'",
			 o.count != 1
				 ? "give one interface with -i IF"
				 : "give an expression ('' takes everything) or --filter-code");
		return EXIT_USAGE;
	}
	return change(o.interfaces[0], &o.filter) ? 1 : 0;
}
