// SPDX-License-Identifier: GPL-2.0
/* Check: see check.h. */
#include "check.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"
#include "common/privsep.h"
#include "elf.h"
#include "lines.h"
#include "link.h"
#include "maps.h"
#include "object.h"
#include "serial.h"
#include "shape.h"
#include "verify.h"
#include "wants.h"
#include "words.h"

/* The state of one check. */
struct check {
	struct module_checked *out;
	const struct module_request *r;
	struct module_lines lines;
	struct module_object object, linked;
	struct module_policy policy;
	struct module_wants wants;
	struct bpf_object *obj;
};

/* ---- who answers for it ---------------------------------------------------------------------- */

/* Without a signature, the module's name is its file's name up to the first dot. */
static void name_by_file(char name[MODULE_NAME_MAX + 1], const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	snprintf(name, MODULE_NAME_MAX + 1, "%.*s", (int)strcspn(base, "."), base);
}

static void signature_check(struct check *c, const char *path)
{
	struct module_signature *s = &c->out->signature;
	struct module_lines *l = &c->lines;
	const char *why = NULL;
	uint8_t *text = NULL;
	size_t len;

	if (file_open_read(path, SIGNATURE_TEXT_MAX, &text, &len)) {
		lines_refused(l, "to be taken unsigned", "sign it: saluki module sign");
	} else if (signature_parse(s, (char *)text, len, &why)) {
		lines_refused(l, "to be taken by its signature", "%s %s", path, why);
	} else if (memcmp(s->object, c->object.hash, OBJECT_HASH_LEN)) {
		lines_refused(l, "to be taken by its signature",
			      "it is of another object: this one was altered, or compiled again; "
			      "sign it anew");
	} else if (!signature_valid(s)) {
		lines_refused(l, "to be taken by its signature",
			      "it is not by the key that it names: forged, or altered");
	}
	free(text);
	if (!*s->name)
		name_by_file(s->name, c->r->object);
}

static void serial_check(struct check *c)
{
	const struct module_signature *s = &c->out->signature;
	char what[64];
	uint64_t highest;

	snprintf(what, sizeof(what), "serial %" PRIu64, s->serial);
	if (serial_read(s->name, &highest))
		lines_refused(&c->lines, what, "the highest so far cannot be read");
	else if (s->serial < highest)
		lines_refused(&c->lines, what,
			      "%" PRIu64
			      " was loaded already: this is an older one; sign it with a "
			      "higher --serial, if it shall be loaded again",
			      highest);
	else
		lines_granted(&c->lines, "%s (highest loaded: %" PRIu64 ")", what, highest);
}

static void grant_check(struct check *c)
{
	const struct module_signature *s = &c->out->signature;
	const struct module_grant *g = policy_grant(&c->policy, s->name);
	char what[64], key[KEY_TEXT_LEN];

	snprintf(what, sizeof(what), "to run as %s", s->name);
	if (!g) {
		lines_refused(&c->lines, what, "the policy has no section for it: [Module %s]",
			      s->name);
		return; /* without a policy there are no grants */
	}
	c->out->grant = *g;
	lines_granted(&c->lines, "%s ([Module %s], line %u)", what, g->name, g->line);
	if (sodium_is_zero(s->key, KEY_LEN))
		return; /* there is no signature */
	key_to_text(key, s->key);
	if (grant_key(g, s->key))
		lines_granted(&c->lines, "key %s", key);
	else
		lines_refused(&c->lines, "to be signed by another",
			      "the policy does not have this key: Key = %s", key);
	if (s->interface != MODULE_INTERFACE)
		lines_refused(&c->lines, "another interface",
			      "it was made for version %u, this saluki has %u; compile and sign it "
			      "anew",
			      s->interface, MODULE_INTERFACE);
	serial_check(c);
}

static void interface_check(struct check *c)
{
	char what[64];

	if (!c->r->interface)
		return;
	snprintf(what, sizeof(what), "interface %.32s", c->r->interface);
	if (grant_for_interface(&c->out->grant, c->r->interface))
		lines_granted(&c->lines, "%s", what);
	else
		lines_refused(&c->lines, what, "the policy does not name it: Interface = %s",
			      c->r->interface);
}

/* ---- what it calls --------------------------------------------------------------------------- */

static void helper_check(struct check *c, uint32_t number)
{
	const char *name = words_helper_name(number);
	char what[96];

	snprintf(what, sizeof(what), "helper %s", name);
	if (!words_helper_grantable(number))
		lines_refused(&c->lines, what, "no policy can grant it; do without");
	else if (!grant_helper(&c->out->grant, number))
		lines_refused(&c->lines, what, "the policy does not name it: Helper = %s", name);
	else
		lines_granted(&c->lines, "%s", what);
}

