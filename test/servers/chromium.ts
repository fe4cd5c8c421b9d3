import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createReadStream, createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createBrotliDecompress } from "node:zlib";
import { WebSocket } from "undici";
import { installOnce } from "./install-once.ts";
import { endGroup } from "./process-group.ts";

/** A real browser without a screen, from the npm registry, to test pages in. It is driven by the DevTools protocol. */

const VERSION = "153.0.0";
const PACKAGE = `@sparticuz/chromium@${VERSION}`;
const INSTALL_LIMIT_MS = 300_000;
const START_LIMIT_MS = 60_000;
const CALL_LIMIT_MS = 60_000;
const END_LIMIT_MS = 5000;
const run = promisify(execFile);

/** A page that is open in the browser. */
export interface OpenPage {
  /** Errors and messages of the console since the page was opened, and what it tried to load. */
  readonly messages: readonly string[];
  /** Addresses that the page asked for, without its own. */
  readonly requests: readonly string[];
  /** Evaluates an expression in the page, and waits for its promise. Throws when it throws. */
  evaluate<T>(expression: string): Promise<T>;
  /** Sets the size of the window. @param isDark whether the system prefers dark colours */
  resize(widthPx: number, heightPx: number, isDark?: boolean): Promise<void>;
  /** Lays the page out for paper, as when it is about to be printed. */
  prepareToPrint(widthPx: number): Promise<void>;
  /** Takes a picture of the whole page. @param path of a PNG file */
  takePicture(path: string): Promise<void>;
}

/** A browser. */
export interface Browser {
  /** @param hasScripts whether the page's scripts run. Default: true */
  open(url: string, hasScripts?: boolean): Promise<OpenPage>;
  close(): Promise<void>;
}

/** Installs the browser into the cache once. Returns its folder. */
function installChromium(): Promise<string> {
  return installOnce(`chromium-${VERSION}`, "done", async (draft) => {
    await run("npm", ["pack", "--silent", PACKAGE], { cwd: draft, timeout: INSTALL_LIMIT_MS });
    await run("tar", ["xzf", `sparticuz-chromium-${VERSION}.tgz`], { cwd: draft });
    const bin = join(draft, "package", "bin");
    await unpack(join(bin, "chromium.br"), join(draft, "chromium"));
    for (const name of ["al2023", "swiftshader"]) {
      await unpack(join(bin, `${name}.tar.br`), join(draft, `${name}.tar`));
      await run("tar", ["xf", `${name}.tar`], { cwd: draft });
    }
    for (const name of ["package", "al2023.tar", "swiftshader.tar", `sparticuz-chromium-${VERSION}.tgz`])
      rmSync(join(draft, name), { recursive: true, force: true });
    writeFileSync(join(draft, "done"), "");
  });
}

async function unpack(from: string, to: string): Promise<void> {
  await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to, { mode: 0o755 }));
}

/** Starts a browser. Throws when it does not start. */
export async function startChromium(): Promise<Browser> {
  const folder = await installChromium();
  const profile = mkdtempSync(join(tmpdir(), "rampart-chromium-"));
  const flags = ["--headless", "--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage"];
  const own = ["--remote-debugging-port=0", `--user-data-dir=${profile}`, "--hide-scrollbars", "--no-first-run"];
  const child = spawn(join(folder, "chromium"), [...flags, ...own, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
    env: { ...process.env, LD_LIBRARY_PATH: `${join(folder, "lib")}:${folder}` },
  });
  const end = async (): Promise<void> => {
    await endGroup(child, END_LIMIT_MS);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const link = await DevTools.connect(await addressOf(child));
    return {
      open: (url, hasScripts = true) => openPage(link, url, hasScripts),
      close: async () => {
        link.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Returns the address of the DevTools protocol, which the browser prints. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const fail = (reason: string): void => reject(new Error(`Chromium ${reason}:\n${text}`));
    const timer = setTimeout(() => fail("did not start"), START_LIMIT_MS);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code) => fail(`ended with ${code}`));
    child.stderr?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const [, address] = /listening on (ws:\S+)/.exec(text) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
  });
}

