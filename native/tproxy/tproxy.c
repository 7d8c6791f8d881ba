/*
 * Sockets that Node cannot make: listeners that take connections to any address (IP_TRANSPARENT), and sockets with a firewall mark (SO_MARK).
 * Both need CAP_NET_ADMIN. Each function gives a file descriptor, which net.Server or net.Socket owns from then on, or throws an error with
 * `code`, `errno` and `syscall` as Node's own have them.
 *
 *   listen(family: 4 | 6, address: string, port: number, backlog: number): fd
 *   socket(family: 4 | 6, mark: number): fd
 *   mark(fd: number): number
 *   close(fd: number): void
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <node_api.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef IP_TRANSPARENT
#define IP_TRANSPARENT 19
#endif
#ifndef IPV6_TRANSPARENT
#define IPV6_TRANSPARENT 75
#endif

#define MAX_ARGUMENTS 4

static const char *code_of(int number) {
  switch (number) {
    case EACCES: return "EACCES";
    case EADDRINUSE: return "EADDRINUSE";
    case EADDRNOTAVAIL: return "EADDRNOTAVAIL";
    case EAFNOSUPPORT: return "EAFNOSUPPORT";
    case EBADF: return "EBADF";
    case EINVAL: return "EINVAL";
    case EMFILE: return "EMFILE";
    case ENFILE: return "ENFILE";
    case ENOBUFS: return "ENOBUFS";
    case ENOMEM: return "ENOMEM";
    case ENOPROTOOPT: return "ENOPROTOOPT";
    case ENOTSOCK: return "ENOTSOCK";
    case EPERM: return "EPERM";
    default: return "EUNKNOWN";
  }
}

static napi_value throw_system(napi_env env, const char *syscall_name, int number) {
  char text[160];
  napi_value code, message, error, value;
  snprintf(text, sizeof text, "%s: %s, %s", code_of(number), strerror(number), syscall_name);
  if (napi_create_string_utf8(env, code_of(number), NAPI_AUTO_LENGTH, &code) != napi_ok) return NULL;
  if (napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &message) != napi_ok) return NULL;
  if (napi_create_error(env, code, message, &error) != napi_ok) return NULL;
  if (napi_create_int32(env, -number, &value) == napi_ok) napi_set_named_property(env, error, "errno", value);
  if (napi_create_string_utf8(env, syscall_name, NAPI_AUTO_LENGTH, &value) == napi_ok)
    napi_set_named_property(env, error, "syscall", value);
  napi_throw(env, error);
  return NULL;
}

static napi_value throw_argument(napi_env env, const char *text) {
  napi_throw_type_error(env, "ERR_INVALID_ARG_VALUE", text);
  return NULL;
}

/* Reads the arguments; false, with an exception, when there are fewer. */
static int arguments(napi_env env, napi_callback_info info, size_t wanted, napi_value *values) {
  size_t given = MAX_ARGUMENTS;
  if (napi_get_cb_info(env, info, &given, values, NULL, NULL) == napi_ok && given >= wanted) return 1;
  throw_argument(env, "Arguments are missing.");
  return 0;
}

/* Reads a whole number; false, with an exception, for any other value or one beyond the bounds. */
static int number_in(napi_env env, napi_value value, double least, double most, double *found) {
  if (napi_get_value_double(env, value, found) == napi_ok && *found >= least && *found <= most &&
      *found == (double)(int64_t)*found)
    return 1;
  throw_argument(env, "A number is out of its range.");
  return 0;
}

static int family_of(napi_env env, napi_value value, int *family) {
  double number;
  if (!number_in(env, value, 4, 6, &number) || number == 5) {
    if (number == 5) throw_argument(env, "The family is 4 or 6.");
    return 0;
  }
  *family = number == 4 ? AF_INET : AF_INET6;
  return 1;
}

static napi_value descriptor(napi_env env, int fd) {
  napi_value value;
  if (napi_create_int32(env, fd, &value) == napi_ok) return value;
  close(fd);
  return NULL;
}

/* Closes the socket and throws for the call that failed last. */
static napi_value fail(napi_env env, int fd, const char *syscall_name) {
  int number = errno;
  close(fd);
  return throw_system(env, syscall_name, number);
}

