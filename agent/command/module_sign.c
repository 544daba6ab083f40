// SPDX-License-Identifier: GPL-2.0
/* saluki module sign. In: an object and a private key. Out: M.o.sig (agent/module/signature.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/module/object.h"
#include "agent/module/signature.h"
#include "common/log.h"
#include "module.h"

#define OPT_KEY 256
#define OPT_NAME 257
#define OPT_SERIAL 258

const struct option_def module_sign_defs[] = {
	{ OPT_KEY, "key", "FILE", "the private key ('saluki module genkey')" },
	{ OPT_NAME, "name", "NAME",
	  "its name in the policy (default: the object's name up to\nits first dot)" },
	{ OPT_SERIAL, "serial", "N",
	  "version number, never lower than the one before\n"
	  "(default: seconds since 1970)" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

struct sign_options {
	const char *object, *key, *name;
	long serial;
};

/* Returns 0, or the exit status plus one after all messages. */
static int parse(struct sign_options *o, int argc, char **argv)
{
	int id;

	while ((id = options_next(module_sign_defs, argc, argv)) != -1) {
		if (id == 'h') {
			printf("Usage: saluki module sign --key FILE [OPTION]... M.o\n\n"
			       "Signs a module's object for this version of the interface, and "
			       "writes M.o.sig.\n\n");
			options_print(stdout, module_sign_defs);
			return 1;
		}
		if (id == OPT_KEY)
			o->key = optarg;
		else if (id == OPT_NAME)
			o->name = optarg;
		else if (id != OPT_SERIAL ||
			 options_number("--serial", optarg, 0, LONG_MAX, &o->serial))
			return EXIT_USAGE + 1;
	}
	o->object = module_object_argument(argc, argv);
	if (o->object && !o->key)
		log_line("module sign: --key FILE is missing");
	return o->object && o->key ? 0 : EXIT_USAGE + 1;
}

static int name_take(struct module_signature *s, const struct sign_options *o)
{
	const char *base = strrchr(o->object, '/');
	char name[MODULE_NAME_MAX + 2];

	base = base ? base + 1 : o->object;
	snprintf(name, sizeof(name), "%.*s", (int)(o->name ? strlen(o->name) : strcspn(base, ".")),
		 o->name ?: base);
	if (!module_name_valid(name)) {
		log_line("%s: is no name of a module: letters, digits, '-' and '_', %d at most; "
			 "give --name",
			 name, MODULE_NAME_MAX);
		return -EINVAL;
	}
	strcpy(s->name, name);
	return 0;
}

static int seed_read(uint8_t seed[KEY_LEN], const char *path)
{
	uint8_t *text = NULL;
	size_t len = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;

	if (err) {
		log_line("%s: %s", path, strerror(-err));
		return err;
	}
	if (!keys_private(fd))
		log_line("warning: %s: others can read this key; chmod 600", path);
	err = file_read(fd, path, 256, &text, &len);
	close(fd);
	if (!err && (strlen((char *)text) != len || key_from_text(seed, (char *)text))) {
		log_line("%s: is no private key; make one with 'saluki module genkey'", path);
		err = -EINVAL;
	}
	if (text)
		sodium_memzero(text, len);
	free(text);
	return err;
}

static int signature_write(const struct module_signature *s, const char *object)
{
	char text[SIGNATURE_TEXT_MAX], *path;
	size_t len = signature_print(text, s);
	int fd, err = 0;

	if (asprintf(&path, "%s.sig", object) < 0)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		err = errno ? -errno : -EIO;
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (err)
		log_line("%s: %s", path, strerror(-err));
	else
		printf("%s: name %s, serial %" PRIu64 ", interface version %u\n", path, s->name,
		       s->serial, s->interface);
	free(path);
	return err;
}

int module_sign_main(int argc, char **argv)
{
	struct sign_options o = { .serial = time(NULL) };
	struct module_signature s = { .interface = MODULE_INTERFACE };
	struct module_object object = { 0 };
	uint8_t seed[KEY_LEN];
	int err = parse(&o, argc, argv);

	if (err)
		return err - 1;
	if (keys_init()) {
		log_line("libsodium does not start on this machine");
		return 1;
	}
	s.serial = o.serial;
	err = name_take(&s, &o);
	err = err ?: object_read(&object, o.object);
	err = err ?: seed_read(seed, o.key);
	if (!err) {
		memcpy(s.object, object.hash, OBJECT_HASH_LEN);
		signature_make(&s, seed);
		err = signature_write(&s, o.object);
	}
	sodium_memzero(seed, sizeof(seed));
	object_free(&object);
	return err ? 1 : 0;
}