type Answer = Readonly<Record<string, unknown>>;
type Listener = (method: string, params: Answer) => void;

/** A connection of the DevTools protocol. */
class DevTools {
  private readonly socket: WebSocket;
  private readonly waiting = new Map<number, (message: Answer) => void>();
  private readonly listeners = new Map<string, Listener>();
  private lastId = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(String(data)) as Answer & { id?: number; sessionId?: string; method?: string };
      if (message.id !== undefined) this.waiting.get(message.id)?.(message);
      else if (message.sessionId !== undefined && message.method !== undefined)
        this.listeners.get(message.sessionId)?.(message.method, message["params"] as Answer);
    });
  }

  static connect(address: string): Promise<DevTools> {
    const socket = new WebSocket(address);
    return new Promise((resolve, reject) => {
      socket.addEventListener("open", () => resolve(new DevTools(socket)));
      socket.addEventListener("error", () => reject(new Error(`no connection to ${address}`)));
    });
  }

  async call(method: string, params: object = {}, sessionId?: string): Promise<Answer> {
    const id = ++this.lastId;
    const answered = new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), CALL_LIMIT_MS);
      this.waiting.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
    });
    this.socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    const { result, error } = (await answered) as { result?: Answer; error?: { message: string } };
    this.waiting.delete(id);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  }

  listen(sessionId: string, listener: Listener): void {
    this.listeners.set(sessionId, listener);
  }

  close(): void {
    this.socket.close();
  }
}

async function openPage(link: DevTools, url: string, hasScripts: boolean): Promise<OpenPage> {
  const { targetId } = await link.call("Target.createTarget", { url: "about:blank" });
  const { sessionId } = (await link.call("Target.attachToTarget", { targetId, flatten: true })) as {
    sessionId: string;
  };
  const messages: string[] = [];
  const requests: string[] = [];
  const loaded = new Promise<void>((resolve) => {
    link.listen(sessionId, (method, params) => {
      if (method === "Page.loadEventFired") resolve();
      else if (
        method === "Runtime.exceptionThrown" ||
        method === "Runtime.consoleAPICalled" ||
        method === "Log.entryAdded"
      )
        messages.push(JSON.stringify(params));
      else if (method === "Network.requestWillBeSent") {
        const { request } = params as { request: { url: string } };
        if (request.url !== url && !/^(?:data|blob):/.test(request.url)) requests.push(request.url);
      }
    });
  });
  const call = (method: string, params: object = {}): Promise<Answer> => link.call(method, params, sessionId);
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await call(`${domain}.enable`);
  await call("Emulation.setScriptExecutionDisabled", { value: !hasScripts });
  await call("Page.navigate", { url });
  await loaded;
  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = (await call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })) as { result: { value: T }; exceptionDetails?: object };
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  };
  return {
    messages,
    requests,
    evaluate,
    resize: async (width, height, isDark = false) => {
      const features = [{ name: "prefers-color-scheme", value: isDark ? "dark" : "light" }];
      await call("Emulation.setEmulatedMedia", { features });
      await call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
      // Two frames: one that lays the page out, and one that draws what its size changed. Without scripts nothing waits for frames.
      if (hasScripts)
        await evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))");
    },
    prepareToPrint: async (width) => {
      await call("Emulation.setDeviceMetricsOverride", { width, height: 1000, deviceScaleFactor: 1, mobile: false });
      await call("Emulation.setEmulatedMedia", { media: "print" });
      await evaluate("dispatchEvent(new Event('beforeprint'))");
    },
    takePicture: async (path) => {
      const { data } = await call("Page.captureScreenshot", { format: "png", captureBeyondViewport: false });
      writeFileSync(path, Buffer.from(String(data), "base64"));
    },
  };
}
