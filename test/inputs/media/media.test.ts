import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import * as fc from "fast-check";
import jpeg from "jpeg-js";
import { openEncoders } from "../../../src/inputs/media/encoders.ts";
import { encodePng, PALETTE_COLOURS } from "../../../src/inputs/media/png.ts";
import { type AudioSettings, checkAudio, makeAudio } from "../../../src/inputs/media/synthetic-audio.ts";
import { makeImage } from "../../../src/inputs/media/synthetic-image.ts";
import { PromptMaker } from "../../../src/inputs/prompts/prompt-maker.ts";
import { DEFAULT_PROMPTS } from "../../../src/inputs/prompts/settings.ts";
import { word } from "../../../src/plan/messages.ts";
import { createRandom } from "../../../src/runtime/random.ts";
import { collect } from "../prompts/collect.ts";

const exact = (mean: number) => ({ mean, stddev: 0 });
/** Of the first images and sounds ever made by the seed 42: no runtime may make others. */
const HASHES = {
  png: "f708141565b5174d",
  jpeg: "26443d2d727aa62b",
  wav: "60475f0fef279691",
  mp3: "101ad5524c4bf9a1",
};
const encoders = await openEncoders({ isJpegNeeded: true, isMp3Needed: true });

function hashOf(base64: string): string {
  return createHash("sha256").update(base64).digest("hex").slice(0, 16);
}

/** The chunks of a PNG file by their types. */
function readChunks(bytes: Buffer): Map<string, Buffer> {
  assert.deepEqual([...bytes.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    chunks.set(bytes.toString("latin1", at + 4, at + 8), bytes.subarray(at + 8, at + 8 + size));
    at += size + 12;
  }
  return chunks;
}

function decode(url: string, format = "png"): Buffer {
  const [head = "", data = ""] = url.split(",");
  assert.equal(head, `data:image/${format};base64`);
  return Buffer.from(data, "base64");
}

test("PNG files have their size, palette and pixels", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 400 }), fc.nat(), (width, height, seed) => {
      const random = createRandom(seed);
      const palette = Uint8Array.from({ length: PALETTE_COLOURS * 3 }, () => random() * 256);
      const pixels = Uint8Array.from({ length: width * height }, () => random() * 256);
      const chunks = readChunks(Buffer.from(encodePng({ width, height, palette, pixels })));
      const header = chunks.get("IHDR") as Buffer;
      assert.deepEqual([header.readUInt32BE(0), header.readUInt32BE(4), header[8], header[9]], [width, height, 8, 3]);
      assert.deepEqual([...(chunks.get("PLTE") as Buffer)], [...palette]);
      // Checks the sum of Adler too.
      const rows = inflateSync(chunks.get("IDAT") as Buffer);
      assert.equal(rows.length, height * (width + 1));
      const last = (height - 1) * (width + 1);
      assert.equal(rows[last], 0);
      assert.ok(rows.subarray(last + 1).equals(pixels.subarray((height - 1) * width)));
    }),
    { numRuns: 20 },
  );
});

test("the sum of a chunk is that of the standard", () => {
  const bytes = Buffer.from(
    encodePng({ width: 1, height: 1, palette: new Uint8Array(768), pixels: new Uint8Array(1) }),
  );
  // Every PNG file ends with this chunk.
  assert.equal(bytes.subarray(-12).toString("hex"), "0000000049454e44ae426082");
});

test("synthetic images have the size asked for, and the seed decides them on every runtime", () => {
  const settings = { widthPx: exact(64), heightPx: exact(48), format: "png" } as const;
  const url = makeImage(createRandom(42), settings, encoders);
  assert.equal(hashOf(url), HASHES.png);
  const header = readChunks(decode(url)).get("IHDR") as Buffer;
  assert.deepEqual([header.readUInt32BE(0), header.readUInt32BE(4)], [64, 48]);
  const varied = { widthPx: { mean: 10, stddev: 20 }, heightPx: exact(0), format: "png" } as const;
  const sizes = Array.from({ length: 20 }, (_, seed) =>
    (readChunks(decode(makeImage(createRandom(seed), varied, encoders))).get("IHDR") as Buffer).readUInt32BE(0),
  );
  assert.ok(Math.min(...sizes) >= 1 && new Set(sizes).size > 5);
});

