/* What Debian's libmicrohttpd.a asks of GnuTLS, for programs that need the C
 * library alone (PORTABLE=1): not all that GnuTLS itself needs is to be had as
 * archives. The page's server never asks for TLS, so that of these only the
 * first two are called; the others say that there is none. */
#ifdef STAR_PORTABLE

enum { GNUTLS_E_UNIMPLEMENTED_FEATURE = -1250 };

#define SAYS(name, value)                                                      \
    int name(void);                                                            \
    int name(void)                                                             \
    {                                                                          \
        return value;                                                          \
    }
#define NONE(name) SAYS(gnutls_##name, GNUTLS_E_UNIMPLEMENTED_FEATURE)

SAYS(gnutls_global_init, 0)
SAYS(gnutls_global_deinit, 0)
NONE(alpn_set_protocols)
NONE(bye)
NONE(certificate_allocate_credentials)
NONE(certificate_free_credentials)
NONE(certificate_server_set_request)
NONE(certificate_set_dh_params)
NONE(certificate_set_retrieve_function2)
NONE(certificate_set_retrieve_function3)
NONE(certificate_set_x509_key_mem)
NONE(certificate_set_x509_key_mem2)
NONE(certificate_set_x509_trust_mem)
NONE(cipher_get)
NONE(credentials_set)
NONE(deinit)
NONE(dh_params_deinit)
NONE(dh_params_import_pkcs3)
NONE(dh_params_init)
NONE(handshake)
NONE(init)
NONE(priority_deinit)
NONE(priority_init)
NONE(priority_set)
NONE(protocol_get_version)
NONE(psk_allocate_server_credentials)
NONE(psk_free_server_credentials)
NONE(psk_set_server_credentials_function)
NONE(record_check_pending)
NONE(record_get_direction)
NONE(record_recv)
NONE(record_send)
NONE(session_get_ptr)
NONE(session_set_ptr)
NONE(transport_set_int2)

void *gnutls_malloc;
const char *gnutls_strerror(int code);
const char *gnutls_strerror(int code)
{
    (void)code;
    return "no TLS";
}

#else
enum { WITH_TLS = 1 };
#endif
