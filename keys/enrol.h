/* Enrolling at a hub: says ENROL over a connection of its own that bears the
 * enrolment key, and hears ENROLLED or BYE. Nothing waits: whoever runs the
 * loop asks about ten times a second how it stands. Of several hubs one is
 * tried after the other; one that does not answer, again and again. */
#ifndef KEYS_ENROL_H
#define KEYS_ENROL_H

#include "core/endpoint.h"
#include "net/keys.h"
#include "net/net.h"

struct enrol;

struct enrol_plan {
    struct endpoints hubs;
    struct key hub;
    struct key_pair enrolment;
    struct key node;  /* that is to be let in */
    const char *name; /* copied */
};

enum enrol_state {
    ENROL_WAITS,
    ENROL_DONE,
    ENROL_REFUSED, /* for good */
    ENROL_MISLED   /* the same: it was given the hub's second port */
};

/* UNAVAILABLE. */
enum status enrol_open(const struct enrol_plan *plan, struct enrol **out,
                       struct why *why) MUST_CHECK;
/* On one thread. Why not is in `why` once it is REFUSED or
 * MISLED. */
enum enrol_state enrol_step(struct enrol *enrol, nanos now, struct why *why);
/* What keeps it from the hub. */
const struct net_trouble *enrol_trouble(const struct enrol *enrol);
/* Wipes the keys. Waits as net_close does. Accepts NULL. */
void enrol_close(struct enrol **enrol);

#endif
