/*
 * The load generator: N keep-alive connections in a closed loop, each sending the same POST as soon as its last answer ended.
 * With a rate the loop is open: requests are due at even times, whatever the answers take, and each is timed from when it was due.
 * Prints one line of JSON. Latencies are microseconds; only answers that end inside the measured window are timed.
 *   -p port  -c connections  -d seconds  -w seconds of warm-up before  -b file with the body  -H "name: value" (repeatable)
 *   -u path  asks for this one; without it for chat completions
 *   -s N   answers are streams of N numbered chunks: count them, notice lost, repeated and late ones. After the window no
 *          new stream starts and those under way may end (at most DRAIN_SECONDS).
 *   -r N   requests a second over all connections, of which there have to be enough; not with -s or -i
 *   -i     open one stream per connection, report when all have shown their first chunk, then hold them for the rest.
 */
#define _GNU_SOURCE
#include "common.h"

#define SAMPLE_LIMIT (1L << 21)
#define ERROR_LIMIT 10000
#define DRAIN_SECONDS 20.0
#define STALL_SECONDS 5.0
#define ACCEPT_SECONDS 1.0
#define RAMP_SECONDS 0.5
#define BUFFER_SIZE (256 * 1024)

static const char END_MARK[] = "[DONE]";

struct connection {
  int fd;
  bool connected, busy, answered;
  size_t sent;
  double starts_at, started, last_seen;
  struct message response;
  unsigned chunks, number;  /* chunks of this stream so far; the number being read */
  int digits_left, mark_at; /* progress through "#dddd" and through END_MARK */
  bool ended, stalled;
};

static int port, connection_count = 1, expected_chunks;
static double window_seconds = 1, warm_seconds, rate;
static bool hold;
static char *request;
static const char *path = "/v1/chat/completions";
static size_t request_length;

static int epoll_fd;
static struct connection *connections;
static double window_start, window_end, now;
static bool draining;

/* Connections that wait for a request to be due. */
static struct connection **idle;
static int idle_count;
static long due_count;
static double due_since;

static float *latencies, *first_bytes;
static long latency_count, first_byte_count;
static long requests, window_requests, errors, refused, chunks_total, chunks_window;
static long streams_ended, lost, out_of_order, stalled, unfinished, opened;
static double longest_gap;
static char refusal[256];
static size_t refusal_length;

static bool in_window(void) { return now >= window_start && now < window_end; }

static bool refuses(const struct connection *c) { return c->response.head[9] != '2'; }

static void send_rest(struct connection *c) {
  while (c->sent < request_length) {
    ssize_t n = send(c->fd, request + c->sent, request_length - c->sent, MSG_NOSIGNAL);
    if (n > 0) c->sent += (size_t)n;
    else break; /* a full socket waits for EPOLLOUT; a dead one is reported by epoll */
  }
  watch(epoll_fd, EPOLL_CTL_MOD, c->fd, c->sent < request_length ? EPOLLIN | EPOLLOUT : EPOLLIN, c);
}

static void start_request(struct connection *c) {
  message_reset(&c->response);
  c->busy = true;
  c->answered = c->ended = c->stalled = false;
  c->chunks = 0;
  c->digits_left = c->mark_at = 0;
  c->sent = 0;
  c->started = c->last_seen = now;
  send_rest(c);
}

/* The next request, or with a rate the connection's place among those that wait. */
static void start_next(struct connection *c) {
  if (rate > 0) idle[idle_count++] = c;
  else start_request(c);
}

static void start_due(void) {
  while (idle_count > 0 && due_since + (double)due_count / rate <= now) {
    struct connection *c = idle[--idle_count];
    if (c->fd < 0 || !c->connected || c->busy) continue; /* it was opened anew meanwhile */
    start_request(c);
    c->started = due_since + (double)due_count++ / rate;
  }
}

static void open_connection(struct connection *c) {
  struct sockaddr_in address = loopback(port);
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (c->fd < 0) fail("socket");
  c->connected = c->busy = false;
  send_without_delay(c->fd);
  connect(c->fd, (struct sockaddr *)&address, sizeof address);
  watch(epoll_fd, EPOLL_CTL_ADD, c->fd, EPOLLOUT, c);
}

static void drop_connection(struct connection *c) {
  close(c->fd);
  c->fd = -1;
}

static void reopen(struct connection *c) {
  drop_connection(c);
  if (!draining && !hold) open_connection(c);
}

static void fail_connection(struct connection *c) {
  if (c->busy || !c->connected) errors++;
  reopen(c);
}

/* A stream is stalled once it has shown nothing for STALL_SECONDS; it is counted once. */
static void note_gap(struct connection *c) {
  double gap = now - c->last_seen;
  if (gap > longest_gap) longest_gap = gap;
  if (gap > STALL_SECONDS && !c->stalled) {
    c->stalled = true;
    stalled++;
  }
}