static void denied_check(struct check *c)
{
	for (unsigned int i = 0; i < WANTS_DENIED; i++)
		if (c->wants.denied[i])
			lines_refused(&c->lines, wants_denied_names[i],
				      "no policy can grant it; do without");
}

/* ---- what it remembers ----------------------------------------------------------------------- */

static bool is_view(const struct bpf_map *map)
{
	return !strcmp(bpf_map__name(map), SHAPE_VIEW);
}

/* The view's map, as in bpf/module.h. */
static bool is_shims(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY &&
	       bpf_map__key_size(map) == sizeof(__u32) &&
	       bpf_map__value_size(map) == sizeof(struct frame_view) &&
	       bpf_map__max_entries(map) == 1 && !bpf_map__map_flags(map) &&
	       !bpf_map__pin_path(map);
}

static void map_check(struct check *c, const struct bpf_map *map)
{
	const char *type = words_map_type_name(bpf_map__type(map)) ?: "?";
	const char *denied = maps_denied(map);
	char what[160];

	snprintf(what, sizeof(what), "map %.64s (%s, %u of %u + %u bytes)", bpf_map__name(map),
		 type, bpf_map__max_entries(map), bpf_map__key_size(map), bpf_map__value_size(map));
	if (denied)
		lines_refused(&c->lines, what, "%s", denied);
	else if (!grant_map_type(&c->out->grant, bpf_map__type(map)))
		lines_refused(&c->lines, what, "the policy does not name its type: Map = %s", type);
	else
		lines_granted(&c->lines, "%s", what);
}

static void memory_check(struct check *c, const char *how, uint64_t bytes)
{
	uint64_t granted = c->out->grant.map_memory, wanted = (bytes + 1023) / 1024;
	char what[96];

	if (bytes > c->out->map_memory)
		c->out->map_memory = bytes; /* some maps grow as they fill */
	snprintf(what, sizeof(what), "map memory, %s %" PRIu64 "K", how, wanted);
	if (bytes == UINT64_MAX)
		lines_refused(&c->lines, "map memory without a bound", "make the maps smaller");
	else if (bytes > granted)
		lines_refused(&c->lines, what,
			      "the policy grants %" PRIu64 "K: MapMemory = %" PRIu64 "K",
			      granted / 1024, wanted);
	else if (bytes)
		lines_granted(&c->lines, "%s of %" PRIu64 "K", what, granted / 1024);
}

static void maps_check(struct check *c)
{
	uint64_t bytes = 0, one;
	unsigned int views = 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, c->obj)
	{
		if (is_view(map)) {
			views += is_shims(map) ? 1 : 2;
			continue;
		}
		map_check(c, map);
		one = maps_bytes(map);
		bytes = one > UINT64_MAX - bytes ? UINT64_MAX : bytes + one;
	}
	if (views != 1)
		lines_refused(&c->lines, "to be linked", "it is another thing afterwards");
	memory_check(c, "at most", bytes);
}

/* ---- the object ------------------------------------------------------------------------------ */

static bool is_wrong(struct check *c, int err, const char *what, const char *why)
{
	if (err)
		lines_refused(&c->lines, what, "%s", why);
	return err != 0;
}

/* Checks the object as read: only our own code has parsed it. */
static int shape_of_object(struct check *c)
{
	char why[ELF_WHY_LEN] = "";
	unsigned int before;
	struct elf e;
	int err = elf_open(&e, c->object.data, c->object.len, why);

	if (is_wrong(c, err, "to be read as an object for BPF", why))
		return err;
	before = c->lines.refused;
	err = shape_check(&e, NULL, &c->wants, &c->lines);
	denied_check(c);
	/* libbpf gets only objects that are modules. */
	if (!err && c->lines.refused > before)
		err = -EPERM;
	for (uint32_t i = 0; i < GRANT_HELPERS; i++)
		if (c->wants.helpers[i / 64] >> i % 64 & 1)
			helper_check(c, i);
	return err;
}

/* Checks the linked object, which libbpf will open. It must give no new lines. */
static int shape_of_linked(struct check *c)
{
	struct module_lines none = { 0 };
	struct module_wants wants = { 0 };
	char why[ELF_WHY_LEN] = "";
	struct elf e;
	int err = elf_open(&e, c->linked.data, c->linked.len, why);

	err = err ?: shape_check(&e, module_shim(c->r->hook).section, &wants, &none);
	if (none.refused || err)
		lines_refused(&c->lines, "to be linked", "it is another thing afterwards%s%s",
			      *why ? ": " : "", why);
	return err ?: none.refused ? -EPERM : 0;
}

