/* Those who follow the hub: connections that take the stream's events as they
 * come. Inside of hub/page. */
#ifndef HUB_PAGE_FOLLOW_H
#define HUB_PAGE_FOLLOW_H

#include "hub/page/visit.h"

/* So many of the visitors at most, so that others are served, too. */
enum { FOLLOWERS = 24 };
/* Who takes nothing for so long yields to a new one. */
#define FOLLOW_STANDS (5 * SECOND)

/* The response whose body has no end; NULL: no memory, or too many follow. */
struct MHD_Response *follow_begin(struct visitor *visitor);
/* It does not follow any more. */
void follow_end(struct visitor *visitor);
/* Who has something to read goes on; who lags too far behind is cut off. */
void follow_tick(struct web *web);
unsigned follow_count(const struct web *web);

#endif
