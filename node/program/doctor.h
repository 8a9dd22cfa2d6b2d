/* starswitch-node doctor: what is wrong between this PC and its hub, and what
 * to do about it.
 *
 * Measuring (link_test.h, sniff.h, this_pc.h) fills struct doctor_facts;
 * judging is a pure function of it: doctor_judge makes a finding of each row of
 * doctor.def that something is known of. Nothing is made or changed on this PC,
 * and the hub takes no notice but for its budget (hub/probe.h). */
#ifndef NODE_PROGRAM_DOCTOR_H
#define NODE_PROGRAM_DOCTOR_H

#include "core/options.h"
#include "core/status.h"
#include "core/time.h"
#include "net/facts.h"
#include "net/net.h"

enum doctor_check {
#define CHECK(NAME, name, what) CHECK_##NAME,
#include "node/program/doctor.def"
#undef CHECK
    CHECKS
};

enum {
    FINDING_BYTES = 240,
    CARD_NAME_BYTES = 20,
    SEGMENTS_TELLING = 300, /* fewer say nothing of losses */
    DOCTOR_FINDINGS = 2 * CHECKS
};

enum doctor_level { DOCTOR_OK, DOCTOR_WARN, DOCTOR_BAD };

struct finding {
    enum doctor_check check;
    enum doctor_level level;
    enum status status; /* what the exit code is of: of a bad one, and AGAIN
                           of a warning that something was not measured */
    char text[FINDING_BYTES], advice[FINDING_BYTES]; /* advice: or "" */
};

struct doctor_report {
    struct finding list[DOCTOR_FINDINGS];
    unsigned count;
};

/* What keys this PC has for the hub. */
enum doctor_key {
    DOCTOR_KEYLESS,   /* none was given */
    DOCTOR_OWN_KEY,   /* its own, which the hub should know */
    DOCTOR_ENROLMENT, /* it has not enrolled yet: the key that may only do so */
    DOCTOR_NO_KEY     /* the hub's key alone, and no own one */
};

/* What is not known is 0, but for what has a flag. */
struct doctor_facts {
    char host[ENDPOINT_HOST_BYTES];
    unsigned port;
    /* The link; what follows `answered` is known if that is true. */
    struct net_trouble trouble;      /* NONE: hands were shaken */
    unsigned places;                 /* addresses that its name has, */
    char place[ENDPOINT_HOST_BYTES]; /* and that which was taken; or "" */
    char looks_like[80];             /* of what is no hub; or "" */
    enum doctor_key key;
    bool reached;       /* hands were shaken */
    char farewell[160]; /* what the hub said instead of an answer */
    bool answered;      /* it knows link tests */
    unsigned protocol_min, protocol_max; /* the hub's */
    bool clock_known;
    nanos clock_ahead; /* of the hub's clock, before this PC's */
    unsigned trips;    /* that were measured */
    nanos trip_usual, trip_longest;
    struct net_trouble second; /* NONE: it is there, or was not tried */
    bool second_there;
    double up, down; /* bytes a second */
    bool up_at_least,
        down_at_least;             /* that, or more: it took too little time */
    bool stalled_up, stalled_down; /* short messages pass, long ones do not: */
    unsigned longest; /* packet that does, in bytes; 0: not even one of 576 */
    /* The connection for data ended, or fell silent, in the middle, with so
     * many bytes behind it, and the hub takes another one. */
    bool cut, cut_silently;
    uint64_t cut_after;
    bool budget_spent;    /* the hub gave no bytes to measure with */
    struct tcp_facts tcp; /* of the bulk connection, or control's */
    /* This PC. */
    /* Packets with data that the hub has sent over it, and again. */
    uint64_t hub_sent, hub_resent;
    /* The same of a second connection that filled no queue, both ways; 0: there
       was none. */
    uint64_t calm_sent, calm_resent, calm_hub_sent, calm_hub_resent;
    char card[CARD_NAME_BYTES]; /* the link's device, or "" */
    double card_rate;           /* bytes a second */
    bool wireless, half_duplex, loopback;
    unsigned governed, saving; /* cores with a governor; that save power */
    bool on_battery;
    unsigned cores;
    double load;          /* threads that want a core, over a minute */
    uint64_t elements;    /* of the model; 0: not known */
    bool elements_of_run; /* the hub said so */
    uint64_t memory;      /* bytes that are there to be used */
    bool memory_limited;  /* by a limit for this process's group */
    uint64_t disk;        /* bytes that are free */
    char folder[120];     /* where */
};

/* Appends findings to an empty report. Pure. */
void doctor_judge(const struct doctor_facts *facts,
                  struct doctor_report *report);
/* The status of the first that is bad, or else of the first that has one. */
enum status doctor_status(const struct doctor_report *report);
const char *doctor_check_name(enum doctor_check check);
const char *doctor_level_name(enum doctor_level level);

/* Does it all and prints; `options` are the node's, with the key read. */
int doctor_run(const struct options *options);

#endif
