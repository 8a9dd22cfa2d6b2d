/* What a station is ordered to do; see net/station.h. */
#include <stdlib.h>
#include <unistd.h>

#include "core/need.h"
#include "net/station_inside.h"

#define LINGER (2 * SECOND)

static void put(struct station *station, struct order *order)
{
    bool was_empty;

    order->next = NULL;
    (void)pthread_mutex_lock(&station->lock);
    was_empty = !station->orders;
    *station->orders_end = order;
    station->orders_end = &order->next;
    (void)pthread_mutex_unlock(&station->lock);
    if (was_empty)
        bell_ring(&station->bell);
}

static void give(struct station *station, const struct order *what)
{
    struct order *order = need_memory(1, sizeof *order);

    *order = *what;
    put(station, order);
}

void station_send(struct station *station, uint64_t number,
                  const unsigned char *header, size_t size,
                  struct blob *payload)
{
    struct order order = {.kind = ORDER_SEND,
                          .number = number,
                          .entry =
                              queue_entry_new(number, header, size, payload)};

    give(station, &order);
}

void station_cut(struct station *station, uint64_t number, bool gently)
{
    struct order order = {
        .kind = ORDER_CUT, .number = number, .gently = gently};

    give(station, &order);
}

void station_connect(struct station *station, const struct address *address)
{
    struct order order = {.kind = ORDER_GO,
                          .address = need_memory(1, sizeof *order.address)};

    *order.address = *address;
    give(station, &order);
}

void station_limit(struct station *station, size_t payload_bytes)
{
    struct order order = {.kind = ORDER_LIMIT, .bytes = payload_bytes};

    give(station, &order);
}

void station_measure(struct station *station, uint64_t number)
{
    struct order order = {.kind = ORDER_MEASURE, .number = number};

    give(station, &order);
}

void station_calm(struct station *station, uint64_t number, uint64_t rate,
                  unsigned window)
{
    struct order order = {
        .kind = ORDER_CALM, .number = number, .bytes = rate, .window = window};

    give(station, &order);
}

void station_sweep(struct station *station)
{
    struct order order = {.kind = ORDER_SWEEP};

    give(station, &order);
}

void station_stop(struct station *station)
{
    struct order *order = station && station->runs ? station->last : NULL;

    if (!order)
        return;
    station->last = NULL;
    order->kind = ORDER_STOP;
    put(station, order);
}

struct notice *station_pop(struct station *station)
{
    return notices_pop(&station->notices);
}

static void put_entry(struct station *station, struct order *order)
{
    struct link *link = index_find(&station->numbers, order->number, 0);
    bool idle;

    if (!link || link->broken || link->stage == LINK_ENDING ||
        link->stage == LINK_DEAD) {
        queue_entry_destroy(&order->entry);
        return;
    }
    idle = !link->first;
    if (!link_queue(link, order->entry, station->plan.send_limit)) {
        station_gone(link, "was cut: it does not take what it is sent");
        return;
    }
    if (!idle)
        return;
    if (!link_flush(link, station->pool)) {
        link->broken = true;
        link_discard(link);
    }
    station_watch(link);
}

static void cut(struct station *station, const struct order *order)
{
    struct link *link = index_find(&station->numbers, order->number, 0);

    if (!link)
        return;
    link->announced = false;
    station_end(link, order->gently);
}

static void measure(struct station *station, const struct order *order)
{
    struct link *link = index_find(&station->numbers, order->number, 0);
    struct notice *notice;

    if (!link || !link->announced)
        return;
    notice = notice_new(NOTICE_MEASURED);
    notice->number = link->number;
    tcp_facts_read(link->fd, &notice->facts);
    station_tell(link, notice);
}

static void calm(struct station *station, const struct order *order)
{
    struct link *link = index_find(&station->numbers, order->number, 0);

    if (link)
        tcp_calm(link->fd, order->bytes, order->window);
}

/* What is coming already is not looked at again. */
static void limit(struct station *station, size_t bytes)
{
    station->zmtp.payload_bytes = bytes;
    for (struct link *link = station->oldest; link; link = link->next)
        link->zmtp.plan.payload_bytes = bytes;
}

static void stop(struct station *station)
{
    station->stop_at = station->now + LINGER;
    station->held = true;
    if (station->listener >= 0)
        (void)close(station->listener);
    station->listener = -1;
    for (struct link *link = station->oldest; link; link = link->next) {
        link->announced = false;
        station_end(link, link->stage == LINK_KNOWN);
    }
}

static void carry_out(struct station *station, struct order *order)
{
    switch (order->kind) {
    case ORDER_SEND:
        put_entry(station, order);
        break;
    case ORDER_CUT:
        cut(station, order);
        break;
    case ORDER_GO:
        dial_go(station, order->address);
        free(order->address);
        break;
    case ORDER_LIMIT:
        limit(station, order->bytes);
        break;
    case ORDER_MEASURE:
        measure(station, order);
        break;
    case ORDER_CALM:
        calm(station, order);
        break;
    case ORDER_SWEEP:
        gate_sweep(station);
        break;
    case ORDER_STOP:
        stop(station);
        break;
    }
}

static struct order *take_orders(struct station *station)
{
    struct order *first;

    (void)pthread_mutex_lock(&station->lock);
    first = station->orders;
    station->orders = NULL;
    station->orders_end = &station->orders;
    (void)pthread_mutex_unlock(&station->lock);
    return first;
}

void orders_obey(struct station *station)
{
    struct order *order;
    struct link *link;

    bell_hush(&station->bell);
    order = take_orders(station);
    while (order) {
        struct order *next = order->next;

        carry_out(station, order);
        free(order);
        order = next;
    }
    while ((link = notices_resumed(&station->notices)) != NULL) {
        link->paused = false;
        link_go_on(link);
        station_watch(link);
    }
}

void orders_discard(struct station *station)
{
    struct order *order = take_orders(station);

    while (order) {
        struct order *next = order->next;

        queue_entry_destroy(&order->entry);
        free(order->address);
        free(order);
        order = next;
    }
}
