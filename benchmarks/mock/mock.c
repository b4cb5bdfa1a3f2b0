/* A chat-completions server for measuring clients: one thread, epoll, every event stamped when it is sent.
 *
 * Usage: mock [--port N] [--ttft-us N] [--itl-us N] [--tokens N] [--per-write N] [--log FILE]
 *
 * Prints "PORT\n" once it listens. Each token event carries the CLOCK_MONOTONIC reading of its
 * write, in nanoseconds, as `system_fingerprint`; all token events have the same length, so no client
 * gets an easier body than another. With --log one line a request: its arrival by the kernel's stamp,
 * first write, last write (ns), number of the connection. On SIGTERM it prints what it did and what it cost, as JSON:
 * requests, connections, processor time; the ceiling of one core follows from them.
 * Linux only: epoll, timer slack and stamps of arrival.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FDS = 65536, IN_SIZE = 1 << 16, OUT_SIZE = 1 << 14, MAX_EVENTS = 1024 };

static const char HEAD[] =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
static const char TOKEN[] =
    "data: {\"id\":\"chatcmpl-%08lu\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"mock\",\"system_fingerprint\":\"%020lu\",\"choices\":[{\"index\":0,"
    "\"delta\":{\"content\":\"tok%04d \"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
static const char FINISH[] =
    "data: {\"id\":\"chatcmpl-%08lu\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"mock\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"id\":\"chatcmpl-%08lu\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"mock\",\"choices\":[],\"usage\":{\"prompt_tokens\":32,\"completion_tokens\":%d,"
    "\"total_tokens\":%d}}\n\ndata: [DONE]\n\n";
static const char WHOLE[] =
    "{\"id\":\"chatcmpl-%08lu\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":\"mock\","
    "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"tok\"},"
    "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":32,\"completion_tokens\":%d,\"total_tokens\":%d}}";
static const char MODELS[] =
    "{\"object\":\"list\",\"data\":[{\"id\":\"mock\",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"mock\"}]}";

struct stream {
    int fd, place;             /* place in the heap, -1 = not waiting */
    int sent, is_stream, waits_for_room;
    uint64_t due, arrived, received, first, last;
    unsigned long request, connection;
    size_t in_length, out_from, out_length;
    char in[IN_SIZE], out[OUT_SIZE];
};

static struct stream *streams[MAX_FDS];
static struct stream *heap[MAX_FDS];
static int heap_size, epoll_fd, listener;
static uint64_t ttft_ns = 50000000, itl_ns = 10000000;
static int tokens = 100, per_write = 1;
static unsigned long requests, connections, completed, events;
static FILE *log_file;
static volatile sig_atomic_t is_over;

