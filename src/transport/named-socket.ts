import { defined } from "../plan/objects.ts";
import type { OpenSocket, Socket, SocketHandlers, SocketTarget } from "../runtime/socket.ts";
import { openSocket } from "../runtime/sockets.ts";
import { familyOf, isInUse, type Source, type SourceTurns } from "./source-addresses.ts";

/**
 * Connections to a host by its name. Runtimes open sockets to several addresses of a name at once and keep the first that connects, so
 * that a thousand connections briefly need two thousand descriptors. Here a name is resolved once, and its addresses are tried one after
 * another. For connections with source addresses, ports are tried one after another in the same way.
 */

/** A server, by its name or address. */
export interface NamedTarget extends SocketTarget {
  /** Source addresses of the connections. Absent: the system's choice. */
  readonly sources?: SourceTurns | undefined;
}

/** Returns the addresses of a host, in the order in which to try them. Rejects if there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** Opens a connection to a name or an address. */
export type OpenNamed = (target: NamedTarget, handlers: SocketHandlers) => Socket;

/** Time limit for one address while others remain and none has responded, as in Node. */
const ATTEMPT_MS = 250;

/** Creates a function that opens connections to names. @param resolve default: the system's resolver */
export function createNamedOpen(resolve: ResolveHost = lookUp): (open: OpenSocket) => OpenNamed {
  const places: KnownPlaces = { addresses: new Map(), working: new Map(), resolve };
  return (open) => (target, handlers) =>
    target.open !== undefined || (target.sources === undefined && isAddress(target.host))
      ? open(target, handlers)
      : new NamedConnection(target, handlers, open, places);
}

/** Opens a connection with this runtime's sockets, also to a name. */
export const openNamedSocket: OpenNamed = createNamedOpen()(openSocket);

/** Whether a host is an IP address instead of a name. */
function isAddress(host: string): boolean {
  return host.includes(":") || /^[\d.]+$/.test(host);
}

function lookUp(host: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    process.getBuiltinModule("node:dns").lookup(host, { all: true }, (error, found) => {
      if (error === null || error === undefined) resolve([...new Set(found.map(({ address }) => address))]);
      else reject(error);
    });
  });
}

interface KnownPlaces {
  /** Resolved addresses by host. */
  readonly addresses: Map<string, Promise<readonly string[]>>;
  /** Address of the latest connection to each host and port. */
  readonly working: Map<string, string>;
  readonly resolve: ResolveHost;
}

class NamedConnection implements Socket {
  private readonly target: NamedTarget;
  private readonly handlers: SocketHandlers;
  private readonly open: OpenSocket;
  private readonly places: KnownPlaces;
  private readonly place: string;
  private inner: Socket | undefined;
  private isOpen = false;
  private isFinished = false;
  /** Bytes written before the connection was open. */
  private readonly queue: Uint8Array[] = [];
  /** Number of the current attempt. */
  private attempt = 0;
  private error: Error | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(target: NamedTarget, handlers: SocketHandlers, open: OpenSocket, places: KnownPlaces) {
    this.target = target;
    this.handlers = handlers;
    this.open = open;
    this.places = places;
    this.place = `${target.host}:${target.port}`;
    this.resolved().then(
      (addresses) => this.tryAll(addresses),
      (error: unknown) => this.fail(error instanceof Error ? error : new Error(String(error))),
    );
  }

  get pendingBytes(): number {
    return this.isOpen ? (this.inner as Socket).pendingBytes : this.queue.reduce((sum, { length }) => sum + length, 0);
  }

  write(bytes: Uint8Array): boolean {
    if (this.isOpen) return (this.inner as Socket).write(bytes);
    if (this.isFinished) return true;
    this.queue.push(bytes);
    return false;
  }

  close(): void {
    if (this.isOpen) {
      this.inner?.close();
      return;
    }
    if (this.isFinished) return;
    this.attempt++;
    this.inner?.close();
    // The server may have moved: the next connection resolves the name again.
    this.places.working.delete(this.place);
    this.places.addresses.delete(this.target.host);
    this.finish(undefined);
  }

