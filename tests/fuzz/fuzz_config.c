// SPDX-License-Identifier: GPL-2.0
/* links: common/config.o common/options.o common/suggest.o common/log.o wire/key_text.o
 * wire/keys.o */
/*
 * Config files, private ones (first byte even) and others (odd). Always holds: options are those of
 * the tables, secret ones only from a private file; values are trimmed; accepted options read the
 * same when written again; accepted keys are a key file.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "common/config.h"
#include "fuzz.h"
#include "wire/key_text.h"

enum { OPT_KEY_TEXT = 256, OPT_COLLECTOR, OPT_PRESHARED, OPT_NEXT, OPT_CONFIG };

static const struct option_def defs[] = {
	{ 't', "to", "HOST:PORT", "" },
	{ 'p', "pad", NULL, "" },
	CONFIG_DEF(OPT_CONFIG),
	{ 'h', "help", NULL, "" },
	{ 0 },
};
static const struct option_def secret[] = {
	{ OPT_KEY_TEXT, "key-text", "KEY", NULL },
	{ OPT_COLLECTOR, "collector", "KEY", NULL },
	{ OPT_PRESHARED, "preshared", "KEY", NULL },
	{ OPT_NEXT, "next", "KEY", NULL },
	{ 0 },
};

static const char *name_of(int id)
{
	for (const struct option_def *d = defs; d->id; d++)
		if (d->id == id)
			return d->name;
	for (const struct option_def *d = secret; d->id; d++)
		if (d->id == id)
			return d->name;
	return NULL;
}

static int take_key(struct key_text *k, int id)
{
	return id == OPT_KEY_TEXT    ? key_text_secret(k, optarg)
	       : id == OPT_COLLECTOR ? key_text_collector(k, optarg)
	       : id == OPT_PRESHARED ? key_text_preshared(k, optarg)
	       : id == OPT_NEXT	     ? key_text_next(k, optarg)
				     : 0;
}

/* Writes the options to `out`, unless NULL. Returns -1 at the file's end, or '?'. */
static int read_all(const uint8_t *data, size_t len, bool private, FILE *out, struct key_text *k)
{
	int fd = fuzz_file(data, len), id, err;
	struct config c;
	char path[32];

	CHECK(fchmod(fd, private ? 0600 : 0640) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK(config_open(&c, path) == 0);
	close(fd);
	while ((id = config_next(&c, defs, secret, false)) != -1 && id != '?') {
		const char *value = optarg ? optarg : "";

		CHECK(name_of(id) && (id < OPT_KEY_TEXT || private));
		CHECK(!*value == (id == 'p') && !strchr(value, '\n'));
		CHECK(!*value ||
		      (!strchr(" \t\r", value[0]) && !strchr(" \t\r", value[strlen(value) - 1])));
		if (out)
			fprintf(out, "%s%s%s\n", name_of(id), *value ? "=" : "", value);
		err = k ? take_key(k, id) : 0;
		CHECK(err == 0 || err == -EINVAL);
		if (err) {
			id = '?';
			break;
		}
	}
	config_close(&c);
	return id;
}

static void check_same(const char *text, size_t len)
{
	char *again = NULL;
	size_t again_len;
	FILE *out = open_memstream(&again, &again_len);

	CHECK(read_all((const uint8_t *)text, len, true, out, NULL) == -1);
	fclose(out);
	CHECK(again_len == len && !memcmp(text, again, len));
	free(again);
}

static void check_keys(struct key_text *k)
{
	bool whole = k->given && k->collectors;
	struct keys_peers peers;
	struct keypair own;
	const char *why;
	int fd = key_text_open(k), err = keys_read(fd, &own, &peers, &why);

	CHECK(!k->given && !k->secret[0]);
	CHECK(err == 0 || (err == -EINVAL && *why));
	CHECK(err || whole);
	close(fd);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	CHECK(keys_init() == 0);
	log_settings.fd = open("/dev/null", O_WRONLY);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	bool private = !(fuzz_number(&in, 1) & 1);
	struct key_text k = { .given = false };
	char *text = NULL;
	size_t text_len;
	FILE *out = open_memstream(&text, &text_len);
	int end = read_all(in.p, in.end - in.p, private, out, NULL);

	fclose(out);
	check_same(text, text_len);
	if (end == -1 && read_all(in.p, in.end - in.p, private, NULL, &k) == -1)
		check_keys(&k);
	free(text);
	return 0;
}
