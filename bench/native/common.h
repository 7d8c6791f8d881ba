/* What the load generator and the upstream share: clock, sockets, and an incremental reader of one HTTP/1.1 message. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEAD_LIMIT 8192

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* End with the parent, and allow as many sockets as the system does. */
static void prepare_process(void) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  signal(SIGPIPE, SIG_IGN);
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
}

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

static void send_without_delay(int fd) {
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void watch(int epoll, int operation, int fd, unsigned events, void *owner) {
  struct epoll_event event = {.events = events, .data.ptr = owner};
  epoll_ctl(epoll, operation, fd, &event);
}

enum reading { READ_HEAD, READ_LENGTH, READ_SIZE_LINE, READ_CHUNK, READ_CHUNK_END, READ_TRAILER, READ_DONE, READ_BROKEN };

struct message {
  enum reading at;
  char head[HEAD_LIMIT];
  size_t head_length;
  size_t left;        /* bytes still to come of the body or of the current chunk */
  size_t line_length; /* bytes seen of a size line or a trailer line */
};

typedef void body_sink(void *owner, const char *bytes, size_t length);

/* `head` keeps what was read before, for reports; only the counters start anew. */
static void message_reset(struct message *m) {
  m->at = READ_HEAD;
  m->head_length = m->left = m->line_length = 0;
}

/* The value of a header in a finished head, or NULL. */
static const char *message_header(const struct message *m, const char *name) {
  size_t length = strlen(name);
  for (const char *line = strstr(m->head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
    line += 2;
    if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
      line += length + 1;
      return line + strspn(line, " ");
    }
  }
  return NULL;
}

static enum reading after_head(struct message *m) {
  const char *value = message_header(m, "transfer-encoding");
  if (value != NULL && strncasecmp(value, "chunked", 7) == 0) return READ_SIZE_LINE;
  value = message_header(m, "content-length");
  m->left = value == NULL ? 0 : strtoul(value, NULL, 10);
  return m->left == 0 ? READ_DONE : READ_LENGTH;
}

static void read_head_byte(struct message *m, char byte) {
  if (m->head_length + 1 >= HEAD_LIMIT) {
    m->at = READ_BROKEN;
    return;
  }
  m->head[m->head_length++] = byte;
  if (byte != '\n' || m->head_length < 4 || memcmp(m->head + m->head_length - 4, "\r\n\r\n", 4) != 0) return;
  m->head[m->head_length] = '\0';
  m->at = after_head(m);
}

static int hex_digit(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

static void read_size_byte(struct message *m, char byte) {
  int digit = hex_digit(byte);
  if (digit >= 0 && m->left < (1u << 28)) {
    m->left = m->left * 16 + (size_t)digit;
    m->line_length++;
  } else if (byte == '\n' && m->line_length > 0) {
    m->at = m->left == 0 ? READ_TRAILER : READ_CHUNK;
    m->line_length = 0;
  } else if (byte != '\r') {
    m->at = READ_BROKEN;
  }
}

static void read_trailer_byte(struct message *m, char byte) {
  if (byte == '\n') {
    if (m->line_length == 0) m->at = READ_DONE;
    m->line_length = 0;
  } else if (byte != '\r') {
    m->line_length++;
  }
}

/* Feeds bytes until the message ends; returns how many were used. Body bytes go to `sink`. */
static size_t message_feed(struct message *m, const char *bytes, size_t length, body_sink *sink, void *owner) {
  size_t used = 0;
  while (used < length && m->at != READ_DONE && m->at != READ_BROKEN) {
    if (m->at == READ_LENGTH || m->at == READ_CHUNK) {
      size_t run = length - used < m->left ? length - used : m->left;
      sink(owner, bytes + used, run);
      used += run;
      m->left -= run;
      if (m->left == 0) m->at = m->at == READ_LENGTH ? READ_DONE : READ_CHUNK_END;
      continue;
    }
    char byte = bytes[used++];
    switch (m->at) {
      case READ_HEAD: read_head_byte(m, byte); break;
      case READ_SIZE_LINE: read_size_byte(m, byte); break;
      case READ_CHUNK_END: if (byte == '\n') m->at = READ_SIZE_LINE; break;
      default: read_trailer_byte(m, byte); break;
    }
  }
  return used;
}

#endif