static uint64_t ns_of(const struct timespec *t) {
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static uint64_t clock_ns(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return ns_of(&t);
}

static uint64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

static void settle(int at) {
    struct stream *one = heap[at];
    while (at > 0 && heap[(at - 1) / 2]->due > one->due) {
        heap[at] = heap[(at - 1) / 2];
        heap[at]->place = at;
        at = (at - 1) / 2;
    }
    for (;;) {
        int child = 2 * at + 1;
        if (child >= heap_size) break;
        if (child + 1 < heap_size && heap[child + 1]->due < heap[child]->due) child++;
        if (heap[child]->due >= one->due) break;
        heap[at] = heap[child];
        heap[at]->place = at;
        at = child;
    }
    heap[at] = one;
    one->place = at;
}

static void await(struct stream *one, uint64_t due) {
    one->due = due;
    if (one->place < 0) {
        one->place = heap_size;
        heap[heap_size++] = one;
    }
    settle(one->place);
}

static void forget(struct stream *one) {
    int at = one->place;
    if (at < 0) return;
    one->place = -1;
    struct stream *moved = heap[--heap_size];
    if (moved == one) return;
    heap[at] = moved;
    moved->place = at;
    settle(at);
}

static void drop(struct stream *one) {
    forget(one);
    streams[one->fd] = NULL;
    close(one->fd);
    free(one);
}

static void listen_for(struct stream *one, uint32_t what) {
    struct epoll_event wanted = {.events = what, .data.fd = one->fd};
    epoll_ctl(epoll_fd, EPOLL_CTL_MOD, one->fd, &wanted);
}

/* Writes what is in `out`; 0 = the rest waits for room, -1 = the client is gone. */
static int push(struct stream *one) {
    while (one->out_from < one->out_length) {
        ssize_t n = send(one->fd, one->out + one->out_from, one->out_length - one->out_from, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            one->waits_for_room = 1;
            listen_for(one, EPOLLIN | EPOLLOUT);
            return 0;
        }
        if (n < 0) return -1;
        one->out_from += (size_t)n;
    }
    one->out_from = one->out_length = 0;
    return 1;
}

static void add_chunk(struct stream *one, const char *text, size_t length) {
    one->out_length += (size_t)sprintf(one->out + one->out_length, "%zx\r\n", length);
    memcpy(one->out + one->out_length, text, length);
    one->out_length += length;
    memcpy(one->out + one->out_length, "\r\n", 2);
    one->out_length += 2;
}

static void write_plain(struct stream *one, const char *body) {
    one->out_length = (size_t)sprintf(one->out,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n%s", strlen(body), body);
    one->sent = tokens;
}

static void ended(struct stream *one) {
    completed++;
    if (log_file)
        fprintf(log_file, "%lu\t%lu\t%lu\t%lu\n", one->received, one->first, one->last, one->connection);
}

/* Writes what is due; returns -1 when the client is gone. */
static int play(struct stream *one) {
    char text[1024];
    uint64_t now = now_ns();
    if (!one->is_stream) {
        snprintf(text, sizeof text, WHOLE, one->request, tokens, 32 + tokens);
        write_plain(one, text);
        one->first = one->last = now;
        ended(one);
        return push(one);
    }
    if (one->sent == 0) {
        memcpy(one->out, HEAD, sizeof HEAD - 1);
        one->out_length = sizeof HEAD - 1;
        one->first = now;
    }
    for (int n = 0; n < per_write && one->sent < tokens && one->out_length < OUT_SIZE - 2048; n++) {
        int length = snprintf(text, sizeof text, TOKEN, one->request, now, one->sent % 10000);
        add_chunk(one, text, (size_t)length);
        one->sent++;
        events++;
    }
    one->last = now;
    if (one->sent == tokens) {
        int length = snprintf(text, sizeof text, FINISH, one->request, one->request, tokens, 32 + tokens);
        add_chunk(one, text, (size_t)length);
        memcpy(one->out + one->out_length, "0\r\n\r\n", 5);
        one->out_length += 5;
        ended(one);
    } else {
        await(one, itl_ns ? one->due + itl_ns : now);
    }
    return push(one);
}

static int begin(struct stream *one, const char *body, size_t length) {
    one->request = ++requests;
    one->received = one->arrived;
    one->sent = 0;
    one->is_stream = memmem(body, length, "\"stream\":true", 13) || memmem(body, length, "\"stream\": true", 14);
    await(one, one->received + ttft_ns);
    return 1;
}

/* Takes whole requests out of `in`; returns -1 on what is no request. */
static int parse(struct stream *one) {
    while (one->place < 0 && one->in_length) {
        char *end = memmem(one->in, one->in_length, "\r\n\r\n", 4);
        if (!end) return one->in_length == IN_SIZE ? -1 : 1;
        size_t head = (size_t)(end - one->in) + 4, body = 0;
        *end = 0;
        char *field = strcasestr(one->in, "\r\ncontent-length:");
        if (field) body = strtoul(field + 17, NULL, 10);
        *end = '\r';
        if (head + body > IN_SIZE) return -1;
        if (one->in_length < head + body) return 1;
        int result;
        if (strncmp(one->in, "POST ", 5) == 0) {
            result = begin(one, one->in + head, body);
        } else {
            write_plain(one, strncmp(one->in, "GET /v1/models", 14) == 0 ? MODELS : "{\"status\":\"ok\"}");
            result = push(one);
        }
        one->in_length -= head + body;
        memmove(one->in, one->in + head + body, one->in_length);
        if (result < 0) return -1;
    }
    return 1;
}

/* When the kernel received what was just read, on the monotonic clock: what this server did meanwhile
 * is then part of its own delay, and no client's. Without a stamp it is now. */
static uint64_t arrival(struct msghdr *message) {
    uint64_t now = now_ns();
    for (struct cmsghdr *said = CMSG_FIRSTHDR(message); said; said = CMSG_NXTHDR(message, said)) {
        if (said->cmsg_level != SOL_SOCKET || said->cmsg_type != SO_TIMESTAMPNS) continue;
        struct timespec stamp;
        memcpy(&stamp, CMSG_DATA(said), sizeof stamp);
        uint64_t age = clock_ns(CLOCK_REALTIME) - ns_of(&stamp);
        if (age < 10000000000u) return now - age;
    }
    return now;
}

static int hear(struct stream *one) {
    for (;;) {
        if (one->in_length == IN_SIZE) return -1;
        char control[CMSG_SPACE(sizeof(struct timespec))];
        struct iovec room = {one->in + one->in_length, IN_SIZE - one->in_length};
        struct msghdr message = {.msg_iov = &room, .msg_iovlen = 1,
            .msg_control = control, .msg_controllen = sizeof control};
        ssize_t n = recvmsg(one->fd, &message, 0);
        if (n == 0) return -1;
        if (n > 0) one->arrived = arrival(&message);
        if (n < 0) return errno == EAGAIN ? parse(one) : -1;
        one->in_length += (size_t)n;
    }
}

static void welcome(void) {
    int fd, yes = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (fd >= MAX_FDS) { close(fd); continue; }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
        struct stream *one = calloc(1, sizeof *one);
        if (!one) { close(fd); continue; }
        one->fd = fd;
        one->place = -1;
        one->connection = ++connections;
        streams[fd] = one;
        struct epoll_event wanted = {.events = EPOLLIN, .data.fd = fd};
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &wanted);
    }
}

