/* Bytes of a journal's frames: numbers of 8 bytes, little-endian, and strings
 * behind their length. Written to a buffer that grows; read from one of unknown
 * content, where whatever is beyond its end reads as nothing and is remembered,
 * so that only the end must be asked. */
#ifndef RECORD_FORM_H
#define RECORD_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/msg.h"

/* Zeroed at first; free bytes. */
struct form {
    unsigned char *bytes;
    size_t length, room;
};

void form_bytes(struct form *form, const void *bytes, size_t size);
void form_number(struct form *form, uint64_t number);
void form_real(struct form *form, double number);
/* Its length, and the bytes. */
void form_string(struct form *form, const void *bytes, size_t size);
/* All fields of the message, exactly. */
void form_message(struct form *form, const struct msg *msg);

struct formed {
    const unsigned char *at;
    size_t left;
    bool bad; /* something was not there, or makes no sense */
};

uint64_t formed_number(struct formed *formed);
/* A number below `limit`; 0 and bad, if it is not. */
unsigned formed_below(struct formed *formed, unsigned limit);
double formed_real(struct formed *formed);
/* Borrowed; NULL and 0 if it is not there. */
const unsigned char *formed_string(struct formed *formed, size_t *size);
/* A string of less than `room` bytes, with a NUL. */
void formed_text(struct formed *formed, char *text, size_t room);
void formed_message(struct formed *formed, struct msg *msg);

#endif
