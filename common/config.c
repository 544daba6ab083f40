// SPDX-License-Identifier: GPL-2.0
/* Config files: see config.h. In: a file, a table, a command line. Out: ids and values, or a line.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "suggest.h"

#define CONFIG_BYTES_MAX (256 * 1024)
#define CONFIG_LINE_MAX 4096
#define CONFIG_NAME_MAX 32
#define BLANKS " \t\r"

/* ---- the file -------------------------------------------------------------------------------- */

/* Reads to the end. Returns 0 or -errno. */
static int config_read(struct config *c, int fd)
{
	ssize_t n = 1;

	c->at = c->end = c->text = malloc(CONFIG_BYTES_MAX + 1);
	if (!c->text)
		return -ENOMEM;
	while (n && c->end <= c->text + CONFIG_BYTES_MAX) {
		n = read(fd, c->end, c->text + CONFIG_BYTES_MAX + 1 - c->end);
		if (n < 0)
			return -errno;
		c->end += n;
	}
	return n ? -EFBIG : 0;
}

/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
/* systemd from 254 on lets a service read its credentials by an access control list, whose mask
 * stat() shows as the group's rights. */
static bool config_is_credential(const char *path)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	size_t len = folder ? strlen(folder) : 0;

	return len && !strncmp(path, folder, len) && path[len] == '/';
}

