#include "net/facts.h"

#include <netdb.h>
#include <netinet/in.h>
/* Not netinet/tcp.h, whose struct is that of 2007. */
#include <linux/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "net/net.h"

enum { IP4_AND_TCP = 40, IP6_AND_TCP = 60, STAMPS = 12 };

static void read_local(int fd, struct tcp_facts *out, unsigned *headers)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof address;

    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return;
    *headers = address.ss_family == AF_INET6 ? IP6_AND_TCP : IP4_AND_TCP;
    if (getnameinfo((struct sockaddr *)&address, size, out->local,
                    sizeof out->local, NULL, 0, NI_NUMERICHOST) != 0)
        out->local[0] = '\0';
}

void tcp_facts_read(int fd, struct tcp_facts *out)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    unsigned headers = IP4_AND_TCP;

    memset(out, 0, sizeof *out);
    memset(&info, 0, sizeof info);
    read_local(fd, out, &headers);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return;
    if (info.tcpi_options & TCPI_OPT_TIMESTAMPS)
        headers += STAMPS;
    out->known = true;
    out->at = net_now();
    out->acked = info.tcpi_bytes_acked;
    out->came = info.tcpi_bytes_received;
    out->sent = info.tcpi_data_segs_out;
    out->resent = info.tcpi_total_retrans;
    out->received = info.tcpi_data_segs_in;
    out->astray = info.tcpi_rcv_ooopack;
    out->unsent = info.tcpi_notsent_bytes;
    out->packet = info.tcpi_snd_mss + headers;
    out->path = info.tcpi_pmtu;
    out->round_trip = (nanos)info.tcpi_rtt * MICROSECOND;
}