static void note_chunk(struct connection *c) {
  note_gap(c);
  c->last_seen = now;
  if (c->number != c->chunks) out_of_order++;
  if (hold && c->chunks == 0) opened++;
  c->chunks++;
  chunks_total++;
  if (in_window()) chunks_window++;
}

static void scan_stream(struct connection *c, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) {
    char byte = bytes[i];
    if (byte == '#') {
      c->digits_left = 4;
      c->number = 0;
    } else if (c->digits_left > 0) {
      c->number = c->number * 10 + (unsigned)(byte - '0');
      if (--c->digits_left == 0) note_chunk(c);
    }
    c->mark_at = byte == END_MARK[c->mark_at] ? c->mark_at + 1 : byte == END_MARK[0];
    if (END_MARK[c->mark_at] == '\0') {
      c->ended = true;
      c->mark_at = 0;
    }
  }
}

/* The first refusal is shown in the report, as text that is safe inside JSON. */
static void note_refusal(const char *bytes, size_t length) {
  for (size_t i = 0; i < length && refusal_length + 1 < sizeof refusal; i++) {
    char byte = bytes[i];
    refusal[refusal_length++] = byte == '"' || byte == '\\' ? '\'' : byte < ' ' ? ' ' : byte;
  }
}

static void on_body(void *owner, const char *bytes, size_t length) {
  struct connection *c = owner;
  if (!c->answered) {
    c->answered = true;
    if (in_window() && first_byte_count < SAMPLE_LIMIT) first_bytes[first_byte_count++] = (float)((now - c->started) * 1e6);
  }
  if (refuses(c)) {
    if (refused == 0) note_refusal(bytes, length);
  } else if (expected_chunks > 0 || hold) {
    scan_stream(c, bytes, length);
  }
}

static void finish_stream(const struct connection *c) {
  if ((int)c->chunks < expected_chunks) lost += expected_chunks - (int)c->chunks;
  if (c->ended) streams_ended++;
  else errors++; /* a whole HTTP answer without the end mark was cut short */
}

static void finish_request(struct connection *c) {
  c->busy = false;
  requests++;
  if (refuses(c)) refused++;
  else if (expected_chunks > 0) finish_stream(c);
  if (in_window()) {
    window_requests++;
    if (latency_count < SAMPLE_LIMIT) latencies[latency_count++] = (float)((now - c->started) * 1e6);
  }
  const char *header = message_header(&c->response, "connection");
  if (header != NULL && strncasecmp(header, "close", 5) == 0) reopen(c);
  else if (!draining) start_next(c);
}

static void receive(struct connection *c) {
  static char buffer[BUFFER_SIZE];
  ssize_t n = recv(c->fd, buffer, sizeof buffer, 0);
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0 || !c->busy) {
    fail_connection(c);
    return;
  }
  size_t used = message_feed(&c->response, buffer, (size_t)n, on_body, c);
  if (c->response.at == READ_BROKEN || used < (size_t)n) fail_connection(c);
  else if (c->response.at == READ_DONE) finish_request(c);
}

static void on_event(struct connection *c, unsigned events) {
  if (c->fd < 0) return;
  if (events & (EPOLLERR | EPOLLHUP)) {
    fail_connection(c);
  } else if (!c->connected && (events & EPOLLOUT)) {
    c->connected = true;
    if (c->starts_at <= now) start_next(c);
    else watch(epoll_fd, EPOLL_CTL_MOD, c->fd, EPOLLIN, c);
  } else {
    if (events & EPOLLOUT) send_rest(c);
    if (events & EPOLLIN) receive(c);
  }
}

static void wait_for_events(void) {
  static struct epoll_event events[1024];
  int ready = epoll_wait(epoll_fd, events, 1024, rate > 0 ? 1 : 5);
  now = seconds_now();
  for (int i = 0; i < ready; i++) on_event(events[i].data.ptr, events[i].events);
}

static int busy_connections(void) {
  int busy = 0;
  for (int i = 0; i < connection_count; i++) busy += connections[i].fd >= 0 && connections[i].busy;
  return busy;
}

static void run_window(void) {
  int begun = 0;
  while (now < window_end && errors < ERROR_LIMIT) {
    for (; begun < connection_count && connections[begun].starts_at <= now; begun++) {
      if (rate == 0 && connections[begun].connected && !connections[begun].busy) start_request(&connections[begun]);
    }
    if (rate > 0) start_due();
    wait_for_events();
    if (hold && opened == connection_count) return;
  }
}

static void drain_streams(void) {
  draining = true;
  while (now < window_end + DRAIN_SECONDS && busy_connections() > 0) wait_for_events();
  for (int i = 0; i < connection_count; i++) {
    struct connection *c = &connections[i];
    if (c->fd < 0 || !c->busy) continue;
    note_gap(c);
    unfinished++;
  }
}

