import { checkAudio } from "../../../inputs/media/synthetic-audio.ts";
import type { Problem } from "../../../plan/problem.ts";
import type { PromptEntry } from "../../../service/openai/prompt-entry.ts";
import { wordProblem } from "../../setting-names.ts";
import { type GenaiSettings, isDefault, type SettingPath } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";

/** What images, sounds and batches a request may have, by its endpoint type. */

const IMAGE_TYPES = [
  "multimodal",
  "vision",
  "nvclip",
  "image_retrieval",
  "huggingface_generate",
  "responses",
  "messages",
  "template",
];
const AUDIO_TYPES = ["multimodal", "vision", "template"];
/** Their bodies have room for one text. */
const SINGLE_TEXT_TYPES = ["chat", "multimodal", "vision", "kserve", "responses", "messages"];

interface Given {
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;
}

/** Media of an input file that requests of the endpoint type have no place for; undefined when there are none. */
export function findLostMedia(
  { images = [], audio = [] }: PromptEntry,
  { endpoint }: GenaiSettings,
): string | undefined {
  if (images.length > 0 && !IMAGE_TYPES.includes(endpoint.type)) return "images";
  return audio.length > 0 && !AUDIO_TYPES.includes(endpoint.type) ? "sounds" : undefined;
}

/** What the user asked for and this endpoint type would not get. */
export function checkMedia(settings: GenaiSettings, given: GivenSettings): Problem[] {
  const all = { settings, given };
  return [...checkImages(all), ...checkSounds(all), ...checkBatches(all)];
}

/** Whether images are made up. */
export function hasMadeUpImages({ input }: GenaiSettings): boolean {
  return input.image.widthPx.mean > 0 && input.image.heightPx.mean > 0;
}

/** Whether sounds are made up. */
export function hasMadeUpAudio({ input }: GenaiSettings): boolean {
  return input.audio.lengthSec.mean > 0;
}

/** Whether somebody asked for something else than the default: a file may repeat defaults, as templates do. */
function isChosen({ settings, given }: Given, at: SettingPath): boolean {
  const from = given.get(at);
  return from !== undefined && (from.source === "flag" || !isDefault(settings, at));
}

function problemAt({ given }: Given, at: SettingPath, flag: string, message: string, hint: string): Problem {
  return { path: given.get(at)?.place ?? flag, message: `${flag}: ${message}`, hint };
}

const IMAGE_DETAILS: readonly (readonly [at: SettingPath, flag: string])[] = [
  ["input.image.widthPx.stddev", "--image-width-stddev"],
  ["input.image.heightPx.stddev", "--image-height-stddev"],
  ["input.image.format", "--image-format"],
];

function checkImages(all: Given): Problem[] {
  const { settings } = all;
  const { widthPx, heightPx } = settings.input.image;
  const { type } = settings.endpoint;
  const sizes = [
    ["input.image.widthPx.mean", "--image-width-mean", widthPx.mean],
    ["input.image.heightPx.mean", "--image-height-mean", heightPx.mean],
  ] as const;
  const asked = sizes.find(([, , mean]) => mean > 0);
  const hint = "Give both --image-width-mean and --image-height-mean.";
  if (asked === undefined) {
    const problems = refuseDetails(all, IMAGE_DETAILS, "says how made-up images are, and none are made up", hint);
    if (type === "image_retrieval" && isMadeUp(settings))
      problems.push(problemAt(all, "endpoint.type", "--endpoint-type", "image_retrieval has no images to send", hint));
    return problems;
  }
  const [at, flag] = asked;
  if (!hasMadeUpImages(settings)) return [problemAt(all, at, flag, "an image has a width and a height", hint)];
  return refuseMedia(all, at, flag, "images", IMAGE_TYPES);
}

const AUDIO_DETAILS: readonly (readonly [at: SettingPath, flag: string])[] = [
  ["input.audio.lengthSec.stddev", "--audio-length-stddev"],
  ["input.audio.format", "--audio-format"],
  ["input.audio.depthsBits", "--audio-depths"],
  ["input.audio.sampleRatesKhz", "--audio-sample-rates"],
  ["input.audio.channels", "--audio-num-channels"],
];

function checkSounds(all: Given): Problem[] {
  const { audio } = all.settings.input;
  if (!hasMadeUpAudio(all.settings))
    return refuseDetails(
      all,
      AUDIO_DETAILS,
      "says how made-up sounds are, and none are made up",
      "Add --audio-length-mean.",
    );
  const problems = checkAudio({ ...audio, lengthS: audio.lengthSec, ...toAudioUnits(audio) });
  const worded = problems.map((problem) => wordProblem("genai-perf", problem));
  return [...worded, ...refuseMedia(all, "input.audio.lengthSec.mean", "--audio-length-mean", "sounds", AUDIO_TYPES)];
}

/** The units of the flags as the maker of sounds has them. */
export function toAudioUnits(audio: GenaiSettings["input"]["audio"]): {
  sampleRatesHz: number[];
  channelCount: number;
} {
  return { sampleRatesHz: audio.sampleRatesKhz.map((kHz) => Math.round(kHz * 1000)), channelCount: audio.channels };
}

function isMadeUp({ input }: GenaiSettings): boolean {
  return input.file === "" || input.file.startsWith("synthetic:");
}

function refuseDetails(
  all: Given,
  details: readonly (readonly [at: SettingPath, flag: string])[],
  message: string,
  hint: string,
): Problem[] {
  return details.filter(([at]) => isChosen(all, at)).map(([at, flag]) => problemAt(all, at, flag, message, hint));
}

/** Media that are made up, for requests that cannot have them. */
function refuseMedia(all: Given, at: SettingPath, flag: string, what: string, types: readonly string[]): Problem[] {
  const { settings } = all;
  const { type } = settings.endpoint;
  const problems: Problem[] = [];
  const refuse = (isBroken: boolean, message: string, hint: string): void => {
    if (isBroken) problems.push(problemAt(all, at, flag, message, hint));
  };
  refuse(
    !types.includes(type),
    `requests of the endpoint type ${type} have no ${what}`,
    `Leave it out, or use --endpoint-type ${types.join(", ")}.`,
  );
  refuse(!isMadeUp(settings), `${what} are only made up beside made-up prompts`, "Leave it out, or --input-file.");
  refuse(settings.input.sessions.count > 0, `made-up sessions have no ${what}`, "Leave it out, or --num-sessions.");
  return problems;
}

function checkBatches(all: Given): Problem[] {
  const { input, endpoint } = all.settings;
  const { type } = endpoint;
  const problems: Problem[] = [];
  if (input.textBatchSize !== 1 && SINGLE_TEXT_TYPES.includes(type))
    problems.push(
      problemAt(
        all,
        "input.textBatchSize",
        "--batch-size-text",
        `The --batch-size-text flag is not supported for ${type}.`,
        "Leave it out: a request has one text.",
      ),
    );
  const batches = [
    ["input.image.batchSize", "--batch-size-image", "images", IMAGE_TYPES],
    ["input.audio.batchSize", "--batch-size-audio", "sounds", AUDIO_TYPES],
  ] as const;
  for (const [at, flag, what, types] of batches)
    if (isChosen(all, at) && !types.includes(type as (typeof types)[number]))
      problems.push(problemAt(all, at, flag, `requests of the endpoint type ${type} have no ${what}`, "Leave it out."));
  return problems;
}