  private resolved(): Promise<readonly string[]> {
    const { host } = this.target;
    if (isAddress(host)) return Promise.resolve([host]);
    const { addresses, resolve } = this.places;
    let found = addresses.get(host);
    if (found === undefined) {
      found = resolve(host);
      addresses.set(host, found);
    }
    return found;
  }

  private tryAll(addresses: readonly string[]): void {
    if (this.isFinished) return;
    const working = this.places.working.get(this.place);
    const first = working !== undefined && addresses.includes(working) ? [working] : [];
    this.tryNext([...first, ...addresses.filter((address) => address !== working)]);
  }

  private tryNext([address, ...others]: readonly string[]): void {
    if (address === undefined) {
      this.fail(this.error);
      return;
    }
    const { sources } = this.target;
    const source = sources?.next(address);
    if (sources === undefined || source !== undefined) this.tryFrom(source, address, others);
    else this.failed(address, noSource(address), others);
  }

  private tryFrom(source: Source | undefined, address: string, others: readonly string[]): void {
    const { target, handlers } = this;
    const { sources } = target;
    const attempt = ++this.attempt;
    const isCurrent = (): boolean => attempt === this.attempt && !this.isFinished;
    const tls = target.tls && { ...target.tls, serverName: target.tls.serverName ?? target.host };
    const local = source === undefined ? {} : { localAddress: source.address, localPort: source.port };
    const inner = this.open(
      { ...target, ...local, host: address, ...defined({ tls }) },
      {
        onOpen: () => {
          if (!isCurrent()) return;
          if (source !== undefined) sources?.opened(source);
          this.opened(address);
        },
        onData: (bytes) => handlers.onData(bytes),
        onClose: (error) => {
          if (!isCurrent()) return;
          if (this.isOpen) {
            this.finish(error);
            return;
          }
          const inUse = source !== undefined && isInUse(source, error);
          const next = inUse ? sources?.after(source) : undefined;
          if (next === undefined) this.failed(address, inUse ? outOfPorts() : error, others);
          else this.tryFrom(next, address, others);
        },
        isUnanswered: () => handlers.isUnanswered?.() === true,
        onDrained: () => {
          if (isCurrent()) handlers.onDrained?.();
        },
      },
    );
    this.inner = inner;
    clearTimeout(this.timer);
    if (others.length === 0 || this.places.working.has(this.place)) return;
    this.timer = setTimeout(() => {
      if (!isCurrent() || this.isOpen) return;
      this.attempt++;
      inner.close();
      this.tryNext(others);
    }, ATTEMPT_MS);
  }

  private opened(address: string): void {
    clearTimeout(this.timer);
    this.places.working.set(this.place, address);
    this.isOpen = true;
    this.handlers.onOpen();
    for (const bytes of this.queue.splice(0)) this.inner?.write(bytes);
  }

  private failed(address: string, error: Error | undefined, others: readonly string[]): void {
    clearTimeout(this.timer);
    const { working } = this.places;
    if (working.get(this.place) === address) working.delete(this.place);
    // An address of a family that this host does not support proves nothing about the server.
    if (this.error === undefined || isUnroutable(this.error)) this.error = error;
    this.tryNext(others);
  }

  /** Fails; the next connection resolves the name again. */
  private fail(error: Error | undefined): void {
    this.places.addresses.delete(this.target.host);
    this.finish(error);
  }

  private finish(error: Error | undefined): void {
    if (this.isFinished) return;
    this.isFinished = true;
    this.isOpen = false;
    clearTimeout(this.timer);
    this.queue.length = 0;
    this.handlers.onClose(error);
  }
}

function noSource(address: string): Error {
  return Object.assign(new Error(`No source address is ${familyOf(address)}`), { code: "EAFNOSUPPORT" });
}

/** Returns the same error on every runtime. */
function outOfPorts(): Error {
  return Object.assign(new Error("No free port"), { code: "EADDRINUSE" });
}

function isUnroutable(error: Error): boolean {
  return /^(EADDRNOTAVAIL|EAFNOSUPPORT|ENETUNREACH|EHOSTUNREACH)$/.test((error as { code?: string }).code ?? "");
}
