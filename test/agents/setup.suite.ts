/**
 * Each coding tool that npm has is set up by `gateway setup-<tool>`, does a task with tools through the gateway with nothing but what that wrote,
 * and is as it was before after `--undo`. Variables here only keep the tools from asking questions and from calling home.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Fake from "../support/FakeUpstream.ts"
import type { Agent, Package, ToolUse } from "./Agents.ts"
import { ensure } from "./Cache.ts"
import { chosen } from "./Chosen.ts"
import * as Gateway from "./Gateway.ts"
import * as Place from "./Place.ts"
import { run } from "./Run.ts"
import * as Script from "./Script.ts"
import { launchers } from "../../src/agents/tools/Launchers.ts"
import { columns } from "./Table.ts"
import { wires } from "./upstream/All.ts"

const limitMs = 90_000
const bin = fileURLToPath(new URL("../../bin/gateway", import.meta.url))

interface Tool {
  readonly id: string
  readonly package: Package
  readonly args: (prompt: string) => ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  readonly read: (file: string) => ToolUse
  readonly edit: (file: string, from: string, to: string) => ToolUse
}

const shell = (tool: string, name: string, isList = false) => {
  const use = (command: string): ToolUse => ({ tool, args: { [name]: isList ? [command] : command } })
  return {
    read: (file: string) => use(`cat '${file}'`),
    edit: (file: string, from: string, to: string) => use(`sed -i 's/${from}/${to}/' '${file}'`)
  }
}

const tools: ReadonlyArray<Tool> = [
  {
    id: "claude",
    package: { name: "@anthropic-ai/claude-code", version: "2.1.197", command: "claude" },
    args: (prompt) => ["-p", prompt, "--output-format", "json", "--dangerously-skip-permissions"],
    env: { IS_SANDBOX: "1", DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
    read: (file) => ({ tool: "Read", args: { file_path: file } }),
    edit: (file, from, to) => ({ tool: "Edit", args: { file_path: file, old_string: from, new_string: to } })
  },
  {
    id: "codex",
    package: { name: "@openai/codex", version: "0.169.0", command: "codex" },
    args: (prompt) => ["exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox", prompt],
    ...shell("exec_command", "cmd")
  },
  {
    id: "gemini",
    package: { name: "@google/gemini-cli", version: "0.61.0", command: "gemini" },
    args: (prompt) => ["-p", prompt, "--skip-trust", "--yolo", "-o", "json"],
    env: { GEMINI_TELEMETRY_ENABLED: "false", GEMINI_CLI_NO_RELAUNCH: "true" },
    read: (file) => ({ tool: "read_file", args: { file_path: file } }),
    edit: (file, from, to) => ({
      tool: "replace",
      args: { file_path: file, old_string: from, new_string: to, instruction: "Change the colour." }
    })
  },
  {
    id: "qwen",
    package: { name: "@qwen-code/qwen-code", version: "0.15.10", command: "qwen" },
    args: (prompt) => ["-p", prompt, "--yolo", "-o", "json"],
    read: (file) => ({ tool: "read_file", args: { file_path: file } }),
    edit: (file, from, to) => ({ tool: "edit", args: { file_path: file, old_string: from, new_string: to } })
  },
  {
    id: "opencode",
    package: { name: "opencode-ai", version: "1.18.33", command: "opencode" },
    args: (prompt) => ["run", "--format", "json", prompt],
    env: {
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_PERMISSION: '{"*":"allow"}'
    },
    read: (file) => ({ tool: "read", args: { filePath: file } }),
    edit: (file, from, to) => ({ tool: "edit", args: { filePath: file, oldString: from, newString: to } })
  },
  {
    id: "kilo",
    package: { name: "@kilocode/cli-linux-x64", version: "7.7.9", command: "kilo", file: "bin/kilo" },
    args: (prompt) => ["run", "--format", "json", "--auto", prompt],
    env: {
      KILO_DISABLE_MODELS_FETCH: "1",
      KILO_DISABLE_AUTOUPDATE: "1",
      KILO_DISABLE_LSP_DOWNLOAD: "1",
      KILO_PERMISSION: '{"*":"allow"}'
    },
    read: (file) => ({ tool: "read", args: { filePath: file } }),
    edit: (file, from, to) => ({ tool: "edit", args: { filePath: file, oldString: from, newString: to } })
  },
  {
    id: "pi",
    package: { name: "@mariozechner/pi-coding-agent", version: "0.73.1", command: "pi" },
    args: (prompt) => ["--mode", "json", "--no-session", "-p", prompt],
    env: { PI_OFFLINE: "1", PI_TELEMETRY: "0", PI_SKIP_VERSION_CHECK: "1" },
    ...shell("bash", "command")
  },
  {
    id: "cline",
    package: { name: "cline", version: "3.0.65", command: "cline" },
    args: (prompt) => ["--json", prompt],
    env: { CLINE_TELEMETRY_DISABLED: "1" },
    ...shell("run_commands", "commands", true)
  },
  {
    id: "continue",
    package: { name: "@continuedev/cli", version: "1.5.47", command: "cn" },
    args: (prompt) => ["--auto", "-p", prompt],
    env: { CONTINUE_TELEMETRY_ENABLED: "0", CI: "1" },
    ...shell("Bash", "command")
  }
]

interface Row {
  readonly tool: string
  readonly setUp: string
  readonly task: string
  readonly undone: string
  launched: string
}

const scope = Effect.runSync(Scope.make())
const started = <A>(effect: Effect.Effect<A, never, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.extend(effect, scope))
const rows: Array<Row> = []
let gateway: Gateway.Gateway
let upstream: Fake.FakeUpstream
let model = ""
const wire = wires.find(({ label }) => label === "chat") ?? assert.fail("no upstream of the chat wire")

beforeAll(async () => {
  gateway = await started(Gateway.start)
  upstream = await started(Fake.start)
  model = await gateway.addUpstream(wire, upstream.origin, "up-chat")
})

afterAll(async () => {
  const table = rows.map(({ launched, setUp, task, tool, undone }) => [tool, setUp, task, undone, launched])
  process.stdout.write(
    `\n${columns([["tool", "set up", "task done", "undone", "task done by launch"], ...table]).join("\n")}\n`
  )
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const setUp = (id: string, home: string, ...more: ReadonlyArray<string>) =>
  run({
    file: bin,
    args: [`setup-${id}`, "--url", gateway.url, "--gateway-key", Gateway.adminKey, "--json", ...more],
    cwd: home,
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
    limitMs: 30_000
  })

const textsIn = (home: string, files: ReadonlyArray<string>): ReadonlyArray<string> =>
  files.map((file) => (existsSync(file) ? readFileSync(file, "utf8") : "")).concat(readdirSync(home).join())

for (const tool of tools.filter(({ id }) => chosen("AGENTS_ONLY")(id))) {
  describe(`${tool.id}`, () => {
    beforeAll(() => void ensure(tool.package), 600_000)

    it("is set up, does a task, and is as it was before", async () => {
      const agent: Agent = {
        name: tool.id,
        package: tool.package,
        wire: "chat",
        launch: ({ prompt }) => ({ args: tool.args(prompt), env: tool.env ?? {} }),
        read: tool.read,
        edit: tool.edit
      }
      const place = Place.make(`setup-${tool.id}`)
      const home = join(place.folder, "home")
      const row = { tool: tool.id, setUp: "no", task: "no", undone: "no", launched: "-" }
      rows.push(row)
      const file = join(place.work, "note.txt")
      const script = Script.make(wire, agent, file, `n${process.pid}${tool.id}`)
      writeFileSync(file, `The colour is ${script.before}.\n`)
      upstream.always(script.answer)
      const done = await setUp(tool.id, home, "--model", model)
      assert.strictEqual(done.code, 0, done.stderr)
      const files = (JSON.parse(done.stdout) as { readonly files: ReadonlyArray<{ readonly path: string }> }).files
      row.setUp = "yes"
      const setting = {
        root: gateway.url,
        apiKey: "",
        model,
        prompt: `Read note.txt and make ${script.before} green.`,
        retries: false
      }
      const ran = await place.run(agent, setting, limitMs)
      const written = readFileSync(file, "utf8")
      const said = `${ran.code} ${ran.stdout.slice(-1_500)} ${ran.stderr.slice(-1_500)} ${script.problems.join("; ")}\n${gateway.log().slice(-1_500)}`
      assert.include(written, script.after, said)
      assert.strictEqual(ran.code, 0, said)
      row.task = "yes"
      const undone = await setUp(tool.id, home, "--undo")
      assert.strictEqual(undone.code, 0, undone.stderr)
      const left = textsIn(
        home,
        files.map(({ path }) => path)
      ).join("\n")
      assert.notInclude(left, gateway.url)
      assert.isFalse(/gw_\w{20}/.test(left), left)
      row.undone = "yes"
      place.leave(() => ({ ran, script: script.problems }))
    })

    it.runIf(launchers.some(({ id }) => id === tool.id))(
      "does a task when it is launched, and nothing is written",
      async () => {
        const place = Place.make(`launch-${tool.id}`)
        const home = join(place.folder, "home")
        const file = join(place.work, "note.txt")
        const agent: Agent = {
          name: tool.id,
          package: tool.package,
          wire: "chat",
          launch: () => ({ args: [], env: {} }),
          read: tool.read,
          edit: tool.edit
        }
        const script = Script.make(wire, agent, file, `l${process.pid}${tool.id}`)
        writeFileSync(file, `The colour is ${script.before}.\n`)
        upstream.always(script.answer)
        const prompt = `Read note.txt and make ${script.before} green.`
        const flags = ["--url", gateway.url, "--gateway-key", Gateway.adminKey, "-m", model]
        const ran = await run({
          file: bin,
          args: ["launch", ...flags, tool.id, "--", ...tool.args(prompt)],
          cwd: place.work,
          env: {
            PATH: `${dirname(ensure(tool.package))}:${process.env["PATH"] ?? ""}`,
            HOME: home,
            TERM: "dumb",
            LANG: "C.UTF-8",
            ...tool.env
          },
          limitMs
        })
        const said = `${ran.code} ${ran.stdout.slice(-1_500)} ${ran.stderr.slice(-1_500)} ${script.problems.join("; ")}`
        assert.include(readFileSync(file, "utf8"), script.after, said)
        assert.strictEqual(ran.code, 0, said)
        assert.isFalse(existsSync(join(home, ".config/gateway")))
        const row = rows.find((each) => each.tool === tool.id)
        if (row !== undefined) row.launched = "yes"
        place.leave(() => ({ ran, script: script.problems }))
      }
    )
  })
}
