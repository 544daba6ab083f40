/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tap: the privileged half of a source. It opens and attaches, passes descriptors to the other
 * process (handover.h), and follows interfaces that disappear and return. The unprivileged half is
 * source.h. All interfaces of a run have the same kind of tap.
 */
#ifndef AGENT_TAP_H
#define AGENT_TAP_H

#include <stdbool.h>

#include "agent/model/capture_options.h"
#include "agent/model/handover.h"
#include "agent/interface/interface_state.h"
#include "agent/interface/lock.h"

/* Locks of the interfaces, then of their radios. */
#define TAP_LOCKS (2 * INTERFACES_MAX)

struct tap;

struct tap_ops {
	bool pinned; /* its pins are locked too, which excludes others without /run
		      */
	/* Attaches to interface `i` in its current state, by the kind's best way. Returns 0, or
	 * -errno after one line per refusal; with `again`, lines of the last time are not
	 * repeated. */
	int (*attach)(struct tap *t, unsigned int i, bool again);
	/* Detaches. When it returns, nothing is captured and the counters are final. Does nothing
	 * if not attached. */
	void (*detach)(struct tap *t, unsigned int i);
	/* Activate interface `i`'s new filter, or the new snaplen. Only called while attached.
	 * Return 0, or -errno with the reason in `why` and nothing changed. */
	int (*filter)(struct tap *t, unsigned int i, char *why, size_t why_len);
	/* Fills in the kind's fields, and the descriptors after HANDOVER_FD_KEY (fds[0]), which the
	 * tap keeps. Returns the number of all descriptors. */
	int (*hand_over)(struct tap *t, struct handover *h, int *fds);
	/* Closes and frees. Detaches first, unless `stays`. */
	void (*free)(struct tap *t);
};

enum tap_sampled { TAP_NOT_SAMPLED, TAP_SAMPLED_ONE, TAP_SAMPLED_ANY };

struct tap_interface {
	const char *name;
	struct interface_state link;  /* as found before attaching */
	int ifindex;		      /* last attached to */
	const char *source;	      /* "xdp native", ...; NULL while not attached */
	unsigned int given;	      /* number of its -i */
	struct radio_channel channel; /* requested for its radio; 0 MHz: unchanged */
	bool tuned;		      /* and tuned, as far as known */
	uint8_t sampled;	      /* TAP_SAMPLED: the allowed requests of the other process
				       * (privileged_requests.c)
				       */
	int not_tuned;		      /* last logged error of tuning */
	bool keep_headers;	      /* as decided for the link type */
	struct filter *filter;	      /* NULL until it is compiled */
	int filter_linktype;	      /* its link type */
	bool filter_is_own;	      /* not the one for all: from saluki filter or the pins */
	bool filter_is_ordered;	      /* from the collector: its text is never compiled here
				       */
	bool was_up, had_carrier;
	int told; /* last logged error of the interface */
};

struct tap {
	const struct tap_ops *ops;
	struct capture_options own;	 /* as requested, or as attached earlier */
	const struct capture_options *o; /* `own` */
	uint32_t snaplen_max;		 /* limit by the memory */
	bool stays;			 /* attached programs outlive this object */
	unsigned int count;
	struct tap_interface interfaces[INTERFACES_MAX];
	struct lock locks[TAP_LOCKS];
	struct radio *radios[INTERFACES_MAX]; /* NULL: no channel to set */
	int promiscuous;		      /* promiscuous.h; -1: none */
	char ring[64];			      /* description of the ring: "ring bpf 4096 KiB" */
	bool bound; /* bound to the device: if it disappears, the run ends */
};

/* Locks the interfaces and attaches by the requested kind, or by the best kind that works for all.
 * Returns NULL after lines with the reasons. */
struct tap *tap_open(const struct capture_options *asked);
void tap_close(struct tap *t); /* accepts NULL */
/* tune.c: opens the radios of interfaces with a channel, and tunes them before attaching, so that
 * no frame of another channel is captured. Uses the first of several channels that works. Returns 0
 * with the channel of each -i, or -errno after a line. */
int tap_tune_all(const struct capture_options *o, const struct interface_state *links,
		 struct radio **radios, struct radio_channel *channels);
/* Whether a radio may be tuned during the capture. Accepts NULL. */
bool tap_is_sampled(const struct tap *t);
/* Tunes interface `i`'s radio to a new channel, or checks that it is still there. Sets the old
 * channel (0 MHz: unknown) and the begin of the change. Returns 0, or -errno with nothing
 * changed. */
int tap_retune(struct tap *t, unsigned int i, const struct radio_channel *c,
	       struct radio_channel *was, uint64_t *begin_ns);
/* Lists the 20 MHz channels (middles in MHz) on which interface `i`'s radio may listen, at most
 * `max`. Returns 0 or -errno. */
int tap_card(struct tap *t, unsigned int i, uint16_t *mhz, uint32_t max, uint32_t *count);
/* Tunes interface `i`'s radio to its channel, if any, and checks the result. Logs each error
 * once. */
void tap_tune(struct tap *t, unsigned int i, const struct interface_state *now);
/* Sets interface `i` to promiscuous mode, after it was attached, if this was requested. Logs an
 * error. */
void tap_promiscuous(const struct tap *t, unsigned int i);
/* Fills in an interface's description. */
void tap_describe(const struct tap_interface *f, struct handover_interface *h);
/* Logs how interface `i` is attached. */
void tap_say(const struct tap *t, unsigned int i, const char *verb);
/* Make a tap of one kind, not attached yet. Return NULL after a line, with errno; EEXIST,
 * EWOULDBLOCK: another program captures there. */
struct tap *tap_bpf_new(const struct capture_options *o);
/* Its sockets were opened before (xsk.h). */
struct tap *tap_xsk_new(const struct capture_options *o);
struct tap *tap_mmap_new(const struct capture_options *o);
/* Extra capabilities, as bits, for BPF programs and XDP sockets. */
uint64_t tap_bpf_capabilities(void);

/* Returns which frames of an interface are captured. On the loopback interface every frame is sent
 * and received, so without -Q those received are all. */
enum direction tap_direction(const struct tap_interface *f, const struct capture_options *o);
/* For the kinds: queries the interface's state. Returns 0, or -errno after a line, logged once: the
 * interface does not exist, or its type is not captured. */
int tap_query(struct tap *t, unsigned int i);
/* For the kinds, after tap_query: compiles the interface's filter for its link type. Returns 0, or
 * -errno after a line, logged once. */
int tap_filter(struct tap *t, unsigned int i);
/* Replaces the filter by another one, made for this link type, during the capture: each frame meets
 * one of the two. Returns 0, or -errno with the reason in `why`: then the old one stays. */
int tap_replace_filter(struct tap *t, unsigned int i, const struct filter *new, int linktype,
		       char *why, size_t why_len);
/* Changes the snaplen on all interfaces or on none. Returns 0, or -errno with the reason in `why`
 * and nothing changed. */
int tap_replace_snaplen(struct tap *t, uint32_t snaplen, char *why, size_t why_len);
/* For the kinds: sets the common fields. */
void tap_init(struct tap *t, const struct tap_ops *ops, const struct capture_options *o);

#endif
