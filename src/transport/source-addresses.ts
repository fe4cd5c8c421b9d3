import { readPortRange } from "../runtime/machine.ts";

/** Where a connection comes from. */
export interface Source {
  readonly address: string;
  /** Absent: the system chooses a port. */
  readonly port?: number;
}

/** After a walk over all ports found none, later ones look at this number of them. */
const FEW_PORTS = 64;

/**
 * Gives the connections to one server their source addresses in turn, and their ports. Left to itself, Linux gives a port of an address to
 * one connection only, whatever its server; above half of all ports it takes milliseconds to find one, in which the event loop stands still.
 * A port that is named may have connections to other servers too.
 */
export class SourceTurns {
  private readonly byFamily: ReadonlyMap<Family, readonly string[]>;
  /** By address. Empty where the system does not report its ports, and chooses them. */
  private readonly walks: ReadonlyMap<string, PortWalk>;
  private turn: number;

  /**
   * @param addresses one or more
   * @param first number of the first one; wraps around. Default: 0
   * @param ports the system's for connections
   * @param startRatio where in them to begin, 0 to 1. Default: random, because other processes may use the same addresses
   */
  constructor(addresses: readonly string[], first = 0, ports = readPortRange(), startRatio = Math.random()) {
    this.byFamily = Map.groupBy(addresses, familyOf);
    const known = Number.isFinite(ports[1]) ? addresses : [];
    this.walks = new Map(known.map((address) => [address, new PortWalk(address, ports, startRatio)]));
    this.turn = first;
  }

  /** Returns the next source of the family of the server's address; undefined if there is none. */
  next(server: string): Source | undefined {
    const addresses = this.byFamily.get(familyOf(server)) ?? [];
    const address = addresses[this.turn++ % addresses.length];
    return address === undefined ? undefined : (this.walks.get(address)?.next() ?? { address });
  }

  /** Returns another port of an address whose source has been in use; undefined when it has none left. */
  after({ address }: Source): Source | undefined {
    const walk = this.walks.get(address);
    return walk?.miss() === true ? walk.next() : undefined;
  }

  /** A connection from this source is open. */
  opened({ address }: Source): void {
    this.walks.get(address)?.hit();
  }
}

/** Goes over the ports of an address, round and round. */
class PortWalk {
  private readonly address: string;
  private readonly first: number;
  private readonly count: number;
  private position: number;
  /** Ports in a row that could not be used. */
  private misses = 0;

  constructor(address: string, [first, last]: readonly [first: number, last: number], startRatio: number) {
    this.address = address;
    this.first = first;
    this.count = last - first + 1;
    this.position = Math.floor(this.count * startRatio);
  }

  next(): Source {
    return { address: this.address, port: this.first + (this.position++ % this.count) };
  }

  hit(): void {
    this.misses = 0;
  }

  /** Returns whether to try another one. */
  miss(): boolean {
    if (++this.misses < this.count) return true;
    this.misses = Math.max(0, this.count - FEW_PORTS);
    return false;
  }
}

/** Whether a connection could not be opened because its source is in use. Runtimes have several words for that where a port was given. */
export function isInUse({ port }: Source, error: Error | undefined): boolean {
  const code = (error as { code?: string } | undefined)?.code ?? "";
  return code === "EADDRINUSE" || (port !== undefined && (code === "EADDRNOTAVAIL" || code === "EINVAL"));
}

type Family = "IPv4" | "IPv6";

/** Returns the family of an address. */
export function familyOf(address: string): Family {
  return address.includes(":") ? "IPv6" : "IPv4";
}
