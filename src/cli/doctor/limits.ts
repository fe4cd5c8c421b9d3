import { formatCount } from "../../plan/units.ts";
import { readLimit } from "../../runtime/machine.ts";
import { isThisHost } from "../../runtime/this-host.ts";
import { type AskedLoad, type Check, type Finding, impossible, ok, unknown, warning } from "./finding.ts";
import { type Host, readNumber } from "./host.ts";

/** Checks of the system's limits for the requested load. */

/** Number of open files of a run besides its connections: reports, code, pipes. */
const OTHER_FILES = 64;
/** Time for which Linux keeps a closed connection's port. Source: TCP_TIMEWAIT_LEN in the kernel. */
const TIME_WAIT_S = 60;
const BUSY_PORTS_RATIO = 0.5;

/** The checks, in the order of the report. */
export const LIMIT_CHECKS: readonly Check[] = [
  { name: "open files", isLimit: true, run: checkOpenFiles },
  { name: "ephemeral ports", run: checkPorts },
  { name: "listen backlog", run: checkBacklog },
];

/** With gRPC, many requests share a connection. */
function connectionsOf({ concurrency, protocol }: AskedLoad): number | undefined {
  return protocol === "http" ? concurrency : undefined;
}

function checkOpenFiles(host: Host, load: AskedLoad): Finding {
  const read = readLimit("Max open files", (path) => host.read(path));
  if (read === undefined) return unknown("this system does not report the limit on open files");
  const { limit, hardLimit } = read;
  const connections = connectionsOf(load);
  const values = { limit: finite(limit), hardLimit: finite(hardLimit), connections };
  const most = Math.max(0, limit - OTHER_FILES);
  if (connections !== undefined && connections > most) {
    const fix =
      hardLimit - OTHER_FILES >= connections
        ? `Run ulimit -n ${connections + OTHER_FILES} first`
        : `Raise the limit for this user (nofile in /etc/security/limits.conf, or --ulimit nofile=${connections + OTHER_FILES} of a container)`;
    return impossible(
      `${limit} open files are allowed, and ${connections} requests in flight over HTTP/1.1 need as many connections`,
      fix,
      values,
    );
  }
  return ok(`${describeLimit(limit)} open files: enough for ${describeLimit(most)} connections`, values);
}

/** JSON has no infinity. */
function finite(limit: number): number | "unlimited" {
  return Number.isFinite(limit) ? limit : "unlimited";
}

function describeLimit(limit: number): string {
  return Number.isFinite(limit) ? formatCount(limit) : "unlimited";
}

function checkPorts(host: Host, load: AskedLoad): Finding {
  const range = host.read("/proc/sys/net/ipv4/ip_local_port_range")?.trim().split(/\s+/).map(Number);
  const [first, last] = range ?? [];
  if (first === undefined || last === undefined)
    return unknown("this system does not report the range of ephemeral ports");
  const count = last - first + 1;
  const waiting = Number(/^TCP:.* tw (\d+)/m.exec(host.read("/proc/net/sockstat") ?? "")?.[1] ?? Number.NaN);
  const connections = connectionsOf(load);
  const values = { ports: count, timeWait: Number.isNaN(waiting) ? undefined : waiting };
  const widen = "Widen it: sysctl -w net.ipv4.ip_local_port_range='1024 65535'";
  if (connections !== undefined && connections > count)
    return impossible(
      `${count} ephemeral ports, and ${connections} connections to one address need as many`,
      widen,
      values,
    );
  if (waiting > count * BUSY_PORTS_RATIO)
    return warning(
      `${waiting} of ${count} ephemeral ports are in TIME_WAIT`,
      "Wait a minute before you measure",
      values,
    );
  const { ratePerSec = 0, protocol } = load;
  const newPerSec = Math.floor(count / TIME_WAIT_S);
  if (protocol === "http" && ratePerSec > newPerSec)
    return warning(
      `${count} ephemeral ports allow ${newPerSec} new connections per second to one address; ${ratePerSec} requests per second fail if the server closes the connection after each`,
      "Let the server keep connections open, or allow reuse: sysctl -w net.ipv4.tcp_tw_reuse=1",
      values,
    );
  const busy = Number.isNaN(waiting) ? "" : `, ${formatCount(waiting)} in TIME_WAIT`;
  return ok(`${formatCount(count)} ephemeral ports${busy}`, values);
}

/** This host's backlog matters only for a server on this host. */
function checkBacklog(host: Host, load: AskedLoad): Finding {
  const most = readNumber(host, "/proc/sys/net/core/somaxconn");
  if (most === undefined) return unknown("this system does not report the limit on the listen backlog");
  const isLocal = load.host === undefined || isThisHost(load.host);
  const connections = connectionsOf(load) ?? 0;
  if (isLocal && connections > most)
    return warning(
      `a server on this host can have ${most} connections that it has not accepted yet; ${connections} open at once`,
      `Raise it: sysctl -w net.core.somaxconn=${connections}`,
      { somaxconn: most },
    );
  return ok(`a server on this host can have ${formatCount(most)} connections that it has not accepted yet`, {
    somaxconn: most,
  });
}