test("JPEG images decode to the colours of the PNG image of the same seed", () => {
  const size = { widthPx: exact(50), heightPx: exact(33) };
  const url = makeImage(createRandom(42), { ...size, format: "jpeg" }, encoders);
  assert.equal(hashOf(url), HASHES.jpeg);
  const { width, height, data } = jpeg.decode(decode(url, "jpeg"));
  assert.deepEqual([width, height], [50, 33]);
  const chunks = readChunks(decode(makeImage(createRandom(42), { ...size, format: "png" }, encoders)));
  const rows = inflateSync(chunks.get("IDAT") as Buffer);
  const palette = chunks.get("PLTE") as Buffer;
  let difference = 0;
  for (let y = 0; y < 33; y++)
    for (let x = 0; x < 50; x++)
      for (let channel = 0; channel < 3; channel++) {
        const colour = palette[(rows[y * 51 + 1 + x] as number) * 3 + channel] as number;
        difference += Math.abs(colour - (data[(y * 50 + x) * 4 + channel] as number));
      }
  // Of 255: what is lost is less than the noise is strong.
  assert.ok(difference / (50 * 33 * 3) < 12, `${difference / (50 * 33 * 3)}`);
});

test("the format of images is drawn where none is given", () => {
  const size = { widthPx: exact(4), heightPx: exact(4) };
  const formats = Array.from({ length: 40 }, (_, seed) =>
    makeImage(createRandom(seed), size, encoders).slice(0, "data:image/png".length),
  );
  const pngCount = formats.filter((format) => format === "data:image/png").length;
  assert.ok(pngCount > 10 && pngCount < 30, `${pngCount} of 40`);
});

const audio: AudioSettings = {
  lengthS: exact(0.5),
  depthsBits: [16],
  sampleRatesHz: [16_000],
  channelCount: 1,
  format: "wav",
};

test("synthetic sounds are WAV files of the length, depth and rate asked for", () => {
  for (const bits of [8, 16, 24, 32]) {
    for (const channelCount of [1, 2]) {
      const clip = makeAudio(
        createRandom(1),
        { ...audio, depthsBits: [bits], channelCount, sampleRatesHz: [8000] },
        encoders,
      );
      const bytes = Buffer.from(clip.base64, "base64");
      assert.equal(clip.format, "wav");
      assert.equal(bytes.toString("latin1", 0, 4) + bytes.toString("latin1", 8, 16), "RIFFWAVEfmt ");
      assert.equal(bytes.readUInt32LE(4), bytes.length - 8);
      assert.deepEqual(
        [bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.readUInt16LE(34)],
        [channelCount, 8000, bits],
      );
      assert.equal(bytes.readUInt32LE(40), 4000 * channelCount * (bits / 8));
      assert.equal(bytes.length, 44 + bytes.readUInt32LE(40));
    }
  }
  assert.equal(hashOf(makeAudio(createRandom(42), audio, encoders).base64), HASHES.wav);
});

/** Samples of one frame of MPEG audio, layer 3: half as many below MPEG 1's rates (ISO 13818-3). */
const FRAME_SAMPLES = { mpeg1: 1152, mpeg2: 576 };

test("synthetic sounds are MP3 files of the length and rate asked for", () => {
  for (const [rateHz, channelCount] of [
    [16_000, 1],
    [44_100, 2],
  ] as const) {
    const clip = makeAudio(
      createRandom(42),
      { ...audio, channelCount, sampleRatesHz: [rateHz], format: "mp3" },
      encoders,
    );
    assert.equal(clip.format, "mp3");
    if (rateHz === 16_000) assert.equal(hashOf(clip.base64), HASHES.mp3);
    const bytes = Buffer.from(clip.base64, "base64");
    const isMpeg1 = rateHz === 44_100;
    assert.deepEqual([bytes[0], (bytes[1] as number) & 0xfe], [0xff, isMpeg1 ? 0xfa : 0xf2]);
    // Channel mode 3 is mono.
    assert.equal((bytes[3] as number) >> 6 === 3, channelCount === 1);
    const frameBytes = ((isMpeg1 ? 144 : 72) * 64_000) / rateHz;
    const seconds = ((bytes.length / frameBytes) * (isMpeg1 ? FRAME_SAMPLES.mpeg1 : FRAME_SAMPLES.mpeg2)) / rateHz;
    assert.ok(seconds > 0.5 && seconds < 0.65, `${seconds} s`);
  }
});

