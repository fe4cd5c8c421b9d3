// The request of every client: model `simple`, batch 8, two INT32 tensors of 512 bytes. Rampart and perf_analyzer make it from their
// flags; wrk and ghz get it from here, laid out as those two send it.

const batch = 8;
const columns = 16;
const inputs = ["INPUT0", "INPUT1"];
const outputs = ["OUTPUT0", "OUTPUT1"];

/** Tensor bytes of one request. */
export const tensorBytes = inputs.length * batch * columns * 4;

/** Values as good as random for a transport; the same on every run. */
function makeTensor(): Buffer {
  const tensor = Buffer.alloc(batch * columns * 4);
  for (let i = 0; i < tensor.length; i++) tensor[i] = (i * 167 + 89) & 0xff;
  return tensor;
}

/** A wrk script that posts the request with KServe's binary tensor extension. */
export function makeWrkScript(): string {
  const size = makeTensor().length;
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
  const body = Buffer.concat([Buffer.from(header), ...inputs.map(makeTensor)]);
  const escaped = [...body].map((byte) => `\\${String(byte).padStart(3, "0")}`).join("");
  return [
    'wrk.method = "POST"',
    `wrk.headers["Inference-Header-Content-Length"] = "${header.length}"`,
    'wrk.headers["Content-Type"] = "application/octet-stream"',
    `wrk.body = "${escaped}"`,
    "",
  ].join("\n");
}

/** The same request as a protobuf message (ModelInferRequest). */
export function makeGrpcMessage(): Buffer {
  const text = (number: number, value: string) => writeField(number, Buffer.from(value));
  const shape = writeField(3, Buffer.from([batch, columns]));
  return Buffer.concat([
    text(1, "simple"),
    ...inputs.map((name) => writeField(5, Buffer.concat([text(1, name), text(2, "INT32"), shape]))),
    ...outputs.map((name) => writeField(6, text(1, name))),
    ...inputs.map(() => writeField(7, makeTensor())),
  ]);
}

/** A length-delimited protobuf field of fewer than 2^14 bytes. */
function writeField(number: number, value: Buffer): Buffer {
  const length = value.length < 128 ? [value.length] : [(value.length & 127) | 128, value.length >> 7];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), value]);
}
