// Runs on: deno, node, executable.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { tfServingService } from "../../src/mock/services/tfserving.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import { startCountingServer } from "../cli/counting-server.ts";
import { createFolder } from "../cli/rampart-process.ts";
import { HAS_ALL_CASES } from "../few-cases.ts";
import { startModelServer } from "./model-server.ts";
import { ensureTmux, Terminal } from "./terminal.ts";
import { planOfPrintedFlags } from "./written.ts";

/** `rampart init` answered by hand, in a real terminal. */

ensureTmux();

/** Runs `rampart init FLAGS` in a terminal with a folder of its own. */
async function inTerminal(
  files: Readonly<Record<string, string>>,
  flags: readonly string[],
  use: (terminal: Terminal, cwd: string) => Promise<void>,
): Promise<void> {
  using folder = createFolder(files);
  const terminal = new Terminal(["init", ...flags], folder.path);
  try {
    await use(terminal, folder.path);
  } finally {
    terminal.close();
  }
}

describe("rampart init in a terminal", () => {
  test("measures the embedded target when every question is answered with Enter", async () => {
    // Only the time is given: the default takes 8 s.
    await inTerminal({}, ["--for", "200 ms", "--p99-limit", "10 s"], async (terminal, cwd) => {
      for (const question of [
        "Which server do you want to measure?",
        "Which protocol?",
        "What do you want to find out?",
        "How do requests arrive?",
        "Which numbers of users?",
        "Which file should the scenario be written to?",
        "Run it now?",
      ]) {
        await terminal.asks(question);
        terminal.press("Enter");
      }
      const code = await terminal.exitCode();
      const screen = terminal.screen();
      // On a busy machine a level of 200 ms has too few requests for a p99.
      const isDecided = !/p99 needs\s+299\s+requests/.test(screen);
      assert.equal(code, isDecided ? 0 : 66, screen);
      assert.deepEqual(readdirSync(cwd), ["embedded.ts"]);
      assert.match(screen, /The run takes about 1 s \(4 levels of 200 ms and a warm-up\)[\s\S]*Which file/);
      assert.match(screen, / {2}embedded: simple, embedded target, http /);
      assert.match(screen, isDecided ? /^ {2}pass .*p99/m : /^ {2}unresolved .*p99/m);
      assert.match(screen, /^ {2}rampart perf_analyzer .*--concurrency-range 1:4/m);
    });
  });

  test("breaks its sentences at words on a narrow terminal, each line with its bar", async () => {
    using folder = createFolder({});
    const terminal = new Terminal(["init"], folder.path, 60);
    try {
      await terminal.asks("Which server do you want to measure?");
      assert.match(terminal.screen(), /^● {2}Enter answers, .*\n│ {2}ends without writing anything\.$/m);
    } finally {
      terminal.close();
    }
  });

  test("Ctrl-C ends it, with 130 and nothing written", async () => {
    await inTerminal({}, [], async (terminal, cwd) => {
      await terminal.asks("Which server do you want to measure?");
      terminal.press("Enter");
      await terminal.waitFor(/The target is the embedded target\. Escape chooses another\./);
      await terminal.asks("Which protocol?");
      terminal.press("Escape");
      await terminal.asks("What do you want to measure?");
      terminal.press("C-c");
      assert.equal(await terminal.exitCode(), 130, terminal.screen());
      assert.match(terminal.screen(), /ended, nothing was written/);
      assert.deepEqual(readdirSync(cwd), []);
    });
  });

  test("Ctrl-C while the new scenario runs prints a partial report and keeps the scenario", async () => {
    const flags = ["--yes", "--users", "2", "--for", "20 s"];
    await inTerminal({}, flags, async (terminal, cwd) => {
      await terminal.waitFor(/measuring concurrency 2/);
      await new Promise((resolve) => setTimeout(resolve, 300));
      terminal.press("C-c");
      assert.equal(await terminal.exitCode(), 130, terminal.screen());
      assert.match(terminal.screen(), /partial|interrupted/i);
      assert.ok(existsSync(join(cwd, "embedded.ts")));
    });
  });
});

