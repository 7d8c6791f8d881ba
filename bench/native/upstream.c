/*
 * The fixed-answer upstream: one loopback port, one answer per model name found in the request body.
 *   "fixed"  one JSON completion at once
 *   "paced"  an SSE stream of CHUNKS numbered chunks, one every INTERVAL_MS, then usage and [DONE]
 *   "idle"   an SSE stream that stays open after its first chunk
 *   "turn-chat", "turn-messages"  a stream of TURN_CHUNKS chunks at once, in the chat and in the messages form
 * Usage: upstream CHUNKS INTERVAL_MS. Prints the port it took.
 */
#define _GNU_SOURCE
#include "common.h"

#define BODY_LIMIT (4u << 20)
#define CHUNK_ROOM 512
#define OUT_ROOM 8192
#define STREAM_LIMIT 8192
#define TICK_SECONDS 0.001
#define TURN_CHUNKS 20
#define TURN_ROOM 16384

#define CHUNK_FIELDS "\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":\"bench-model-1\""
#define USAGE_FIELDS "\"usage\":{\"prompt_tokens\":380,\"completion_tokens\":100,\"total_tokens\":480}"

struct client {
  int fd;
  struct message request;
  char *body;
  size_t body_length, body_room;
  char out[OUT_ROOM]; /* what the socket would not take yet */
  size_t out_length;
  unsigned next_chunk;
  double due;
  int slot; /* place among the paced streams, -1 when none */
};

static int epoll_fd;
static unsigned chunks_per_stream;
static double interval_seconds;
static char fixed_answer[4096], stream_head[256], stream_end[2048];
static char turn_chat[TURN_ROOM], turn_messages[TURN_ROOM];
static size_t fixed_length, stream_head_length, stream_end_length, turn_chat_length, turn_messages_length;
static struct client *streams[STREAM_LIMIT];
static int stream_count;

static void leave_streams(struct client *c) {
  if (c->slot < 0) return;
  struct client *last = streams[--stream_count];
  streams[c->slot] = last;
  last->slot = c->slot;
  c->slot = -1;
}

static void close_client(struct client *c) {
  leave_streams(c);
  close(c->fd);
  free(c->body);
  free(c);
}

/* Sends, and keeps what does not fit; false when the connection is gone. */
static bool send_bytes(struct client *c, const char *bytes, size_t length) {
  size_t sent = 0;
  while (c->out_length == 0 && sent < length) {
    ssize_t n = send(c->fd, bytes + sent, length - sent, MSG_NOSIGNAL);
    if (n > 0) sent += (size_t)n;
    else if (errno == EAGAIN) break;
    else return false;
  }
  if (sent == length) return true;
  if (c->out_length + length - sent > OUT_ROOM) return false;
  memcpy(c->out + c->out_length, bytes + sent, length - sent);
  c->out_length += length - sent;
  watch(epoll_fd, EPOLL_CTL_MOD, c->fd, EPOLLIN | EPOLLOUT, c);
  return true;
}

static bool flush_pending(struct client *c) {
  ssize_t n = send(c->fd, c->out, c->out_length, MSG_NOSIGNAL);
  if (n < 0) return errno == EAGAIN;
  c->out_length -= (size_t)n;
  memmove(c->out, c->out + n, c->out_length);
  if (c->out_length == 0) watch(epoll_fd, EPOLL_CTL_MOD, c->fd, EPOLLIN, c);
  return true;
}

static bool send_chunk(struct client *c) {
  char event[CHUNK_ROOM], framed[CHUNK_ROOM + 16];
  int length = snprintf(event, sizeof event,
      "data: {" CHUNK_FIELDS ",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word #%04u\"},\"finish_reason\":null}]}\n\n", c->next_chunk);
  int total = snprintf(framed, sizeof framed, "%x\r\n%s\r\n", length, event);
  c->next_chunk++;
  return send_bytes(c, framed, (size_t)total);
}

/* Sends what is due. A stream whose reader is slow waits: no chunk is ever dropped here. */
static bool advance(struct client *c, double now) {
  while (c->out_length == 0 && c->due <= now) {
    if (c->next_chunk == chunks_per_stream) {
      leave_streams(c);
      return send_bytes(c, stream_end, stream_end_length);
    }
    if (!send_chunk(c)) return false;
    c->due += interval_seconds;
  }
  return true;
}

static bool asks_for(const struct client *c, const char *model) {
  return c->body_length > 0 && memmem(c->body, c->body_length, model, strlen(model)) != NULL;
}

static bool answer(struct client *c) {
  if (asks_for(c, "\"model\":\"turn-chat\"")) return send_bytes(c, turn_chat, turn_chat_length);
  if (asks_for(c, "\"model\":\"turn-messages\"")) return send_bytes(c, turn_messages, turn_messages_length);
  bool paced = asks_for(c, "\"model\":\"paced\"");
  if (!paced && !asks_for(c, "\"model\":\"idle\"")) return send_bytes(c, fixed_answer, fixed_length);
  c->next_chunk = 0;
  c->due = seconds_now();
  if (!send_bytes(c, stream_head, stream_head_length)) return false;
  if (!paced) return send_chunk(c);
  if (c->slot >= 0 || stream_count == STREAM_LIMIT) return false;
  c->slot = stream_count;
  streams[stream_count++] = c;
  return true;
}

static void keep_body(void *owner, const char *bytes, size_t length) {
  struct client *c = owner;
  if (c->body_length + length > BODY_LIMIT) return;
  if (c->body_length + length > c->body_room) {
    c->body_room = (c->body_length + length) * 2;
    c->body = realloc(c->body, c->body_room);
    if (c->body == NULL) fail("realloc");
  }
  memcpy(c->body + c->body_length, bytes, length);
  c->body_length += length;
}

