// SPDX-License-Identifier: GPL-2.0
/*
 * saluki filter: changes an interface's filter during the capture. Asks the interface's agent.
 * Without an agent, replaces the attached programs (refilter_pinned.c).
 */
#include "refilter.h"

#include <errno.h>
#include <string.h>

#include "agent/options/parse_capture.h"
#include "agent/options/subcommands.h"
#include "agent/status/status_socket.h"
#include "common/log.h"
#include "common/options.h"

const struct option_def filter_defs[] = {
	{ 'i', "interface", "IF", "the interface" },
	{ OPT_FILTER_CODE, "filter-code", "FILE",
	  "read the filter from the output of 'tcpdump -ddd'" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(void)
{
	printf("Usage: saluki filter -i IF EXPRESSION\n"
	       "       saluki filter -i IF --filter-code FILE\n\n"
	       "Replaces the filter of a running or attached capture by a pcap-filter(7)\n"
	       "expression. '' captures all frames. No frame is lost or counted twice.\n\n");
	options_print(stdout, filter_defs);
}

static int change(const char *interface, const struct filter_given *given)
{
	static struct status_socket_request r;
	static struct status_socket_answer answer;
	char why[FILTER_WHY_LEN];
	struct interface_state link;
	int err = interface_state_query(interface, &link);

	snprintf(why, sizeof(why), "no such interface; 'ip link' lists them");
	if (!err && link.ifindex == 0)
		err = -ENODEV;
	r.size = sizeof(r);
	r.what = STATUS_SOCKET_FILTER;
	r.linktype = link.linktype;
	err = err ?: filter_make(&r.filter, given, link.linktype, why, sizeof(why));
	if (!err) {
		err = status_socket_ask(interface, &r, &answer);
		if (err == -ENOENT)
			err = refilter_pinned(interface, &r.filter, &link, why, sizeof(why));
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
