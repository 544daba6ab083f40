/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tap: the privileged half of a source. It opens and attaches, gives the descriptors to read from
 * to the other process (handover.h), and follows interfaces that go and come back. The unprivileged
 * half is source.h. All interfaces of a run have taps of one kind.
 */
#ifndef AGENT_TAP_H
#define AGENT_TAP_H

#include <stdbool.h>

#include "agent/model/capture_options.h"
#include "agent/model/handover.h"
#include "agent/interface/interface_state.h"
#include "agent/interface/lock.h"

/* Interfaces', and behind them those of their radios. */
#define TAP_LOCKS (2 * INTERFACES_MAX)

struct tap;

struct tap_ops {
	bool pinned; /* its pins are locked too: nobody else has the interface without /run either
		      */
	/* Attaches to interface `i` as it is now, by the best way this kind has. Returns 0, or
	 * -errno after a line a refusal; with `again`, what was said the last time is not
	 * repeated. */
	int (*attach)(struct tap *t, unsigned int i, bool again);
	/* Takes it off again. When it returns nothing more is captured there and the counters are
	 * final. Does nothing where it is not attached. */
	void (*detach)(struct tap *t, unsigned int i);
	/* Puts interface `i`'s filter, or the snaplen, which is another one now, into force; only
	 * called while it is attached. Returns 0, or -errno with the reason in `why`, and nothing
	 * has changed. */
	int (*filter)(struct tap *t, unsigned int i, char *why, size_t why_len);
	/* Fills in what differs by kind, and the descriptors behind HANDOVER_FD_KEY (fds[0]), which
	 * stay this side's to close. Returns how many there are in all. */
	int (*hand_over)(struct tap *t, struct handover *h, int *fds);
	/* Closes and frees; detaches first unless it stays. */
	void (*free)(struct tap *t);
};

enum tap_sampled { TAP_NOT_SAMPLED, TAP_SAMPLED_ONE, TAP_SAMPLED_ANY };

struct tap_interface {
	const char *name;
	struct interface_state link;  /* as found when it was to be attached */
	int ifindex;		      /* attached to last */
	const char *source;	      /* "xdp native", ...; NULL while not attached */
	unsigned int given;	      /* which of the -i it is */
	struct radio_channel channel; /* that its radio is to listen to; of 0 MHz: where it does */
	bool tuned;		      /* and does, as far as is known */
	uint8_t sampled; /* TAP_SAMPLED: what the other process may ask for (privileged_requests.c)
			  */
	int not_tuned;	 /* why not, when that was said last */
	bool keep_headers;	/* as decided for the link type */
	struct filter *filter;	/* NULL before it is compiled */
	int filter_linktype;	/* for which it is */
	bool filter_is_own;	/* not what was given for all: saluki filter, or from the pins */
	bool filter_is_ordered; /* and it came from the collector: its text is never compiled here
				 */
	bool was_up, had_carrier;
	int told; /* what was wrong with it when that was said last */
};

struct tap {
	const struct tap_ops *ops;
	struct capture_options own;	 /* as asked for, or as it was attached */
	const struct capture_options *o; /* `own` */
	uint32_t snaplen_max;		 /* that there is memory for */
	bool stays;			 /* what is attached outlives this object */
	unsigned int count;
	struct tap_interface interfaces[INTERFACES_MAX];
	struct lock locks[TAP_LOCKS];
	struct radio *radios[INTERFACES_MAX]; /* NULL: of one without a channel */
	char ring[64]; /* what frames wait in, for people: "ring bpf 4096 KiB" */
	bool bound;    /* to the device itself: an interface that goes ends the run */
};

/* Locks the interfaces and makes the taps of the kind asked for, or of the best that all of them
 * take, attached. Returns NULL after lines that say why not. */
struct tap *tap_open(const struct capture_options *o);
void tap_close(struct tap *t); /* takes NULL too */
/* tune.c: opens the radios of interfaces with a channel, and tunes them before anything is
 * attached: no frame of another channel is captured. Of several channels it is the first that can
 * be had. Returns 0 with the channel of each -i, or -errno after a line. */
int tap_tune_all(const struct capture_options *o, const struct interface_state *links,
		 struct radio **radios, struct radio_channel *channels);
/* Whether any interface's may be tuned while it is captured; takes NULL, too. */
bool tap_is_sampled(const struct tap *t);
/* Tunes interface `i`'s radio to another channel, which is its own from then on, or looks whether
 * it is there still. Sets where it was, 0 MHz where that is not told, and when the change began.
 * Returns 0, or -errno, and nothing has changed. */
int tap_retune(struct tap *t, unsigned int i, const struct radio_channel *c,
	       struct radio_channel *was, uint64_t *begin_ns);
/* The middles of the channels of 20 MHz on which interface `i`'s radio may listen, `max` at most.
 * Returns 0 or -errno. */
int tap_card(struct tap *t, unsigned int i, uint16_t *mhz, uint32_t max, uint32_t *count);
/* Tunes interface `i`'s radio to its channel, if it has one, and asks whether it is there. What
 * went wrong is said once. */
void tap_tune(struct tap *t, unsigned int i, const struct interface_state *now);
/* What is told of an interface. */
void tap_describe(const struct tap_interface *f, struct handover_interface *h);
/* Says how interface `i` is attached. */
void tap_say(const struct tap *t, unsigned int i, const char *verb);
/* One kind, nothing attached yet. Return NULL after a line, with errno; EEXIST, EWOULDBLOCK:
 * somebody captures there already. */
struct tap *tap_bpf_new(const struct capture_options *o);
/* Its sockets are open already (xsk.h). */
struct tap *tap_xsk_new(const struct capture_options *o);
struct tap *tap_mmap_new(const struct capture_options *o);
/* Capabilities, as bits, that programs and XDP sockets take beside those of every kind. */
uint64_t tap_bpf_capabilities(void);

/* For the kinds: asks for the interface's state. Returns 0, or -errno after a line, said once: it
 * is not there, or of a type that is not captured. */
int tap_query(struct tap *t, unsigned int i);
/* For the kinds, behind tap_query: makes the interface's filter for its link type. Returns 0, or
 * -errno after a line, said once. */
int tap_filter(struct tap *t, unsigned int i);
/* Puts another filter, made for this link type, in the place of the one in force, while frames come
 * in: each is looked at by the one or by the other. Returns 0, or -errno with the reason in `why`;
 * then the old one stays. */
int tap_replace_filter(struct tap *t, unsigned int i, const struct filter *new, int linktype,
		       char *why, size_t why_len);
/* Keeps so many bytes of a frame from now on, on all interfaces or none. Returns 0, or -errno with
 * the reason in `why`; then all is as it was. */
int tap_replace_snaplen(struct tap *t, uint32_t snaplen, char *why, size_t why_len);
/* For the kinds: sets what is common. */
void tap_init(struct tap *t, const struct tap_ops *ops, const struct capture_options *o);

#endif