static napi_value do_listen(napi_env env, napi_callback_info info) {
  napi_value values[MAX_ARGUMENTS];
  int family, on = 1, fd;
  double port, backlog;
  char address[INET6_ADDRSTRLEN];
  size_t length;
  struct sockaddr_storage bound;
  socklen_t size;

  if (!arguments(env, info, 4, values) || !family_of(env, values[0], &family)) return NULL;
  if (napi_get_value_string_utf8(env, values[1], address, sizeof address, &length) != napi_ok)
    return throw_argument(env, "The address is no text.");
  if (!number_in(env, values[2], 0, 65535, &port) || !number_in(env, values[3], 1, 65535, &backlog)) return NULL;

  memset(&bound, 0, sizeof bound);
  if (family == AF_INET) {
    struct sockaddr_in *v4 = (struct sockaddr_in *)&bound;
    v4->sin_family = AF_INET;
    v4->sin_port = htons((uint16_t)port);
    size = sizeof *v4;
    if (inet_pton(AF_INET, address, &v4->sin_addr) != 1) return throw_argument(env, "That is no IPv4 address.");
  } else {
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&bound;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons((uint16_t)port);
    size = sizeof *v6;
    if (inet_pton(AF_INET6, address, &v6->sin6_addr) != 1) return throw_argument(env, "That is no IPv6 address.");
  }

  fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return throw_system(env, "socket", errno);
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return fail(env, fd, "setsockopt");
  if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0)
    return fail(env, fd, "setsockopt");
  if (setsockopt(fd, family == AF_INET ? SOL_IP : SOL_IPV6, family == AF_INET ? IP_TRANSPARENT : IPV6_TRANSPARENT, &on,
                 sizeof on) != 0)
    return fail(env, fd, "setsockopt");
  if (bind(fd, (struct sockaddr *)&bound, size) != 0) return fail(env, fd, "bind");
  if (listen(fd, (int)backlog) != 0) return fail(env, fd, "listen");
  return descriptor(env, fd);
}

static napi_value do_socket(napi_env env, napi_callback_info info) {
  napi_value values[MAX_ARGUMENTS];
  int family, fd;
  double number;
  uint32_t mark;

  if (!arguments(env, info, 2, values) || !family_of(env, values[0], &family)) return NULL;
  if (!number_in(env, values[1], 1, UINT32_MAX, &number)) return NULL;
  mark = (uint32_t)number;
  fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return throw_system(env, "socket", errno);
  if (setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof mark) != 0) return fail(env, fd, "setsockopt");
  return descriptor(env, fd);
}

static napi_value do_mark(napi_env env, napi_callback_info info) {
  napi_value values[MAX_ARGUMENTS], result;
  double fd;
  uint32_t mark = 0;
  socklen_t size = sizeof mark;

  if (!arguments(env, info, 1, values) || !number_in(env, values[0], 0, INT32_MAX, &fd)) return NULL;
  if (getsockopt((int)fd, SOL_SOCKET, SO_MARK, &mark, &size) != 0) return throw_system(env, "getsockopt", errno);
  return napi_create_uint32(env, mark, &result) == napi_ok ? result : NULL;
}

static napi_value do_close(napi_env env, napi_callback_info info) {
  napi_value values[MAX_ARGUMENTS];
  double fd;

  if (!arguments(env, info, 1, values) || !number_in(env, values[0], 3, INT32_MAX, &fd)) return NULL;
  if (close((int)fd) != 0) return throw_system(env, "close", errno);
  return NULL;
}

static napi_value start(napi_env env, napi_value exports) {
  const napi_property_descriptor functions[] = {
      {"listen", NULL, do_listen, NULL, NULL, NULL, napi_enumerable, NULL},
      {"socket", NULL, do_socket, NULL, NULL, NULL, napi_enumerable, NULL},
      {"mark", NULL, do_mark, NULL, NULL, NULL, napi_enumerable, NULL},
      {"close", NULL, do_close, NULL, NULL, NULL, napi_enumerable, NULL},
  };
  if (napi_define_properties(env, exports, sizeof functions / sizeof functions[0], functions) != napi_ok) return NULL;
  return exports;
}

NAPI_MODULE(NODE_GYP_MODULE_NAME, start)
