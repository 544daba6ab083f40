/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Consume: what a module's consumer is handed (saluki/consumer.h). In: a module that runs. Out:
 * descriptors of its maps, for reading alone, and of a ring that its events go into, too, for as
 * long as it is read. Always holds: what is done with these descriptors reaches neither the module,
 * nor the capture, nor what is read by anybody else.
 */
#ifndef AGENT_MODULE_CONSUME_H
#define AGENT_MODULE_CONSUME_H

#include "maps.h"
#include "slots.h"

#define CONSUME_PIN_LEN 128 /* of the longest name of a pin */
#define CONSUME_MAPS_MAX 64 /* of a module; libbpf and the check take far fewer */
#define CONSUME_MAP_NAME MAPS_NAME_MAX

struct module_handed {
	const char *name;   /* of the module */
	uint64_t loaded_ns; /* which of those that had this name */
	struct lock lock;   /* one consumer a module */
	struct pin pin;
	unsigned int slot;
	int ring_fd;
	uint32_t ring_bytes;
	unsigned int map_count;
	struct {
		char name[CONSUME_MAP_NAME];
		int fd;
	} maps[CONSUME_MAPS_MAX];
};

/* The name of the ring's pin, which goes when the module does: after its last event. */
void consume_pin(char pin[CONSUME_PIN_LEN], const char *module);

/* `ring_bytes`: a power of two. From here on events go into the ring. Returns 0, or -errno after a
 * line; consume_close() in any case. */
int consume_open(struct module_handed *h, const char *interface, const char *module,
		 uint32_t ring_bytes);
/* Whether the module is still the one that it was. */
bool consume_goes_on(const struct module_handed *h);
/* No event goes into the ring any more. */
void consume_close(struct module_handed *h, const char *interface);

#endif
