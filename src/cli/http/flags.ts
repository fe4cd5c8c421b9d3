import { HTTP_METHODS } from "../../transport/request.ts";
import { type Flag, HELP_FLAG } from "../flags.ts";
import { sharedFlags } from "../shared-flags.ts";

/** How long to measure without a number of requests. */
export const DEFAULT_FOR = "10s";

/** The options of `rampart http`. Names and letters are those of curl, hey and oha where they agree. */
export const FLAGS: readonly Flag[] = [
  { name: "concurrency", short: "c", value: "N", default: "1", help: "Requests in flight. With --rate: at most." },
  { name: "rate", short: "r", value: "N", help: "Send N requests per second, whatever the server does." },
  { name: "for", value: "DURATION", defaultText: `${DEFAULT_FOR}, without --requests`, help: "Measure for this long." },
  { name: "requests", short: "n", value: "N", help: "Measure this number of requests instead." },
  { name: "warmup", value: "DURATION", help: "Send requests for this long first, which are not measured." },
  {
    name: "method",
    short: "m",
    value: "METHOD",
    choices: HTTP_METHODS,
    defaultText: "POST with a body, otherwise GET",
    help: "Method.",
  },
  { name: "request", short: "X", value: "METHOD", choices: HTTP_METHODS, help: "The same as --method, like in curl." },
  {
    name: "data",
    short: "d",
    value: "TEXT|@FILE|@-",
    help: "Body: this text, the bytes of a file, or those of standard input. JSON is sent as application/json.",
  },
  {
    name: "form",
    short: "F",
    value: "NAME=VALUE|NAME=@FILE",
    help: "Field of a multipart/form-data body; may be given several times. ;type=… after a file gives its type.",
  },
  {
    name: "status",
    value: "LIST",
    defaultText: "200 to 299",
    help: "Statuses of successful responses, such as 200,404. Redirects are not followed.",
  },
  {
    name: "success",
    value: "EXPRESSION",
    help: "JMESPath expression over the JSON response that must be true: 'error == null'.",
  },
  {
    name: "extract",
    value: "NAME=EXPRESSION",
    help: "Report this value of JSON responses, a JMESPath expression: tokens=usage.total_tokens; may be given several times.",
  },
  {
    name: "max-error-rate",
    value: "PERCENT",
    help: "Exit with 65 if a larger share of requests fails: 1%.",
  },
  { name: "url", value: "URL", help: "Another server; requests go to all in turn. May be given several times." },
  { name: "cacert", value: "FILE", help: "PEM file of the authorities to trust." },
  { name: "cert", value: "FILE", help: "PEM file of the client's certificate." },
  { name: "key", value: "FILE", help: "PEM file of its private key." },
  ...sharedFlags("http"),
  HELP_FLAG,
];
