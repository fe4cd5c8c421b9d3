import { type Flag, HELP_FLAG } from "../flags.ts";

/** The options of `rampart doctor`. */
export const FLAGS: readonly Flag[] = [
  { name: "url", value: "URL", help: "Server to measure: host:port, or http://host:port. It only gets connections." },
  { name: "concurrency", short: "c", value: "N", help: "Requests in flight that will be asked for." },
  { name: "rate", short: "r", value: "N", help: "Requests per second that will be asked for." },
  {
    name: "protocol",
    value: "NAME",
    choices: ["http", "grpc"],
    default: "http",
    help: "Protocol of the load. HTTP/1.1 needs a connection for each request in flight.",
  },
  { name: "json", help: "Print the findings as JSON." },
  HELP_FLAG,
];
