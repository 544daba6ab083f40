// SPDX-License-Identifier: GPL-2.0
/* Interface list: see interface_list.h. In: the kernel's interfaces. Out: lines as of 'tcpdump -D'.
 */
#include "interface_list.h"

#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saluki/linktype.h>

#include "common/log.h"
#include "interface_state.h"

static bool is_wireless(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/net/%.32s/phy80211", name);
	return access(path, F_OK) == 0;
}

static const char *frames_of(const char *name, const struct interface_state *s)
{
	if (s->linktype == LINKTYPE_RADIOTAP)
		return "802.11 frames with a radiotap header";
	if (s->linktype == LINKTYPE_PRISM)
		return "802.11 frames with a Prism header";
	if (s->linktype == LINKTYPE_IEEE802_11)
		return "802.11 frames";
	if (is_wireless(name))
		return "this station's frames as Ethernet; --monitor captures 802.11 frames";
	return "Ethernet frames";
}

static void print_interface(unsigned int number, const char *name, const struct interface_state *s)
{
	char shown[IF_NAMESIZE];

	snprintf(shown, sizeof(shown), "%s", name);
	log_clean(shown);
	printf("%u.%s [%s%s%s] ", number, shown, interface_state_word(s),
	       s->arphrd == SALUKI_ARPHRD_LOOPBACK ? ", loopback" : "",
	       linktype_is_80211(s->linktype) ? ", monitor" : "");
	if (s->linktype < 0)
		printf("not captured: interface type %d\n", s->arphrd);
	else
		printf("%s\n", frames_of(name, s));
}

/* Calls `each` for each interface in the order of the list, until it returns true. */
static int walk(bool (*each)(void *arg, unsigned int number, const char *name,
			     const struct interface_state *s),
		void *arg)
{
	struct if_nameindex *list = if_nameindex();
	unsigned int number = 0;
	bool done = false;

	if (!list) {
		log_line("cannot list interfaces: %s", strerror(errno));
		return -errno;
	}
	for (int captured = 1; captured >= 0; captured--) {
		for (const struct if_nameindex *i = list; !done && i->if_index; i++) {
			struct interface_state s;

			if (interface_state_query(i->if_name, &s) == 0 && s.ifindex &&
			    (s.linktype >= 0) == captured)
				done = each(arg, ++number, i->if_name, &s);
		}
	}
	if_freenameindex(list);
	return 0;
}

static bool print_each(void *arg, unsigned int number, const char *name,
		       const struct interface_state *s)
{
	(void)arg;
	print_interface(number, name, s);
	return false;
}

int interface_list_print(void)
{
	return walk(print_each, NULL);
}

struct wanted {
	unsigned long number;
	char *name; /* NULL: not found */
};

static bool name_wanted(void *arg, unsigned int number, const char *name,
			const struct interface_state *s)
{
	struct wanted *w = arg;

	(void)s;
	if (number == w->number)
		w->name = strdup(name);
	return w->name;
}

const char *interface_list_name(const char *word)
{
	struct wanted w = { 0 };
	char *end;

	if (!isdigit((unsigned char)*word) || if_nametoindex(word))
		return word;
	w.number = strtoul(word, &end, 10);
	if (!*end)
		walk(name_wanted, &w);
	return w.name ?: word;
}
