// SPDX-License-Identifier: GPL-2.0
/* Policy: see policy.h. In: the file. Out: a grant per section, and the paths of its secrets.
 */
#include "policy.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/log.h"
#include "object.h"
#include "signature.h"
#include "trusted.h"

#define SECRET_MAX 256 /* bytes of its file */

/* The state of parsing. */
struct reader {
	struct module_policy *policy;
	struct module_grant *grant; /* of this section; NULL: [Keys], or none yet */
	bool keys;
	unsigned int line;
};

/* Strips blanks and the comment. */
static char *trim(char *text)
{
	char *end;

	text[strcspn(text, "#")] = 0;
	text += strspn(text, " \t\r");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r", end[-1]))
		*--end = 0;
	return text;
}

const struct module_grant *policy_grant(const struct module_policy *p, const char *name)
{
	const struct module_grant *all = NULL;

	for (unsigned int i = 0; i < p->count; i++) {
		if (!strcmp(p->grants[i].name, name))
			return &p->grants[i];
		if (!strcmp(p->grants[i].name, "*"))
			all = &p->grants[i];
	}
	return all;
}

static bool is_there(const struct module_policy *p, const char *name)
{
	const struct module_grant *g = policy_grant(p, name);

	return g && !strcmp(g->name, name);
}

static int section_begin(struct reader *r, char *text, char why[POLICY_WHY_LEN])
{
	size_t len = strlen(text);
	char *name = text + strlen("[Module");

	r->keys = !strcasecmp(text, "[Keys]");
	r->grant = NULL;
	if (r->keys)
		return 0;
	snprintf(why, POLICY_WHY_LEN, "%.60s: is no section; write [Module NAME] or [Keys]", text);
	if (strncasecmp(text, "[Module", 7) || text[len - 1] != ']' || !strchr(" \t", *name))
		return -EINVAL;
	text[len - 1] = 0;
	name = trim(name);
	snprintf(why, POLICY_WHY_LEN,
		 "%.60s: is no name of a module: letters, digits, '-' and '_', %d at most, or *",
		 name, MODULE_NAME_MAX);
	if (strcmp(name, "*") && !module_name_valid(name))
		return -EINVAL;
	snprintf(why, POLICY_WHY_LEN, "%s: has a section already; make one of the two", name);
	if (is_there(r->policy, name))
		return -EINVAL;
	snprintf(why, POLICY_WHY_LEN, "more than %d sections", POLICY_GRANTS_MAX);
	if (r->policy->count == POLICY_GRANTS_MAX)
		return -EINVAL;
	r->grant = &r->policy->grants[r->policy->count++];
	r->grant->line = r->line;
	strcpy(r->grant->name, name);
	return 0;
}

static int key_file(struct module_policy *p, const char *word, const char *value,
		    char why[POLICY_WHY_LEN])
{
	char *file = !strcasecmp(word, "Anonymise")    ? p->anonymise
		     : !strcasecmp(word, "Trajectory") ? p->trajectory
						       : NULL;

	snprintf(why, POLICY_WHY_LEN,
		 "%.60s: no such entry in [Keys]; there are Anonymise and "
		 "Trajectory",
		 word);
	if (!file)
		return -EINVAL;
	snprintf(why, POLICY_WHY_LEN, "%.60s: stands here twice", word);
	if (*file)
		return -EINVAL;
	snprintf(why, POLICY_WHY_LEN, "%.60s: must be a path from / on", value);
	if (*value != '/' || strlen(value) >= PATH_MAX)
		return -EINVAL;
	strcpy(file, value);
	return 0;
}

static int line_parse(struct reader *r, char *text, char why[POLICY_WHY_LEN])
{
	char *word = trim(text), *value = strchr(word, '=');

	if (!*word)
		return 0;
	if (*word == '[')
		return section_begin(r, word, why);
	if (value) {
		*value = 0;
		value = trim(value + 1);
		word = trim(word);
	}
	snprintf(why, POLICY_WHY_LEN, "%.60s: needs something behind it: %.60s = ...", word, word);
	if (!value || !*value || !*word)
		return -EINVAL;
	if (r->keys)
		return key_file(r->policy, word, value, why);
	snprintf(why, POLICY_WHY_LEN, "%.60s: belongs into a section; write [Module NAME] above it",
		 word);
	return r->grant ? grant_entry(r->grant, word, value, why) : -EINVAL;
}

/* Checks that [Keys] has the keys that grants need. The section may come last. */
static int keys_there(const struct module_policy *p, unsigned int *line, char why[POLICY_WHY_LEN])
{
	for (unsigned int i = 0; i < p->count; i++) {
		const struct module_grant *g = &p->grants[i];

		*line = g->line;
		snprintf(why, POLICY_WHY_LEN,
			 "[Module %s]: 'hashed' and 'prefix' need a key: "
			 "Anonymise = FILE in [Keys]",
			 g->name);
		if (grant_anonymises(g) && !*p->anonymise)
			return -EINVAL;
		snprintf(why, POLICY_WHY_LEN,
			 "[Module %s]: 'label' needs a key: Trajectory = FILE in [Keys]", g->name);
		if ((g->shown & VIEW_LABEL) && !*p->trajectory)
			return -EINVAL;
	}
	return 0;
}

int policy_parse(struct module_policy *p, const char *text, size_t len, char why[POLICY_WHY_LEN])
{
	struct reader r = { .policy = p };
	char *own = malloc(len + 1), *next = own, *line;
	char what[POLICY_WHY_LEN] = "there is no memory";
	int err = own ? 0 : -ENOMEM;

	memset(p, 0, sizeof(*p));
	if (own) {
		memcpy(own, text, len);
		own[len] = 0;
	}
	if (own && strlen(own) != len) {
		strcpy(what, "has a byte of 0 in it: is no text");
		err = -EINVAL;
	}
	while (!err && (line = strsep(&next, "\n"))) {
		r.line++;
		err = line_parse(&r, line, what);
	}
	err = err ?: keys_there(p, &r.line, what);
	if (err)
		snprintf(why, POLICY_WHY_LEN, "line %u: %.200s", r.line, what);
	free(own);
	return err;
}

int policy_read(struct module_policy *p, const char *path)
{
	int fd = trusted_open(path, false), err = fd < 0 ? fd : 0;
	char why[POLICY_WHY_LEN];
	uint8_t *text = NULL;
	size_t len;

	if (!err)
		err = file_read(fd, path, POLICY_MAX, &text, &len);
	if (!err && (err = policy_parse(p, (char *)text, len, why)))
		log_line("%s: %s", path, why);
	free(text);
	if (fd >= 0)
		close(fd);
	return err;
}

static int secret_read(uint8_t key[KEY_LEN], const char *path)
{
	int fd, err;
	uint8_t *text = NULL;
	size_t len = 0;

	memset(key, 0, KEY_LEN);
	if (!*path)
		return 0;
	fd = trusted_open(path, true);
	if (fd < 0)
		return fd;
	err = file_read(fd, path, SECRET_MAX, &text, &len);
	close(fd);
	if (!err && (strlen((char *)text) != len || key_from_text(key, (char *)text) ||
		     sodium_is_zero(key, KEY_LEN))) {
		log_line("%s: is no key; make one with 'saluki genpsk'", path);
		err = -EINVAL;
	}
	if (text)
		sodium_memzero(text, len);
	free(text);
	return err;
}

int policy_secrets(const struct module_policy *p, struct module_secrets *s)
{
	int err = secret_read(s->anonymise, p->anonymise);

	return err ?: secret_read(s->trajectory, p->trajectory);
}
