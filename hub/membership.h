/* Who is connected, who of them is a member, and what keys say about it: the
 * first part of what the files of hub/ do for each other, which goes on in
 * hub/journeys.h. Included by that. */
#ifndef HUB_MEMBERSHIP_H
#define HUB_MEMBERSHIP_H

#include "hub/state.h"

/* roll.c: connections and members, found in constant time */
/* NULL when it is not there. */
struct peer *peer_find(struct hub *hub, peer_id id);
/* NULL when there are too many. */
struct peer *peer_add(struct hub *hub, peer_id id);
/* It can be read until the next step. */
void peer_remove(struct hub *hub, struct peer *peer);
/* A new place, which is nobody's yet. */
struct member *member_add(struct hub *hub);
/* Empties its place for another node. What it has in rounds stays there. */
void member_clear(struct hub *hub, struct member *member);
void member_name_is(struct hub *hub, struct member *member, uint64_t high,
                    uint64_t low);
void member_session_is(struct hub *hub, struct member *member,
                       uint64_t session);
/* NULL when there is none. */
struct member *member_named(const struct hub *hub, uint64_t high,
                            uint64_t low);
struct member *member_of_session(const struct hub *hub, uint64_t session);
/* Counts it as what it is now. To be called after each change of what a tally
 * is about. */
void member_recount(struct hub *hub, struct member *member);
/* Takes part in rounds now. */
bool member_live(const struct member *member);
void roll_free(struct hub *hub);
const char *roll_check(const struct hub *hub);

/* strangers.c: connections that are nobody's, for half a minute */
/* From now on it has to become somebody's. */
void stranger_waits(struct hub *hub, struct peer *peer);
/* It need not any more. */
void stranger_leaves(struct hub *hub, struct peer *peer);
void strangers_tick(struct hub *hub);

/* members.c */
void peer_joins(struct hub *hub, const struct event *event);
void peer_leaves(struct hub *hub, peer_id id);
void member_send(struct hub *hub, struct member *member,
                 const struct msg *msg);
void member_welcome(struct hub *hub, struct member *member);
void member_start(struct hub *hub, struct member *member, enum start start);
/* Tells nodes what is new for them: k, and what they offer. */
void members_tune(struct hub *hub);
/* Tells those whose speed has changed, with --dylu. */
void members_pace(struct hub *hub);
/* Tells everybody how many they are and which part of the data is theirs. */
void view_push(struct hub *hub);
/* Where they are many, all that is new since the last time. */
void view_tick(struct hub *hub);
void bye_to(struct hub *hub, peer_id peer, enum farewell farewell,
            const char *text);
/* Ends what the member has under way here: offers, results, tasks, founding. */
void member_forget(struct hub *hub, struct member *member);
void member_gone(struct hub *hub, struct member *member, const char *why,
                 bool clean);
/* Cuts it for what it did, which a note says. */
void member_offends(struct hub *hub, struct member *member,
                    const char *format, ...) FORMAT(3, 4);
/* Centre versions (sync) or rounds of all nodes (async) since `base`;
 * UINT64_MAX if the centre has been rolled back since. */
uint64_t members_lag(const struct hub *hub, uint64_t base);
/* Whether an offer may depart from there. */
bool members_may_lag(const struct hub *hub, uint64_t base);
unsigned members_live(const struct hub *hub);
/* Whether somebody who was lost seconds ago, without a goodbye, may come back
 * with its last offer. */
bool members_return(const struct hub *hub);
unsigned members_counted(const struct hub *hub); /* N of the policies */
void hub_on_attach(struct hub *hub, struct peer *peer, const struct msg *msg,
                   struct blob *payload);
void hub_on_stray(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload);
/* A first word of the control channel, on the other one. */
void hub_on_misled(struct hub *hub, struct peer *peer, const struct msg *msg,
                   struct blob *payload);
void hub_on_bye(struct hub *hub, struct peer *peer, const struct msg *msg,
                struct blob *payload);

/* heard.c */
void members_tick(struct hub *hub);
void member_heard(struct hub *hub, struct member *member);
void hub_on_ping(struct hub *hub, struct peer *peer, const struct msg *msg,
                 struct blob *payload);
void hub_on_arriving(struct hub *hub, struct peer *peer,
                     const struct msg *msg, struct blob *payload);

/* names.c */
/* Gives it this name, if nobody else has it, or else one like it. */
void member_name(struct hub *hub, struct member *member, const char *name);

/* hello.c */
/* What a node that is here must do first. */
enum start member_first_thing(const struct hub *hub,
                              const struct member *member);
void hub_on_hello(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload);

/* enrol.c */
void hub_on_enrol(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload);
void hub_on_admitted(struct hub *hub, struct peer *operator,
                     const struct msg *msg, struct blob *payload);
void hub_on_revoked(struct hub *hub, struct peer *operator,
                    const struct msg *msg, struct blob *payload);
/* A peer is gone that may have asked to enrol. */
void enrol_leaves(struct hub *hub, peer_id peer);
void hub_on_known(struct hub *hub, struct peer *operator,
                  const struct msg *msg, struct blob *payload);
void known_free(struct hub *hub);
/* HELLO with the uuid, and if the operator knows it the name, of the key that
 * the peer has proved to hold. */
struct msg_hello key_identify(const struct hub *hub, const struct peer *peer,
                              const struct msg_hello *hello);
/* Whether the operator has a name for it. */
bool key_is_known(const struct hub *hub, uint64_t key);
/* Whether a bulk connection bears the key of the member's control one. */
bool key_attaches(struct hub *hub, const struct peer *bulk,
                  const struct member *member);
/* A number that nobody can guess, whatever others he knows, as long as
 * hub_config.secret is one; and no life of the hub has given it before. */
uint64_t session_secret(struct hub *hub);

#endif
