// SPDX-License-Identifier: GPL-2.0
/*
 * saluki module fill: writes an operator's settings or signatures into a loaded module's map. In:
 * lines with a key and a value in hexadecimal, which the module's consumer prints. Always holds:
 * the map changes only after all lines were parsed.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/module/slots.h"
#include "common/log.h"
#include "module.h"

#define PIN_LEN 128
#define LINES_MAX (64 << 10)

const struct option_def module_fill_defs[] = {
	{ 'i', "interface", "IF", "where the module runs" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* A map and its new entries: keys and values in turn. */
struct filling {
	const char *interface, *module, *map;
	int fd;
	uint32_t key, value; /* bytes of each */
	uint32_t count, room;
	uint8_t *pairs;
};

/* ---- lines ----------------------------------------------------------------------------------- */

static int digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? at - digits : -1;
}

/* Reads a word of `n` bytes. Returns the rest of the line, or NULL. */
static const char *read_bytes(uint8_t *out, uint32_t n, const char *text)
{
	text += strspn(text, " \t");
	for (uint32_t i = 0; i < n; i++) {
		int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);

		if (low < 0)
			return NULL;
		out[i] = high << 4 | low;
		text += 2;
	}
	return *text && !strchr(" \t\r\n#", *text) ? NULL : text;
}

static int make_room(struct filling *f)
{
	uint32_t room = f->room ? f->room * 2 : 64;
	uint8_t *pairs;

	if (f->count < f->room)
		return 0;
	if (f->count == LINES_MAX) {
		log_line("module fill: more than %u lines", LINES_MAX);
		return -E2BIG;
	}
	pairs = reallocarray(f->pairs, room, f->key + f->value);
	if (!pairs) {
		log_line("module fill: no memory");
		return -ENOMEM;
	}
	f->pairs = pairs;
	f->room = room;
	return 0;
}

static int take_line(struct filling *f, const char *line, unsigned int number)
{
	uint8_t *pair;
	int err;

	line += strspn(line, " \t\r\n");
	if (!*line || *line == '#')
		return 0;
	err = make_room(f);
	if (err)
		return err;
	pair = f->pairs + (size_t)f->count * (f->key + f->value);
	line = read_bytes(pair, f->key, line);
	line = line ? read_bytes(pair + f->key, f->value, line) : NULL;
	if (line)
		line += strspn(line, " \t\r\n");
	if (!line || (*line && *line != '#')) {
		log_line("module fill: line %u: takes a key of %u bytes and a value of %u, as %u "
			 "and "
			 "%u hexadecimal digits, and nothing is changed",
			 number, f->key, f->value, f->key * 2, f->value * 2);
		return -EINVAL;
	}
	f->count++;
	return 0;
}

static int read_lines(struct filling *f)
{
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	for (unsigned int n = 1; !err && getline(&line, &size, stdin) >= 0; n++)
		err = take_line(f, line, n);
	if (!err && ferror(stdin)) {
		err = -errno;
		log_line("module fill: standard input: %s", strerror(-err));
	}
	free(line);
	return err;
}

/* ---- the map --------------------------------------------------------------------------------- */

static int open_map(struct filling *f, const struct module_slots *s)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);
	char name[PIN_LEN];

	if (module_slots_find(s, f->module) < 0) {
		log_line("%s: no module %s; 'saluki module list' has those that run", f->interface,
			 f->module);
		return -ENOENT;
	}
	snprintf(name, sizeof(name), "module:%s:%s", f->module, f->map);
	f->fd = strchr(f->map, '/') || strlen(f->map) >= BPF_OBJ_NAME_LEN ? -ENOENT
									  : pin_get(&s->pin, name);
	if (f->fd < 0 || bpf_obj_get_info_by_fd(f->fd, &info, &len)) {
		log_line("%s: module %s has no map %s", f->interface, f->module, f->map);
		return -ENOENT;
	}
	if (info.type != BPF_MAP_TYPE_ARRAY && info.type != BPF_MAP_TYPE_HASH &&
	    info.type != BPF_MAP_TYPE_LRU_HASH && info.type != BPF_MAP_TYPE_LPM_TRIE) {
		log_line("%s: map %s of module %s is none that can be filled: array, hash, "
			 "lru_hash or "
			 "lpm_trie",
			 f->interface, f->map, f->module);
		return -EINVAL;
	}
	f->key = info.key_size;
	f->value = info.value_size;
	return 0;
}

static int put_lines(const struct filling *f)
{
	for (uint32_t i = 0; i < f->count; i++) {
		const uint8_t *pair = f->pairs + (size_t)i * (f->key + f->value);

		if (bpf_map_update_elem(f->fd, pair, pair + f->key, BPF_ANY)) {
			int err = -errno;

			log_line("%s: cannot put entry %u of %u into map %s of module %s: %s",
				 f->interface, i + 1, f->count, f->map, f->module, strerror(-err));
			return err;
		}
	}
	log_line("%s: %u entries put into map %s of module %s", f->interface, f->count, f->map,
		 f->module);
	return 0;
}

static int fill(struct filling *f)
{
	struct module_slots s;
	int err = module_slots_open(&s, f->interface, true);

	err = err ?: open_map(f, &s);
	err = err ?: read_lines(f);
	err = err ?: put_lines(f);
	free(f->pairs);
	if (f->fd >= 0)
		close(f->fd);
	module_slots_close(&s);
	return err;
}

int module_fill_main(int argc, char **argv)
{
	struct filling f = { .fd = -1 };
	int id;

	while ((id = options_next(module_fill_defs, argc, argv)) != -1) {
		if (id == 'h') {
			printf("Usage: saluki module fill -i IF NAME MAP\n\n"
			       "Reads a key and a value per line, in hexadecimal, and puts them "
			       "into a map of a\nrunning module.\n\n");
			options_print(stdout, module_fill_defs);
			return 0;
		}
		if (id != 'i')
			return EXIT_USAGE;
		f.interface = optarg;
	}
	if (!f.interface || argc != optind + 2) {
		log_line("module fill: give an interface with -i IF, a module and a map; see "
			 "'saluki "
			 "module fill --help'");
		return EXIT_USAGE;
	}
	f.module = argv[optind];
	f.map = argv[optind + 1];
	return fill(&f) ? 1 : 0;
}
