// SPDX-License-Identifier: GPL-2.0
/* Build: see build.h. */
#include "build.h"

#include <string.h>

uint8_t *put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
	return p + 4;
}

uint8_t *put16(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, 2);
	return p + 2;
}

uint8_t *put_padding(uint8_t *p, size_t len)
{
	memset(p, 0, -len & 3);
	return p + (-len & 3);
}

uint8_t *put_option(uint8_t *p, uint16_t code, const void *value, uint16_t len)
{
	p = put16(put16(p, code), len);
	memcpy(p, value, len);
	return put_padding(p + len, len);
}

uint8_t *block_begin(uint8_t *block, uint32_t type)
{
	return put32(block, type) + 4;
}

size_t block_end(uint8_t *block, uint8_t *p)
{
	uint32_t len;

	p = put32(p, 0); /* the options' end */
	len = p + 4 - block;
	put32(p, len);
	put32(block + 4, len);
	return len;
}

size_t block_section(uint8_t *block, const char *application, const char *comment)
{
	uint8_t *p = block_begin(block, BLOCK_SECTION);

	p = put16(put16(put32(p, SECTION_MAGIC), 1), 0);
	memset(p, 0xff, 8); /* the section's length is not known */
	p += 8;
	if (comment)
		p = put_option(p, OPT_COMMENT, comment, strlen(comment));
	return block_end(block, put_option(p, SHB_APPLICATION, application, strlen(application)));
}

size_t block_interface(uint8_t *block, const uint8_t *options, size_t len)
{
	static const uint8_t ns = 9;
	uint8_t *p = block_begin(block, BLOCK_INTERFACE);

	p = put32(put16(put16(p, LINKTYPE_RADIOTAP), 0), 0);
	memcpy(p, options, len);
	return block_end(block, put_option(p + len, IF_TSRESOL, &ns, 1));
}

size_t block_interface_named(uint8_t *block, const char *name, const char *description)
{
	uint8_t options[BLOCK_TEXT_MAX], *p = options;

	p = put_option(p, IF_NAME, name, strlen(name));
	p = put_option(p, IF_DESCRIPTION, description, strlen(description));
	return block_interface(block, options, p - options);
}

size_t block_statistics(uint8_t *block, uint32_t interface, uint64_t ns, uint64_t received,
			const char *comment)
{
	uint8_t *p = block_begin(block, BLOCK_STATISTICS);

	p = put32(put32(put32(p, interface), ns >> 32), ns);
	p = put_option(p, ISB_RECEIVED, &received, 8);
	if (comment)
		p = put_option(p, OPT_COMMENT, comment, strlen(comment));
	return block_end(block, p);
}

uint8_t *block_packet(uint8_t *block, uint32_t interface, uint64_t ns, const uint8_t *frame,
		      uint32_t kept, uint32_t whole)
{
	uint8_t *p = block_begin(block, BLOCK_PACKET);

	p = put32(put32(put32(p, interface), ns >> 32), ns);
	p = put32(put32(p, kept), whole);
	memcpy(p, frame, kept);
	return put_padding(p + kept, kept);
}