// No runtime changes these.
if (HAS_ALL_CASES)
  describe("the questions of rampart init in a terminal", () => {
    test("asks for a server's address again, shows its models, and rejects unsupported ones", async () => {
      const gone = await startCountingServer();
      await gone.stop();
      await using server = await startModelServer();
      await inTerminal({ "made.ts": "mine" }, [], async (terminal, cwd) => {
        await terminal.asks("Which server do you want to measure?");
        terminal.replace(`127.0.0.1:${gone.port}`);
        await terminal.waitFor(new RegExp(`Nothing answers at 127\\.0\\.0\\.1:${gone.port}`));
        await terminal.asks("What do you want to measure?");
        terminal.press("Enter");
        await terminal.asks("Which protocol?");
        terminal.press("Enter");
        await terminal.waitFor(/refused/i);
        await terminal.asks("What next?");
        terminal.press("Enter");
        await terminal.asks("Which server do you want to measure?");
        // What was typed is still there, to be corrected.
        await terminal.waitFor(new RegExp(`inside Rampart\\)\\n[^\\n]*127\\.0\\.0\\.1:${gone.port}`));
        terminal.replace(server.url);
        await terminal.waitFor(/triton 2\.51\.0 \(KServe v2\) over HTTP\./i);
        // The target and the protocol are known.
        await terminal.asks("Which model?");
        await terminal.waitFor(/fixed/);
        assert.doesNotMatch(terminal.screen(), /loading/);
        // The first is a sequence model.
        terminal.press("Enter");
        await terminal.waitFor(/a-decoupled cannot be measured: it is decoupled/);
        await terminal.asks("Which model?");
        terminal.press("Down", "Down");
        await terminal.waitFor(/● variable.*IN FP32\[3,-1\]/);
        terminal.press("Enter");
        await terminal.asks("What do you want to find out?");
        terminal.press("Up", "Enter");
        await terminal.asks("Which sizes");
        terminal.replace("IN:3,x");
        await terminal.waitFor(/must give IN 2 whole sizes of 1 or more/);
        terminal.replace("IN:3,7");
        await terminal.asks("How do requests arrive?");
        terminal.press("Down", "Enter");
        await terminal.asks("Which rate?");
        terminal.replace("250");
        await terminal.asks("How long?");
        terminal.replace("5");
        await terminal.waitFor(/must be a /);
        terminal.replace("stable");
        await terminal.asks("Which p99 latency");
        terminal.replace("20 ms");
        await terminal.asks("Which file should the scenario be written to?");
        terminal.replace("made.ts");
        await terminal.waitFor(/exists already/);
        terminal.replace("./other.ts");
        await terminal.asks("Run it now?");
        terminal.press("Down", "Enter");
        assert.equal(await terminal.exitCode(), 0, terminal.screen());
        assert.equal(readFileSync(join(cwd, "made.ts"), "utf8"), "mine");
        const text = readFileSync(join(cwd, "other.ts"), "utf8");
        assert.match(text, /model: "variable", shapes: \{ IN: \[3, 7\] \}/);
        assert.match(text, /load: rate\(250\b/);
        const screen = terminal.screen();
        assert.match(screen, /run it with: rampart run \.\/other\.ts/);
        // The terminal wraps long lines.
        const plan = planOfPrintedFlags(screen.replaceAll(/\n(?=\S+ --|--)/g, " "));
        assert.ok(plan.target.kind === "triton");
        assert.equal(plan.target.model, "variable");
      });
    });

    test("Escape goes back one question and keeps the answers", async () => {
      const flags = ["--target", "embedded", "--for", "200 ms", "--p99-limit", "1 h", "--no-run"];
      await inTerminal({ "file.ts": "mine" }, flags, async (terminal, cwd) => {
        await terminal.asks("Which protocol?");
        // There is nothing before the first question.
        terminal.press("Escape");
        await terminal.asks("Which protocol?");
        terminal.press("Down", "Enter");
        await terminal.asks("What do you want to find out?");
        terminal.press("Down", "Enter");
        await terminal.asks("How do requests arrive?");
        terminal.press("Enter");
        await terminal.asks("Up to how many users?");
        terminal.replace("8");
        await terminal.asks("Which share of failed requests");
        terminal.press("Enter");
        await terminal.asks("Which file");
        // Every question can be reached again, with its answer.
        terminal.press("Escape");
        await terminal.asks("Which share of failed requests");
        terminal.press("Escape");
        await terminal.asks("Up to how many users?");
        await terminal.waitFor(/Up to how many users[^\n]*\n[^\n]*8/);
        terminal.press("Escape");
        await terminal.asks("How do requests arrive?");
        terminal.press("Escape");
        await terminal.asks("What do you want to find out?");
        await terminal.waitFor(/● the limit under an SLO/);
        terminal.press("Escape");
        await terminal.asks("Which protocol?");
        await terminal.waitFor(/● gRPC/);
        terminal.press("Enter");
        await terminal.asks("What do you want to find out?");
        // Another goal has another rule for users: its own default is offered instead.
        terminal.press("Up", "Up", "Enter");
        await terminal.asks("How do requests arrive?");
        terminal.press("Enter");
        await terminal.asks("How many users at once?");
        terminal.replace("3");
        await terminal.asks("Which file should the scenario be written to?");
        terminal.replace("file.ts/x.ts");
        await terminal.waitFor(/file\.ts is not a folder/);
        terminal.replace("new/folder/x.ts");
        assert.equal(await terminal.exitCode(), 0, terminal.screen());
        const text = readFileSync(join(cwd, "new", "folder", "x.ts"), "utf8");
        assert.match(text, /embedded\(\{ protocol: "grpc" \}\)/);
        assert.match(text, /hold\(3,/);
      });
    });

    test("refuses a text that is not an address at once, and proposes not to run when the tokenizer does not load", async () => {
      await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
      const flags = ["--goal", "number", "--users", "1", "--for", "1 s", "--p99-limit", "none", "--ttft-limit", "none"];
      await inTerminal({}, [...flags, "--isl", "9", "--osl", "9", "--save", "x.ts"], async (terminal) => {
        await terminal.asks("Which server do you want to measure?");
        terminal.replace("two words");
        await terminal.waitFor(/must be host:port, http:/);
        terminal.replace(`http://127.0.0.1:${mock.httpPort}`);
        // Both APIs are there. That with a time to first token is taken, and its only model.
        await terminal.asks("Which tokenizer");
        await terminal.waitFor(
          /The target is a language model\. Escape chooses another\.[\s\S]*The model is mock-llm, the only one/,
        );
        // What is proposed runs here.
        await terminal.waitFor(/The tokenizer of mock-llm is not known: the server counts tokens\.[\s\S]*│ +none/);
        terminal.press("Escape");
        // Both are offered, and nothing else.
        await terminal.asks("What do you want to measure?");
        await terminal.waitFor(
          /○ a Triton server \(or another KServe v2 server\)\n[^\n]*● a language model \(with OpenAI's API\)\n[^○●]*$/,
        );
        // Each has models of its own.
        terminal.press("Up", "Enter");
        await terminal.asks("Run it now?");
        await terminal.waitFor(/The model is simple, the only one/);
        terminal.press("Escape");
        await terminal.asks("What do you want to measure?");
        terminal.press("Down", "Enter");
        await terminal.asks("Which tokenizer");
        terminal.replace("./o200k_base");
        await terminal.waitFor(/Did you mean o200k_base\? Give the same answer again/);
        await terminal.asks("Which tokenizer");
        terminal.press("Enter");
        await terminal.asks("Run it now?");
        await terminal.waitFor(/● no/);
        terminal.press("Escape");
        await terminal.asks("Which tokenizer");
        terminal.replace("o200k_base");
        await terminal.asks("Run it now?");
        await terminal.waitFor(/Run it now\?[^◆]*● yes[^◆]*$/);
        terminal.press("C-c");
        assert.equal(await terminal.exitCode(), 130, terminal.screen());
      });
    });

    test("asks for the model's name first where the server lists none, and looks at that model", async () => {
      await using mock = await startMock(DEFAULT_MOCK, LOOPBACK, [await tfServingService.create(DEFAULT_MOCK, "")]);
      const flags = ["--target", "tfserving", "--goal", "number", "--load", "users", "--users", "1", "--for", "1 s"];
      const rest = ["--p99-limit", "none", "--save", "x.ts", "--no-run", "--url", `127.0.0.1:${mock.grpcPort}`];
      await inTerminal({}, [...flags, ...rest], async (terminal, cwd) => {
        await terminal.asks("Which model?");
        terminal.replace("smple");
        await terminal.asks("What next?");
        terminal.press("Enter");
        await terminal.asks("Which model?");
        terminal.replace("simple");
        await terminal.asks("Which sizes");
        terminal.press("Enter");
        assert.equal(await terminal.exitCode(), 0, terminal.screen());
        assert.match(readFileSync(join(cwd, "x.ts"), "utf8"), /model: "simple", shapes: \{ INPUT0: \[1, 16\]/);
      });
    });

    test("writes a scenario without the server that does not answer", async () => {
      const gone = await startCountingServer();
      await gone.stop();
      const flags = ["--target", "triton", "--protocol", "http", "--for", "1 s", "--p99-limit", "none", "--no-run"];
      const rest = ["--url", `127.0.0.1:${gone.port}`, "--goal", "number", "--users", "2", "--save", "x.ts"];
      await inTerminal({}, [...flags, ...rest], async (terminal, cwd) => {
        await terminal.asks("What next?");
        terminal.press("Down", "Enter");
        await terminal.asks("Which model?");
        terminal.press("Enter");
        await terminal.waitFor(/must be a model's name/);
        terminal.replace("resnet50");
        assert.equal(await terminal.exitCode(), 0, terminal.screen());
        assert.match(readFileSync(join(cwd, "x.ts"), "utf8"), /model: "resnet50"/);
      });
    });

    test("asks nothing that flags answer, and reports an invalid flag before the first question", async () => {
      await inTerminal(
        {},
        ["--target", "embedded", "--protocol", "grpc", "--goal", "number", "--load", "users"],
        async (terminal) => {
          await terminal.asks("How many users at once?");
          terminal.press("C-c");
          assert.equal(await terminal.exitCode(), 130);
          assert.doesNotMatch(terminal.screen(), /What do you want|Which protocol|How do requests/);
        },
      );
      await inTerminal({}, ["--protocol", "tcp", "--goal", "number", "--for", "5"], async (terminal) => {
        assert.equal(await terminal.exitCode(), 64);
        assert.match(
          terminal.screen(),
          /--protocol: does not accept this value .*Give one of http, grpc[\s\S]*--for: must be a duration/,
        );
        assert.doesNotMatch(terminal.screen(), /What do you want/);
      });
    });
  });
