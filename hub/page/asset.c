#include "hub/page/asset.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

static char policy[512];

/* 'sha256-...' of what stands between two tags. */
static void add_hash(struct text *out, const char *open, const char *close)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char shown[sodium_base64_ENCODED_LEN(sizeof hash,
                                         sodium_base64_VARIANT_ORIGINAL)];
    const char *begin = strstr((const char *)page_bytes, open), *end;

    assert(begin);
    begin += strlen(open);
    end = strstr(begin, close);
    assert(end);
    (void)crypto_hash_sha256(hash, (const unsigned char *)begin,
                             (unsigned long long)(end - begin));
    (void)sodium_bin2base64(shown, sizeof shown, hash, sizeof hash,
                            sodium_base64_VARIANT_ORIGINAL);
    text_add(out, "'sha256-%s'", shown);
}

void asset_begin(void)
{
    struct text out;

    if (policy[0])
        return;
    text_init(&out, policy, sizeof policy);
    text_add(&out, "default-src 'self'; script-src ");
    add_hash(&out, "<script>", "</script>");
    text_add(&out, "; style-src ");
    add_hash(&out, "<style>", "</style>");
    text_add(&out, "; img-src 'self' data:; base-uri 'none'; "
                   "form-action 'none'; frame-ancestors 'none'");
    assert(!out.cut);
}

const char *asset_policy(void)
{
    return policy;
}

const char *asset_page(size_t *size)
{
    *size = page_size;
    return (const char *)page_bytes;
}