test("noise uses the whole scale around its middle", () => {
  const clip = Buffer.from(makeAudio(createRandom(3), audio, encoders).base64, "base64").subarray(44);
  const samples = Array.from({ length: clip.length / 2 }, (_, index) => clip.readInt16LE(index * 2) / 32767);
  const mean = samples.reduce((sum, value) => sum + value, 0) / samples.length;
  const variance = samples.reduce((sum, value) => sum + (value - mean) ** 2, 0) / samples.length;
  assert.ok(Math.abs(mean) < 0.02, `mean ${mean}`);
  assert.ok(Math.abs(Math.sqrt(variance) - 0.3) < 0.02, `deviation ${Math.sqrt(variance)}`);
});

test("what cannot be made is refused by its flag", () => {
  const wrong = {
    lengthS: exact(0),
    depthsBits: [16, 12],
    sampleRatesHz: [0, 96_000],
    channelCount: 3,
    format: "mp3",
  } as const;
  assert.deepEqual(
    checkAudio(wrong).map(({ path, value }) => [word(path), value]),
    [
      ["inputs.audio.lengthS", "0"],
      ["inputs.audio.depthsBits", "12"],
      ["inputs.audio.sampleRatesHz", "0"],
      ["inputs.audio.sampleRatesHz", "96"],
      ["inputs.audio.channelCount", "3"],
    ],
  );
  assert.deepEqual(checkAudio(audio), []);
  assert.throws(() => makeAudio(createRandom(1), wrong, encoders), /audio\.depthsBits: is not a bit depth/);
});

test("requests get as many images and sounds as asked for, and texts only where wanted", async () => {
  const images = { widthPx: exact(8), heightPx: exact(8) };
  const entries = await collect({ entryCount: 3, images, audio, imagesPerRequest: 2, isl: exact(5) });
  for (const entry of entries) {
    assert.equal(entry.texts.length, 1);
    assert.equal(new Set(entry.images).size, 2);
    assert.equal(entry.audio?.length, 1);
  }
  const pictures = await collect({ entryCount: 2, images, textsPerRequest: 0 }, null);
  assert.deepEqual(
    pictures.map(({ texts, images: made }) => [texts.length, made?.length]),
    [
      [0, 1],
      [0, 1],
    ],
  );
});

test("too many images for one request are refused before all are made", () => {
  const images = { widthPx: exact(5000), heightPx: exact(5000), format: "png" } as const;
  const settings = { seed: 1, images, imagesPerRequest: 1_000_000_000, audioPerRequest: 0 };
  const maker = new PromptMaker({ ...DEFAULT_PROMPTS, ...settings }, undefined);
  assert.throws(() => maker.media({ list: "", position: 0 }, encoders), {
    name: "UserError",
    message: /the generated images and clips of one request take more than 256 MiB/,
  });
});

test("images and clips that are far too large are refused before they are made", () => {
  const sizes = { widthPx: exact(1_000_000), heightPx: exact(1_000_000), format: "png" } as const;
  assert.throws(() => makeImage(createRandom(1), sizes, encoders), {
    name: "UserError",
    message: /an image of 1000000 × 1000000 pixels takes 1,000,000,000,000 bytes, more than the maximum of 67,108,864/,
  });
  const settings = { lengthS: exact(1e6), depthsBits: [16], sampleRatesHz: [16_000], channelCount: 1 };
  for (const format of ["wav", "mp3"] as const)
    assert.throws(() => makeAudio(createRandom(1), { ...settings, format }, encoders), {
      name: "UserError",
      message: /a clip of 1000000 s takes 32,000,000,000 bytes/,
    });
});
