import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * CUDA's runtime library, made for a test: the same functions, with files as the GPU's memory, whose names are the handles for other
 * processes. It writes down every call.
 */

/** Every function that a program for GPUs calls here. FAKE_CUDA names the folder, FAKE_CUDA_FAILS a function that fails. */
const SOURCE = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct { char *at; size_t size; char name[32]; } memory[4096];
static int count;

static int called(const char *name, const char *format, ...) {
  char path[4096], line[512];
  snprintf(path, sizeof path, "%s/calls", getenv("FAKE_CUDA"));
  int length = snprintf(line, sizeof line, "%s ", name);
  va_list list;
  va_start(list, format);
  length += vsnprintf(line + length, sizeof line - length - 1, format, list);
  va_end(list);
  line[length++] = '\\n';
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(file, line, length) != length) abort();
  close(file);
  const char *failing = getenv("FAKE_CUDA_FAILS");
  return failing && !strcmp(failing, name) ? 35 : 0;
}

static int find(const void *p) {
  for (int i = 0; i < count; i++)
    if (memory[i].at && (char *)p >= memory[i].at && (char *)p < memory[i].at + memory[i].size) return i;
  return -1;
}

int cudaSetDevice(int device) { return called("cudaSetDevice", "%d", device); }

int cudaMalloc(void **place, size_t size) {
  int code = called("cudaMalloc", "%zu", size);
  if (code) return code;
  char path[4096];
  snprintf(memory[count].name, sizeof memory[count].name, "memory-%d", count);
  snprintf(path, sizeof path, "%s/%s", getenv("FAKE_CUDA"), memory[count].name);
  int file = open(path, O_RDWR | O_CREAT, 0600);
  if (ftruncate(file, size)) return 2;
  memory[count].at = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  memory[count].size = size;
  close(file);
  *place = memory[count++].at;
  return 0;
}

int cudaMemset(void *at, int value, size_t size) {
  int code = called("cudaMemset", "%s %d %zu", memory[find(at)].name, value, size);
  if (!code) memset(at, value, size);
  return code;
}

int cudaMemcpy(void *to, const void *from, size_t size, int kind) {
  int device = find(kind == 1 ? to : from);
  if (device < 0) return 1;
  size_t offset = (char *)(kind == 1 ? to : from) - memory[device].at;
  int code = called("cudaMemcpy", "%s+%zu %zu %d", memory[device].name, offset, size, kind);
  if (!code) memcpy(to, from, size);
  return code;
}

int cudaIpcGetMemHandle(char *handle, void *at) {
  int code = called("cudaIpcGetMemHandle", "%s", memory[find(at)].name);
  memset(handle, 0, 64);
  strcpy(handle, memory[find(at)].name);
  handle[63] = 7;
  return code;
}

int cudaFree(void *at) {
  int i = find(at);
  if (i < 0) return 1;
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", getenv("FAKE_CUDA"), memory[i].name);
  unlink(path);
  munmap(memory[i].at, memory[i].size);
  memory[i].at = 0;
  return called("cudaFree", "%s", memory[i].name);
}

const char *cudaGetErrorString(int code) {
  return code == 35 ? "CUDA driver version is insufficient for CUDA runtime version" : "invalid argument";
}
`;

/** The library, compiled. */
export interface FakeCudart {
  /** Environment of a process that is to find it. */
  readonly env: Readonly<Record<string, string>>;
  /** The calls so far, each with its arguments; memory is named, not addressed. Forgets them. */
  takeCalls(): string[];
  /** The file that is the memory a handle stands for. */
  fileOf(handle: Uint8Array): string;
  /** Memory that was not given back. */
  memories(): string[];
  remove(): void;
}

/**
 * Compiles it with the system's C compiler.
 * @param name the file's name, one of those by which CUDA is found
 */
export function makeFakeCudart(name = "libcudart.so.12"): FakeCudart {
  const folder = mkdtempSync(join(tmpdir(), "rampart-cudart-"));
  const memoryFolder = join(folder, "memory");
  mkdirSync(memoryFolder);
  writeFileSync(join(folder, "cudart.c"), SOURCE);
  execFileSync("gcc", ["-shared", "-fPIC", "-o", join(folder, name), join(folder, "cudart.c")]);
  const calls = join(memoryFolder, "calls");
  return {
    env: { LD_LIBRARY_PATH: folder, FAKE_CUDA: memoryFolder },
    takeCalls: () => {
      const text = readFileSync(calls, "utf8");
      rmSync(calls);
      return text.trimEnd().split("\n");
    },
    fileOf: (handle) => join(memoryFolder, new TextDecoder().decode(handle.subarray(0, handle.indexOf(0)))),
    memories: () => readdirSync(memoryFolder).filter((file) => file !== "calls"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