int config_open(struct config *c, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err = 0;
	struct stat st = { 0 };

	*c = (struct config){ .path = path };
	if (fd < 0 || fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		log_line("--config %s: is not a regular file", path);
	else
		err = config_read(c, fd);
	if (err)
		log_line("--config %s: %s", path,
			 err == -EFBIG ? "is larger than 256 KiB" : strerror(-err));
	if (fd >= 0)
		close(fd);
	c->private = !(st.st_mode & (config_is_credential(path) ? S_IRWXO : S_IRWXG | S_IRWXO));
	if (!err && c->text)
		return 0;
	config_close(c);
	return err ?: -EINVAL;
}

void config_close(struct config *c)
{
	if (c->text)
		explicit_bzero(c->text, c->end - c->text);
	free(c->text);
	c->text = NULL;
	log_settings.where = NULL;
}

/* ---- a line ---------------------------------------------------------------------------------- */

/* For log lines. */
static void config_place(const struct config *c)
{
	static char where[256];

	snprintf(where, sizeof(where), "%.230s:%u: ", c->path, c->line);
	log_settings.where = where;
}

/* Cuts a comment, and the blanks at both ends. */
static char *config_trim(char *line)
{
	char *comment = line, *end;

	while ((comment = strchr(comment, '#'))) {
		if (comment == line || strchr(BLANKS, comment[-1])) {
			*comment = 0;
			break;
		}
		comment++;
	}
	line += strspn(line, BLANKS);
	end = line + strlen(line);
	while (end > line && strchr(BLANKS, end[-1]))
		*--end = 0;
	return line;
}

/* Returns the next line that has text, "" at the end, or NULL after a line about a malformed one.
 */
static char *config_line(struct config *c)
{
	while (c->at < c->end) {
		char *line = c->at, *end = memchr(line, '\n', c->end - line);
		size_t len = (end ?: c->end) - line;

		c->at = end ? end + 1 : c->end;
		c->line++;
		config_place(c);
		if (len > CONFIG_LINE_MAX || memchr(line, 0, len)) {
			log_line("%s", len > CONFIG_LINE_MAX
					       ? "the line is too long"
					       : "the line has a NUL byte; is this a text file?");
			return NULL;
		}
		line[len] = 0; /* the newline, or the byte after the last one */
		line = config_trim(line);
		if (*line)
			return line;
	}
	return "";
}

/* Splits "name = value" in place. Returns the value; "": there is none; NULL: malformed. */
static char *config_split(char *line)
{
	char *end = line + strcspn(line, BLANKS "="), *value = end + strspn(end, BLANKS);

	if (end == line || (*value && *value != '='))
		return NULL;
	if (*value)
		value++;
	*end = 0;
	return value + strspn(value, BLANKS);
}

/* ---- an option ------------------------------------------------------------------------------- */

/* Options that print something instead of a run, and the file's own. */
static bool config_has_not(const char *name)
{
	static const char *const names[] = { CONFIG_OPTION,	"completion", "help",
					     "list-interfaces", "version",    NULL };
	int i = 0;

	while (names[i] && strcmp(names[i], name))
		i++;
	return names[i];
}

static const struct option_def *config_find(const struct option_def *defs, const char *name)
{
	while (defs && defs->id && strcmp(defs->name, name))
		defs++;
	return defs && defs->id && !config_has_not(name) ? defs : NULL;
}

static void config_offer(struct suggest *s, const struct option_def *defs)
{
	for (; defs && defs->id; defs++)
		if (!config_has_not(defs->name))
			suggest_offer(s, defs->name);
}

/* Whether it looks like an option's name. Other text may be a key, which no log should have. */
static bool config_is_name(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz-");

	return len && len < CONFIG_NAME_MAX && !name[len];
}

static void config_no_option(const struct option_def *defs, const struct option_def *secret,
			     const char *name)
{
	struct suggest s;

	suggest_begin(&s, name, strlen(name));
	config_offer(&s, defs);
	config_offer(&s, secret);
	if (config_has_not(name))
		log_line("%s: goes on the command line, not into a file", name);
	else if (config_is_name(name))
		log_line("%s: no such option%s%s%s", name, s.word ? "; did you mean " : "",
			 s.word ?: "", s.word ? "?" : "");
	else
		log_line("the line has no option; it must be 'option = value'");
}

/* Returns whether the value fits the option. Logs a line if not. */
static bool config_takes(const struct config *c, const struct option_def *def, bool secret,
			 const char *value)
{
	if (secret && !c->private)
		log_line("%s: others can read this file; chmod 600 %s", def->name, c->path);
	else if (def->arg && !*value)
		log_line("%s: needs a value: %s = %s", def->name, def->name, def->arg);
	else if (!def->arg && *value && strcmp(value, "yes"))
		log_line("%s: takes no value; give '%s' alone, or '%s = yes'", def->name, def->name,
			 def->name);
	else
		return true;
	return false;
}

int config_next(struct config *c, const struct option_def *defs, const struct option_def *secret,
		bool some)
{
	for (;;) {
		char *name = config_line(c), *value = name && *name ? config_split(name) : NULL;
		const struct option_def *own, *def;

		if (name && !*name) {
			log_settings.where = NULL;
			return -1;
		}
		if (!name || !value) {
			if (name)
				log_line("must be 'option = value'");
			return '?';
		}
		own = config_find(secret, name);
		def = own ?: config_find(defs, name);
		if (!def && some)
			continue;
		if (!def)
			config_no_option(defs, secret, name);
		if (!def || !config_takes(c, def, own, value))
			return '?';
		optarg = def->arg ? value : NULL;
		return def->id;
	}
}

/* ---- the file and the command line ----------------------------------------------------------- */

static int config_id(const struct option_def *defs)
{
	while (strcmp(defs->name, CONFIG_OPTION))
		defs++;
	return defs->id;
}

int config_begin(struct config_options *o, int argc, char **argv)
{
	const char *path;
	int count = options_find(o->defs, o->foreign, config_id(o->defs), argc, argv, &path);

	o->file = (struct config){ .text = NULL };
	if (count > 1)
		log_line("--config %s: give one file", path);
	if (count > 1 || (count && config_open(&o->file, path)))
		return -EINVAL;
	return 0;
}

int config_option(struct config_options *o, int argc, char **argv)
{
	int id = o->file.text ? config_next(&o->file, o->defs, o->secret, false) : -1;

	while (id == -1) {
		id = options_next_foreign(o->defs, o->foreign, argc, argv);
		if (id != config_id(o->defs))
			break;
		id = -1;
	}
	return id;
}