static int link_and_open(struct check *c)
{
	char why[LINK_WHY_LEN] = "";
	int err = link_module(&c->linked, &c->object, c->r->hook, why);

	if (is_wrong(c, err, "to be linked", why))
		return err;
	err = shape_of_linked(c);
	if (err)
		return err;
	err = verify_open(&c->obj, &c->linked, c->out->signature.name, c->r->hook, why);
	return is_wrong(c, err, "to be opened", why) ? err : 0;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static bool can_load(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct have[2] = { 0 };

	return syscall(SYS_capget, &head, have) == 0 && (have[0].effective >> CAP_SYS_ADMIN & 1);
}

/* Checks whether the policy accepts the proof. */
static void proof_check(struct check *c)
{
	const struct verified *v = &c->out->verified;

	if (v->proof == PROOF_KERNEL || c->out->grant.proof != GRANT_PROOF_KERNEL)
		lines_granted(&c->lines, "to run in the kernel, proof %s", proof_name(v->proof));
	else if (proof_is_unguarded())
		lines_refused(&c->lines, "to run in the kernel, proof saluki",
			      "the policy says Proof = kernel, and the kernel's verifier finds: %s",
			      v->unproved);
	else
		lines_refused(&c->lines, "to run in the kernel, proof saluki",
			      "the policy says Proof = kernel, and this kernel cannot prove it "
			      "while it guards against Spectre (%s); boot Linux 6.7 or later with "
			      "mitigations=off, which leaves the whole machine unguarded, or "
			      "remove Proof = kernel",
			      v->unproved);
}

static void instructions_check(struct check *c)
{
	uint32_t n = c->out->verified.instructions, granted = c->out->grant.instructions;
	char what[64];

	snprintf(what, sizeof(what), "%u instructions a frame, at most", n);
	if (!n)
		lines_refused(&c->lines, "instructions without a bound",
			      "this kernel does not say how many there are (Linux before 5.2)");
	else if (n > granted)
		lines_refused(&c->lines, what, "the policy grants %u: Instructions = %u", granted,
			      n);
	else
		lines_granted(&c->lines, "%s, of %u", what, granted);
}

static int load_check(struct check *c)
{
	char why[VERIFY_WHY_LEN] = "";
	int err = policy_secrets(&c->policy, &c->out->secrets);

	if (err)
		return err;
	err = verify_load(c->obj, &c->out->grant, c->r->hook, c->r->view_fd, &c->out->verified,
			  why);
	if (is_wrong(c, err, "to run in the kernel", why))
		return -EPERM;
	proof_check(c);
	instructions_check(c);
	memory_check(c, "measured", verify_map_memory(c->obj));
	return 0;
}

static int load_or_say(struct check *c)
{
	if (can_load())
		return load_check(c);
	if (c->r->lines)
		fputs("not checked, for it takes root: instructions a frame, where addresses go, "
		      "measured map memory\n",
		      c->r->lines);
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int read_all(struct check *c)
{
	char *path = NULL;
	int err;

	if (sodium_init() < 0)
		return -ENOSYS;
	err = policy_read(&c->policy, c->r->policy ?: POLICY_DEFAULT);
	err = err ?: object_read(&c->object, c->r->object);
	if (!err && asprintf(&path, "%s.sig", c->r->object) < 0)
		return -ENOMEM;
	if (!err)
		signature_check(c, path);
	free(path);
	return err;
}

static int check_all(struct check *c)
{
	int err;

	grant_check(c);
	interface_check(c);
	if (c->r->lines)
		grant_print_shown(&c->out->grant, c->r->lines);
	err = shape_of_object(c);
	err = err ?: link_and_open(c);
	if (err)
		return -EPERM;
	maps_check(c);
	if (c->lines.refused)
		return -EPERM;
	err = load_or_say(c);
	return err ?: c->lines.refused ? -EPERM : 0;
}

int module_check(struct module_checked *out, const struct module_request *r)
{
	struct check *c = calloc(1, sizeof(*c));
	int err;

	memset(out, 0, sizeof(*out));
	if (!c)
		return -ENOMEM;
	c->out = out;
	c->r = r;
	c->lines.out = r->lines;
	err = read_all(c);
	err = err ?: check_all(c);
	if (!err && bpf_program__fd(verify_program(c->obj)) >= 0) {
		out->obj = c->obj;
		out->prog = verify_program(out->obj);
		c->obj = NULL;
	}
	bpf_object__close(c->obj);
	object_free(&c->linked);
	object_free(&c->object);
	free(c);
	return err;
}

void module_checked_free(struct module_checked *c)
{
	bpf_object__close(c->obj);
	sodium_memzero(&c->secrets, sizeof(c->secrets));
	c->obj = NULL;
	c->prog = NULL;
}
