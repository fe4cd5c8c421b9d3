import { message } from "../../../src/service/protobuf/message.ts";

/**
 * The messages that the runner of Connect's conformance suite exchanges with a client under test, as far as gRPC's calls need them
 * (connectrpc.conformance.v1, client_compat.proto and service.proto). Messages that are only passed on are bytes here.
 */

const HEADER = message(() => ({ name: [1, "string"], value: [2, "string", "repeated"] }));

const ANY = message(() => ({ type_url: [1, "string"], value: [2, "bytes"] }));

const TLS_CREDENTIALS = message(() => ({ cert: [1, "bytes"], key: [2, "bytes"] }));

const CANCEL = message(() => ({
  before_close_send: [1, "bytes"],
  after_close_send_ms: [2, "uint32"],
  after_num_responses: [3, "uint32"],
}));

/** One call that the client is to make. */
export const CLIENT_REQUEST = message(() => ({
  test_name: [1, "string"],
  compression: [5, "int32"],
  host: [6, "string"],
  port: [7, "uint32"],
  server_tls_cert: [8, "bytes"],
  client_tls_creds: [9, TLS_CREDENTIALS],
  message_receive_limit: [10, "uint32"],
  service: [11, "string"],
  method: [12, "string"],
  stream_type: [13, "int32"],
  request_headers: [15, HEADER, "repeated"],
  request_messages: [16, ANY, "repeated"],
  timeout_ms: [17, "uint32"],
  request_delay_ms: [18, "uint32"],
  cancel: [19, CANCEL],
}));

const ERROR = message(() => ({ code: [1, "int32"], message: [2, "string"], details: [3, "bytes", "repeated"] }));

const RESULT = message(() => ({
  response_headers: [1, HEADER, "repeated"],
  payloads: [2, "bytes", "repeated"],
  error: [3, ERROR],
  response_trailers: [4, HEADER, "repeated"],
}));

const CLIENT_ERROR = message(() => ({ message: [1, "string"] }));

/** What became of a call. */
export const CLIENT_RESPONSE = message(() => ({
  test_name: [1, "string"],
  response: [2, RESULT],
  error: [3, CLIENT_ERROR],
}));

/** The responses of all the suite's methods, as far as they are the same. */
export const ANY_RESPONSE = message(() => ({ payload: [1, "bytes"] }));

/** `google.rpc.Status`, which `grpc-status-details-bin` carries. */
export const RPC_STATUS = message(() => ({
  code: [1, "int32"],
  message: [2, "string"],
  details: [3, "bytes", "repeated"],
}));
