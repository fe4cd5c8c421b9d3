import { type Problem, UserError } from "../../plan/problem.ts";
import { drawIndex, drawNormal, type Random } from "../../runtime/random.ts";
import type { AudioClip } from "../../service/openai/prompt-entry.ts";
import type { Spread } from "../prompts/lengths.ts";

/** What sounds to make up. */
export interface AudioSettings {
  readonly lengthS: Spread;
  /** Drawn from for each clip: 8, 16, 24 or 32 bits. */
  readonly depthsBits: readonly number[];
  /** Drawn from for each clip. */
  readonly sampleRatesHz: readonly number[];
  /** 1 or 2. */
  readonly channelCount: number;
}

/** Shorter clips are not made. */
const SHORTEST_S = 0.1;
/** Of the full scale. */
const NOISE_STDDEV = 0.3;
const DEPTHS_BITS = [8, 16, 24, 32];
const HEADER_BYTES = 44;
const PCM = 1;

/** What is wrong with the settings; empty when nothing is. */
export function checkAudio({ lengthS, depthsBits, sampleRatesHz, channelCount }: AudioSettings): Problem[] {
  const problems: Problem[] = [];
  const add = (path: string, message: string, value: unknown, hint: string): void => {
    problems.push({ path, message, value: String(value), hint });
  };
  if (lengthS.mean < SHORTEST_S) {
    add("--audio-length-mean", "is too short", lengthS.mean, `Give ${SHORTEST_S} seconds or more.`);
  }
  const depth = depthsBits.find((bits) => !DEPTHS_BITS.includes(bits));
  if (depth !== undefined) add("--audio-depths", "is no bit depth", depth, `Choose from ${DEPTHS_BITS.join(", ")}.`);
  const rate = sampleRatesHz.find((hz) => !(hz >= 1));
  if (rate !== undefined) add("--audio-sample-rates", "is no sample rate", rate, "Give kHz, as 16.");
  if (channelCount !== 1 && channelCount !== 2) {
    add("--audio-num-channels", "is no number of channels", channelCount, "Choose 1 (mono) or 2 (stereo).");
  }
  return problems;
}

/** A clip of noise as a WAV file; the same numbers give the same bytes. @throws UserError: see {@link checkAudio} */
export function makeAudio(random: Random, settings: AudioSettings): AudioClip {
  const problems = checkAudio(settings);
  if (problems.length > 0) throw new UserError(problems);
  const rateHz = Math.trunc(settings.sampleRatesHz[drawIndex(random, settings.sampleRatesHz.length)] as number);
  const bits = settings.depthsBits[drawIndex(random, settings.depthsBits.length)] as number;
  const frameCount = Math.trunc(drawLength(random, settings.lengthS) * rateHz);
  const bytes = makeWav({ rateHz, bits, channelCount: settings.channelCount, frameCount });
  writeNoise(random, bytes.subarray(HEADER_BYTES), bits / 8);
  return { format: "wav", base64: bytes.toString("base64") };
}

/** Drawn again until it is long enough, so that the rest of the distribution keeps its form. */
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

/** A WAV file (RIFF, PCM) of silence. */
function makeWav({ rateHz, bits, channelCount, frameCount }: WavFormat): Buffer {
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
  return bytes;
}

function writeNoise(random: Random, samples: Buffer, sampleBytes: number): void {
  const scale = 2 ** (sampleBytes * 8 - 1) - 1;
  for (let at = 0; at < samples.length; at += sampleBytes) {
    const level = Math.min(1, Math.max(-1, drawNormal(random, 0, NOISE_STDDEV)));
    const value = Math.trunc(level * scale);
    // Samples of eight bits are the only unsigned ones.
    if (sampleBytes === 1) samples.writeUInt8(value + 128, at);
    else samples.writeIntLE(value, at, sampleBytes);
  }
}
