// SPDX-License-Identifier: GPL-2.0
/* Topic errors: see topic_error.h. */
#include "topic_error.h"

#include <stdio.h>
#include <string.h>

#define PREFIX_DEFAULT "saluki"

void topic_missing(char *why, size_t size, const char *name)
{
	const char *dot = strrchr(name, '.');
	int len = dot ? dot - name : 0;

	if (len == strlen(PREFIX_DEFAULT) && !strncmp(name, PREFIX_DEFAULT, len))
		len = 0;
	snprintf(why, size, "topic %s is missing; create it with 'saluki-kafka topics%s%.*s'", name,
		 len ? " --topic-prefix " : "", len, name);
}

bool topic_error(rd_kafka_resp_err_t err, const char *topic, char why[TOPIC_ERROR_MAX])
{
	switch (err) {
	case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
	case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
	case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
		topic_missing(why, TOPIC_ERROR_MAX, topic);
		return true;
	case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
		snprintf(why, TOPIC_ERROR_MAX,
			 "topic %s: the brokers forbid this user to read; allow the operation Read",
			 topic);
		return true;
	case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
		snprintf(why, TOPIC_ERROR_MAX,
			 "the brokers forbid this user the group; allow the operation Read of the "
			 "group");
		return true;
	default:
		return false;
	}
}