static void hold_streams(void) {
  printf("{\"opened\":%ld,\"errors\":%ld,\"non2xx\":%ld,\"refusal\":\"%s\"}\n", opened, errors, refused, refusal);
  fflush(stdout);
  while (now < window_end) wait_for_events();
}

static int ascending(const void *left, const void *right) {
  float a = *(const float *)left, b = *(const float *)right;
  return (a > b) - (a < b);
}

static double quantile(const float *sorted, long count, double q) {
  return count == 0 ? 0 : sorted[(long)(q * (double)(count - 1))];
}

static void print_result(void) {
  double measured = (now < window_end ? now : window_end) - window_start;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  qsort(latencies, (size_t)latency_count, sizeof *latencies, ascending);
  qsort(first_bytes, (size_t)first_byte_count, sizeof *first_bytes, ascending);
  printf("{\"requests\":%ld,\"perSecond\":%.1f,\"errors\":%ld,\"non2xx\":%ld,\"refusal\":\"%s\",\"cpuSeconds\":%.3f,", requests,
         measured > 0 ? (double)window_requests / measured : 0, errors, refused, refusal, cpu);
  printf("\"latencyUs\":{\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"max\":%.1f},", quantile(latencies, latency_count, 0.5),
         quantile(latencies, latency_count, 0.9), quantile(latencies, latency_count, 0.99), quantile(latencies, latency_count, 1));
  printf("\"firstByteUs\":{\"p50\":%.1f,\"p99\":%.1f},", quantile(first_bytes, first_byte_count, 0.5), quantile(first_bytes, first_byte_count, 0.99));
  printf("\"chunks\":%ld,\"chunksPerSecond\":%.1f,\"streamsEnded\":%ld,\"lost\":%ld,\"outOfOrder\":%ld,\"stalled\":%ld,\"unfinished\":%ld,\"longestGapMs\":%.1f}\n",
         chunks_total, measured > 0 ? (double)chunks_window / measured : 0, streams_ended, lost, out_of_order, stalled, unfinished, longest_gap * 1000);
}

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail(path);
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*length + 1);
  if (bytes == NULL || fread(bytes, 1, *length, file) != *length) fail(path);
  fclose(file);
  return bytes;
}

static void build_request(const char *headers, const char *body_path) {
  size_t body_length;
  char *body = read_file(body_path, &body_length);
  request = malloc(body_length + HEAD_LIMIT);
  if (request == NULL) fail("malloc");
  int head = snprintf(request, HEAD_LIMIT,
      "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n", path, port, headers, body_length);
  memcpy(request + head, body, body_length);
  request_length = (size_t)head + body_length;
  free(body);
}

static void read_options(int count, char **arguments) {
  char headers[HEAD_LIMIT / 2] = "";
  const char *body_path = NULL;
  for (int option; (option = getopt(count, arguments, "p:c:d:w:b:H:s:u:r:i")) != -1;) {
    switch (option) {
      case 'p': port = atoi(optarg); break;
      case 'c': connection_count = atoi(optarg); break;
      case 'd': window_seconds = atof(optarg); break;
      case 'w': warm_seconds = atof(optarg); break;
      case 'b': body_path = optarg; break;
      case 'u': path = optarg; break;
      case 's': expected_chunks = atoi(optarg); break;
      case 'r': rate = atof(optarg); break;
      case 'i': hold = true; break;
      case 'H':
        if (strlen(headers) + strlen(optarg) + 3 > sizeof headers) exit(2);
        strcat(strcat(headers, optarg), "\r\n");
        break;
      default: exit(2);
    }
  }
  if (port == 0 || body_path == NULL || connection_count < 1 || rate < 0) exit(2);
  if (rate > 0 && (hold || expected_chunks > 0)) exit(2);
  build_request(headers, body_path);
}

int main(int count, char **arguments) {
  prepare_process();
  read_options(count, arguments);
  connections = calloc((size_t)connection_count, sizeof *connections);
  latencies = malloc(SAMPLE_LIMIT * sizeof *latencies);
  first_bytes = malloc(SAMPLE_LIMIT * sizeof *first_bytes);
  idle = calloc((size_t)connection_count + ERROR_LIMIT + 1, sizeof *idle);
  if (idle == NULL || connections == NULL || latencies == NULL || first_bytes == NULL) fail("malloc");
  epoll_fd = epoll_create1(0);
  now = seconds_now();
  due_since = now;
  window_start = now + warm_seconds;
  window_end = window_start + window_seconds;
  /* A busy Node process accepts one connection per turn of its loop, so streams start only when all are accepted. */
  bool streams = expected_chunks > 0 || hold;
  for (int i = 0; i < connection_count; i++) {
    connections[i].starts_at = now + (streams ? ACCEPT_SECONDS + RAMP_SECONDS * i / connection_count : 0);
    open_connection(&connections[i]);
  }
  run_window();
  if (hold) {
    hold_streams();
  } else {
    if (expected_chunks > 0) drain_streams();
    print_result();
  }
  return 0;
}