static bool receive(struct client *c) {
  static char buffer[256 * 1024];
  ssize_t n = recv(c->fd, buffer, sizeof buffer, 0);
  if (n <= 0) return n < 0 && errno == EAGAIN;
  for (size_t used = 0; used < (size_t)n;) {
    used += message_feed(&c->request, buffer + used, (size_t)n - used, keep_body, c);
    if (c->request.at == READ_BROKEN) return false;
    if (c->request.at != READ_DONE) break;
    bool alive = answer(c);
    c->body_length = 0;
    message_reset(&c->request);
    if (!alive) return false;
  }
  return true;
}

static void accept_clients(int listener) {
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) return;
    send_without_delay(fd);
    struct client *c = calloc(1, sizeof *c);
    if (c == NULL) fail("calloc");
    c->fd = fd;
    c->slot = -1;
    watch(epoll_fd, EPOLL_CTL_ADD, fd, EPOLLIN, c);
  }
}

static void advance_streams(void) {
  double now = seconds_now();
  for (int i = stream_count - 1; i >= 0; i--) {
    if (streams[i]->due <= now && !advance(streams[i], now)) close_client(streams[i]);
  }
}

/* Adds an event as an HTTP chunk of its own. */
static void add_event(char *out, size_t *length, const char *event) {
  *length += (size_t)snprintf(out + *length, TURN_ROOM - *length, "%zx\r\n%s\r\n", strlen(event), event);
}

static void prepare_turns(void) {
  char event[CHUNK_ROOM];
  turn_chat_length = (size_t)snprintf(turn_chat, TURN_ROOM, "%s", stream_head);
  for (int i = 0; i < TURN_CHUNKS; i++) {
    snprintf(event, sizeof event, "data: {" CHUNK_FIELDS ",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word %d\"},\"finish_reason\":null}]}\n\n", i);
    add_event(turn_chat, &turn_chat_length, event);
  }
  turn_chat_length += (size_t)snprintf(turn_chat + turn_chat_length, TURN_ROOM - turn_chat_length, "%s", stream_end);

  turn_messages_length = (size_t)snprintf(turn_messages, TURN_ROOM, "%s", stream_head);
  add_event(turn_messages, &turn_messages_length,
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_bench\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"turn-messages\","
      "\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":12,\"cache_read_input_tokens\":70000,\"output_tokens\":1}}}\n\n");
  add_event(turn_messages, &turn_messages_length,
      "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n");
  for (int i = 0; i < TURN_CHUNKS; i++) {
    snprintf(event, sizeof event,
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" word %d\"}}\n\n", i);
    add_event(turn_messages, &turn_messages_length, event);
  }
  add_event(turn_messages, &turn_messages_length, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n");
  add_event(turn_messages, &turn_messages_length,
      "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":100}}\n\n");
  add_event(turn_messages, &turn_messages_length, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
  turn_messages_length += (size_t)snprintf(turn_messages + turn_messages_length, TURN_ROOM - turn_messages_length, "0\r\n\r\n");
}

static void prepare_answers(void) {
  char text[1024] = "", body[2048], event[1024];
  for (int i = 0; i < 8; i++) strcat(text, "A relay is judged by what it adds: a little time, a little memory, and nothing else. ");
  int length = snprintf(body, sizeof body,
      "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion\",\"created\":1760000000,\"model\":\"bench-model-1\",\"choices\":[{\"index\":0,"
      "\"message\":{\"role\":\"assistant\",\"content\":\"%s\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":\"stop\"}]," USAGE_FIELDS "}", text);
  fixed_length = (size_t)snprintf(fixed_answer, sizeof fixed_answer,
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: req-bench\r\nContent-Length: %d\r\n\r\n%s", length, body);
  stream_head_length = (size_t)snprintf(stream_head, sizeof stream_head,
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n");
  length = snprintf(event, sizeof event,
      "data: {" CHUNK_FIELDS ",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
      "data: {" CHUNK_FIELDS ",\"choices\":[]," USAGE_FIELDS "}\n\ndata: [DONE]\n\n");
  stream_end_length = (size_t)snprintf(stream_end, sizeof stream_end, "%x\r\n%s\r\n0\r\n\r\n", length, event);
  prepare_turns();
}

static int open_listener(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 4096) != 0) fail("listen");
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("upstream listening on %d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  chunks_per_stream = (unsigned)atoi(arguments[1]);
  interval_seconds = atof(arguments[2]) / 1000;
  prepare_process();
  prepare_answers();
  int listener = open_listener();
  epoll_fd = epoll_create1(0);
  watch(epoll_fd, EPOLL_CTL_ADD, listener, EPOLLIN, NULL);
  double next_tick = 0;
  for (;;) {
    static struct epoll_event events[512];
    int ready = epoll_wait(epoll_fd, events, 512, stream_count > 0 ? 1 : -1);
    for (int i = 0; i < ready; i++) {
      struct client *c = events[i].data.ptr;
      if (c == NULL) {
        accept_clients(listener);
        continue;
      }
      bool alive = (events[i].events & (EPOLLERR | EPOLLHUP)) == 0;
      if (alive && (events[i].events & EPOLLOUT)) alive = flush_pending(c);
      if (alive && (events[i].events & EPOLLIN)) alive = receive(c);
      if (!alive) close_client(c);
    }
    double now = seconds_now();
    if (stream_count > 0 && now >= next_tick) {
      advance_streams();
      next_tick = now + TICK_SECONDS;
    }
  }
}
