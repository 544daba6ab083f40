/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Consume: prepares the descriptors for a module's consumer (saluki/consumer.h). In: a loaded
 * module. Out: read-only descriptors of its maps, and of a ring that gets a copy of its events
 * while the consumer runs. Always holds: with these descriptors a consumer can affect neither the
 * module, nor the capture, nor other readers.
 */
#ifndef AGENT_MODULE_CONSUME_H
#define AGENT_MODULE_CONSUME_H

#include "maps.h"
#include "slots.h"

#define CONSUME_PIN_LEN 128 /* of the longest name of a pin */
#define CONSUME_MAPS_MAX 64 /* per module; libbpf and the check allow far fewer */
#define CONSUME_MAP_NAME MAPS_NAME_MAX

struct module_handed {
	const char *name;   /* of the module */
	uint64_t loaded_ns; /* tells modules of the same name apart */
	struct lock lock;   /* one consumer per module */
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

/* The name of the ring's pin. The pin is removed with the module, after its last event. */
void consume_pin(char pin[CONSUME_PIN_LEN], const char *module);

/* `ring_bytes`: a power of two. Starts the copies of events. Returns 0, or -errno after a line.
 * Call consume_close() in both cases. */
int consume_open(struct module_handed *h, const char *interface, const char *module,
		 uint32_t ring_bytes);
/* Whether the same module is still loaded. */
bool consume_goes_on(const struct module_handed *h);
/* Ends the copies of events. */
void consume_close(struct module_handed *h, const char *interface);

#endif
