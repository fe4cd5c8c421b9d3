// The request of every client: model `simple`, two INT32 tensors of 64 bytes a batch. Rampart and perf_analyzer make it from their flags; the
// others get it from here, laid out as those two send it.

const columns = 16;
const inputs = ["INPUT0", "INPUT1"];
const outputs = ["OUTPUT0", "OUTPUT1"];

/** Values as good as random for a transport; the same on every run. */
function makeTensor(batch: number): Buffer {
  const tensor = Buffer.alloc(batch * columns * 4);
  for (let i = 0; i < tensor.length; i++) tensor[i] = (i * 167 + 89) & 0xff;
  return tensor;
}

/** A request with KServe's binary tensor extension: headers and body. */
export function makeHttpRequest(batch: number): { headers: Record<string, string>; body: Buffer } {
  const size = makeTensor(batch).length;
  const header = JSON.stringify({
    id: "",
    inputs: inputs.map((name) => ({
      name,
      datatype: "INT32",
      shape: [batch, columns],
      parameters: { binary_data_size: size },
    })),
    outputs: outputs.map((name) => ({ name, parameters: { binary_data: true } })),
  });
  return {
    headers: { "Inference-Header-Content-Length": String(header.length), "Content-Type": "application/octet-stream" },
    body: Buffer.concat([Buffer.from(header), ...inputs.map(() => makeTensor(batch))]),
  };
}

/** A wrk script that posts the request. @param bodyFile where its body is */
export function makeWrkScript(batch: number, bodyFile: string): string {
  const headers = Object.entries(makeHttpRequest(batch).headers).map(
    ([name, value]) => `wrk.headers["${name}"] = "${value}"`,
  );
  return ['wrk.method = "POST"', ...headers, `wrk.body = io.open("${bodyFile}", "rb"):read("*a")`, ""].join("\n");
}

/** The same request as a protobuf message (ModelInferRequest). */
export function makeGrpcMessage(batch: number): Buffer {
  const text = (number: number, value: string) => writeField(number, Buffer.from(value));
  const shape = writeField(3, Buffer.from([...encodeVarint(batch), columns]));
  return Buffer.concat([
    text(1, "simple"),
    ...inputs.map((name) => writeField(5, Buffer.concat([text(1, name), text(2, "INT32"), shape]))),
    ...outputs.map((name) => writeField(6, text(1, name))),
    ...inputs.map(() => writeField(7, makeTensor(batch))),
  ]);
}

/** A length-delimited protobuf field. */
function writeField(number: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...encodeVarint(value.length)]), value]);
}

function encodeVarint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...encodeVarint(value >>> 7)];
}
