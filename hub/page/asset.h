/* The page itself: one document of HTML with its style and its script, which
 * the Makefile puts into the program (tools/embed). Inside of hub/page. */
#ifndef HUB_PAGE_ASSET_H
#define HUB_PAGE_ASSET_H

#include <stddef.h>

/* What the Makefile makes of page.html, page.css and page.js. */
extern const unsigned char page_bytes[]; /* and a NUL */
extern const size_t page_size;

/* The document; never changes. */
const char *asset_page(size_t *size);
/* The value of Content-Security-Policy: only the document's own script and
 * style, known by their hashes, and only this server. */
const char *asset_policy(void);
/* To be called once, before the others; before there are threads. */
void asset_begin(void);

#endif
