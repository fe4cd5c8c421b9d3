/* A program that has this loaded before the C library, and binds a socket to all IPv4 addresses, binds it to 127.0.0.1. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

typedef int (*bind_function)(int, const struct sockaddr *, socklen_t);

int bind(int socket, const struct sockaddr *address, socklen_t length) {
  bind_function real = (bind_function)dlsym(RTLD_NEXT, "bind");
  const struct sockaddr_in *wanted = (const struct sockaddr_in *)address;
  if (address->sa_family != AF_INET || length < sizeof *wanted || wanted->sin_addr.s_addr != htonl(INADDR_ANY))
    return real(socket, address, length);
  struct sockaddr_in local = *wanted;
  local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return real(socket, (const struct sockaddr *)&local, sizeof local);
}