static void serve_event(struct epoll_event *event) {
    if (event->data.fd == listener) { welcome(); return; }
    struct stream *one = streams[event->data.fd];
    if (!one) return;
    int result = 1;
    if (event->events & EPOLLOUT) {
        one->waits_for_room = 0;
        listen_for(one, EPOLLIN);
        result = push(one);
    }
    if (result >= 0 && event->events & (EPOLLIN | EPOLLHUP | EPOLLERR)) result = hear(one);
    if (result < 0) drop(one);
}

static void play_due(void) {
    uint64_t now = now_ns();
    /* At most one round over all streams: with no delay every stream gets its turn before the next. */
    for (int left = heap_size; left > 0 && heap_size > 0 && heap[0]->due <= now; left--) {
        struct stream *one = heap[0];
        if (one->waits_for_room) { await(one, now + 1000000); continue; }
        forget(one);
        if (play(one) < 0 || (one->place < 0 && parse(one) < 0)) drop(one);
    }
}

static void run(void) {
    struct epoll_event found[MAX_EVENTS];
    while (!is_over) {
        struct timespec wait = {0, 0}, *until = NULL;
        if (heap_size) {
            uint64_t now = now_ns(), due = heap[0]->due, left = due > now ? due - now : 0;
            wait.tv_sec = (time_t)(left / 1000000000u);
            wait.tv_nsec = (long)(left % 1000000000u);
            until = &wait;
        }
        int n = epoll_pwait2(epoll_fd, found, MAX_EVENTS, until, NULL);
        for (int i = 0; i < n; i++) serve_event(&found[i]);
        play_due();
    }
}

static int open_listener(int port) {
    int yes = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 4096)) return -1;
    getsockname(listener, (struct sockaddr *)&at, &size);
    return ntohs(at.sin_port);
}

static void report(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double cpu_us = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
        (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    printf("{\"requests\":%lu,\"completed\":%lu,\"connections\":%lu,\"events\":%lu,\"cpu_us\":%.0f}\n",
        requests, completed, connections, events, cpu_us);
}

static void on_term(int number) { (void)number; is_over = 1; }

static long option(int argc, char **argv, const char *name, long otherwise) {
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0) return strtol(argv[i + 1], NULL, 10);
    return otherwise;
}

int main(int argc, char **argv) {
    struct sigaction end = {.sa_handler = on_term};
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    ttft_ns = (uint64_t)option(argc, argv, "--ttft-us", 50000) * 1000;
    itl_ns = (uint64_t)option(argc, argv, "--itl-us", 10000) * 1000;
    tokens = (int)option(argc, argv, "--tokens", 100);
    per_write = (int)option(argc, argv, "--per-write", 1);
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--log") == 0) log_file = fopen(argv[i + 1], "w");
    if (tokens < 1 || per_write < 1) return fputs("mock: tokens and per-write begin at 1\n", stderr), 2;
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < MAX_FDS ? files.rlim_max : MAX_FDS;
    setrlimit(RLIMIT_NOFILE, &files);
    int port = open_listener((int)option(argc, argv, "--port", 0));
    if (port < 0) return perror("mock: listen"), 1;
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &wanted);
    printf("%d\n", port);
    fflush(stdout);
    run();
    report();
    if (log_file) fclose(log_file);
    return 0;
}
