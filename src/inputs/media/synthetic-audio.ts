import type { Text } from "../../plan/messages.ts";
import { type Problem, problem, UserError } from "../../plan/problem.ts";
import { createRandomFor, drawIndex, drawNormal, type Random } from "../../runtime/random.ts";
import type { AudioClip } from "../../service/openai/prompt-entry.ts";
import type { Spread } from "../lengths.ts";
import { type MediaEncoders, MP3_RATES_HZ, refuseLargeMedia, type SoundSamples } from "./encoders.ts";

export interface AudioSettings {
  readonly lengthS: Spread;
  /** Bit depths to draw from: 8, 16, 24 or 32. */
  readonly depthsBits: readonly number[];
  readonly sampleRatesHz: readonly number[];
  /** 1 or 2. */
  readonly channelCount: number;
  readonly format: AudioClip["format"];
}

/** Minimum length of a clip. */
const SHORTEST_S = 0.1;
/** Relative to full scale. */
const NOISE_STDDEV = 0.3;
const DEPTHS_BITS = [8, 16, 24, 32];
const HEADER_BYTES = 44;
const PCM = 1;

/** Returns the problems of the settings; empty if they are valid. */
export function checkAudio({ lengthS, depthsBits, sampleRatesHz, channelCount, format }: AudioSettings): Problem[] {
  const problems: Problem[] = [];
  const add = (path: Text, message: string, value: unknown, hint: string): void => {
    problems.push(problem("invalid-value", path, message, hint, String(value)));
  };
  if (lengthS.mean < SHORTEST_S) {
    add({ setting: "inputs.audio.lengthS" }, "is too short", lengthS.mean, `Give ${SHORTEST_S} seconds or more.`);
  }
  const depth = depthsBits.find((bits) => !DEPTHS_BITS.includes(bits));
  if (depth !== undefined)
    add({ setting: "inputs.audio.depthsBits" }, "is not a bit depth", depth, `Choose from ${DEPTHS_BITS.join(", ")}.`);
  const rate = sampleRatesHz.find((hz) => !(hz >= 1));
  if (rate !== undefined)
    add({ setting: "inputs.audio.sampleRatesHz" }, "is not a sample rate", rate / 1000, "Give kHz, such as 16.");
  const unsupported = sampleRatesHz.find((hz) => hz >= 1 && !(MP3_RATES_HZ as readonly number[]).includes(hz));
  if (format === "mp3" && unsupported !== undefined) {
    const known = MP3_RATES_HZ.map((hz) => hz / 1000).join(", ");
    add(
      { setting: "inputs.audio.sampleRatesHz" },
      "is not a sample rate of MP3",
      unsupported / 1000,
      `Choose from ${known} kHz.`,
    );
  }
  if (channelCount !== 1 && channelCount !== 2) {
    add(
      { setting: "inputs.audio.channelCount" },
      "is not a number of channels",
      channelCount,
      "Choose 1 (mono) or 2 (stereo).",
    );
  }
  return problems;
}

/**
 * Generates a clip of noise. The same random numbers give the same bytes. @throws UserError if it is too large; see also {@link checkAudio}
 */
export function makeAudio(random: Random, settings: AudioSettings, encoders: MediaEncoders): AudioClip {
  const problems = checkAudio(settings);
  if (problems.length > 0) throw new UserError(problems);
  const { format, channelCount, sampleRatesHz, depthsBits } = settings;
  const rateHz = Math.trunc(sampleRatesHz[drawIndex(random, sampleRatesHz.length)] as number);
  const bits = depthsBits[drawIndex(random, depthsBits.length)] as number;
  const frameCount = Math.trunc(drawLength(random, settings.lengthS) * rateHz);
  refuseLargeMedia(`a clip of ${Math.trunc(frameCount / rateHz)} s`, (frameCount * channelCount * bits) / 8);
  const wav = { rateHz, bits, channelCount, frameCount };
  const bytes = format === "wav" ? makeWav(random, wav) : encoders.encodeMp3(makeSound(random, wav));
  return { format, base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64") };
}

/** Draws again until the length is valid, so that the rest of the distribution keeps its shape. */
function drawLength(random: Random, { mean, stddev }: Spread): number {
  for (;;) {
    const seconds = drawNormal(random, mean, stddev);
    if (seconds >= SHORTEST_S) return seconds;
  }
}

interface WavFormat {
  readonly rateHz: number;
  readonly bits: number;
  readonly channelCount: number;
  readonly frameCount: number;
}

/** Returns a WAV file (RIFF, PCM) of noise. */
function makeWav(random: Random, { rateHz, bits, channelCount, frameCount }: WavFormat): Buffer {
  const frameBytes = (bits / 8) * channelCount;
  const dataBytes = frameCount * frameBytes;
  const bytes = Buffer.alloc(HEADER_BYTES + dataBytes);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  bytes.write("WAVEfmt ", 8, "latin1");
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(PCM, 20);
  bytes.writeUInt16LE(channelCount, 22);
  bytes.writeUInt32LE(rateHz, 24);
  bytes.writeUInt32LE(rateHz * frameBytes, 28);
  bytes.writeUInt16LE(frameBytes, 32);
  bytes.writeUInt16LE(bits, 34);
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(dataBytes, 40);
  writeNoise(random, bytes.subarray(HEADER_BYTES), bits / 8);
  return bytes;
}

function writeNoise(random: Random, samples: Buffer, sampleBytes: number): void {
  const draw = openNoise(random, sampleBytes * 8);
  switch (sampleBytes) {
    case 1:
      // 8-bit samples are unsigned; all others are signed.
      for (let at = 0; at < samples.length; at++) samples[at] = draw() + 128;
      break;
    case 2:
      for (let at = 0; at < samples.length; at += 2) samples.writeInt16LE(draw(), at);
      break;
    default:
      for (let at = 0; at < samples.length; at += sampleBytes) samples.writeIntLE(draw(), at, sampleBytes);
  }
}

/** Returns the same noise as a WAV file, rounded to its bit depth. */
function makeSound(random: Random, { rateHz, bits, channelCount, frameCount }: WavFormat): SoundSamples {
  const channels = Array.from({ length: channelCount }, () => new Float32Array(frameCount));
  const draw = openNoise(random, bits);
  const scale = 2 ** (bits - 1) - 1;
  for (let frame = 0; frame < frameCount; frame++) for (const channel of channels) channel[frame] = draw() / scale;
  return { rateHz, channels };
}

/** Number of noise levels, a power of two. They are drawn once, because drawing every sample of every clip could take minutes. */
const NOISE_LEVELS = 65_536;
let levels: Float64Array | undefined;

/** Returns a generator of samples: the noise levels in a random order, each once before any repeats. */
function openNoise(random: Random, bits: number): () => number {
  levels ??= drawLevels();
  const scale = 2 ** (bits - 1) - 1;
  const samples = levels.map((level) => Math.trunc(level * scale));
  // An odd step visits all levels.
  const step = 2 * drawIndex(random, NOISE_LEVELS / 2) + 1;
  let at = drawIndex(random, NOISE_LEVELS);
  return () => {
    at = (at + step) % NOISE_LEVELS;
    return samples[at] as number;
  };
}

function drawLevels(): Float64Array {
  const random = createRandomFor(0, "noise");
  return Float64Array.from({ length: NOISE_LEVELS }, () =>
    Math.min(1, Math.max(-1, drawNormal(random, 0, NOISE_STDDEV))),
  );
}
