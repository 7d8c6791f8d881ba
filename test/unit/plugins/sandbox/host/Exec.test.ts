import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { makeExec } from "../../../../../src/agents/plugins/sandbox/host/Exec.ts"
import { visibleEnvironment } from "../../../../../src/agents/plugins/sandbox/host/Environment.ts"
import { make as timers } from "../../../../../src/platform/Timers.ts"
import { callOf, openSandbox, pluginOf } from "../../../../support/Sandboxes.ts"
import { temporaryFolder } from "../../../../support/TemporaryFolder.ts"

const environment = new Map([
  ["PATH", "/usr/bin:/bin"],
  ["GATEWAY_ADMIN_KEY", "secret-of-the-gateway"],
  ["GATEWAY_PLUGINS_ALLOW_EXEC", "1"],
  ["OPENAI_API_KEY", "sk-secret"]
])

describe("programs of a plugin", () => {
  it.scopedLive("run with an argument list, without a shell and without the gateway's environment", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const exec = makeExec(timers, environment, join(folder, "data"))
      const run = (program: string, args: ReadonlyArray<string>, input = "") => exec({ program, args, input })
      const echo = yield* run("echo", ["$(id)", "; touch x", "`id`", "$HOME"])
      assert.deepStrictEqual(echo.value, { code: 0, stdout: "$(id) ; touch x `id` $HOME\n", stderr: "" })
      assert.deepStrictEqual((yield* run("/bin/cat", [], "é")).value, { code: 0, stdout: "é", stderr: "" })
      assert.deepStrictEqual((yield* run("pwd", [])).value, {
        code: 0,
        stdout: `${join(folder, "data")}\n`,
        stderr: ""
      })
      const env = JSON.stringify((yield* run("env", [])).value)
      assert.notInclude(env, "secret")
      const failed = (yield* run("ls", ["/no/such/folder"])).value
      assert.deepInclude(failed, { code: 2, stdout: "" })
      assert.isFalse(existsSync(join(folder, "data", "x")))
      for (const program of ["./echo", "../bin/echo", "no-such-program", "", "echo\u0000", "bin/echo"]) {
        assert.strictEqual((yield* Effect.either(run(program, [])))._tag, "Left", program)
      }
      assert.strictEqual((yield* Effect.either(exec({ program: "echo", args: [1] })))._tag, "Left")
      const flood = yield* Effect.either(run("yes", []))
      assert.match(flood._tag === "Left" ? flood.left.message : "", /printed more than/)
    })
  )

  it.scopedLive("give their output to both functions, and end with the call", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { sandbox } = yield* openSandbox(
        pluginOf(`onRequest: async (context, { sleep }) => {
          if (sleep) { child_process.execSync("sleep", ["30"]); return }
          const now = child_process.execSync("echo", ["now"])
          const later = await child_process.exec("cat", [], { input: "later" })
          const missing = (() => { try { child_process.execSync("no-such-program") } catch (e) { return e.code } })()
          return modifyBody({ now, later, missing })
        }`),
        {
          permissions: ["exec"],
          dataFolder: folder,
          environment: Object.fromEntries(environment),
          limits: { timeoutMs: 5_000 }
        }
      )
      const outcome = yield* sandbox.call(callOf({}))
      assert.deepStrictEqual(
        JSON.parse(outcome._tag === "Changed" ? Buffer.from(outcome.body).toString() : JSON.stringify(outcome)),
        {
          now: { code: 0, stdout: "now\n", stderr: "" },
          later: { code: 0, stdout: "later", stderr: "" },
          missing: "ENOENT"
        }
      )
      const hanging = yield* openSandbox(pluginOf('onRequest: () => { child_process.execSync("sleep", ["30"]) }'), {
        permissions: ["exec"],
        dataFolder: folder,
        environment: Object.fromEntries(environment),
        limits: { timeoutMs: 300 }
      })
      const late = yield* hanging.sandbox.call(callOf({}))
      assert.match(late._tag === "Failed" ? late.reason : "", /longer|too long/)
    })
  )
})

describe("the environment that a plugin sees", () => {
  it("has nothing of the gateway and no secrets", () => {
    const shown = visibleEnvironment(
      new Map([
        ["PATH", "/bin"],
        ["TZ", "UTC"],
        ["REGION", "eu"],
        ["GATEWAY_LOG_LEVEL", "debug"],
        ["gateway_x", "y"],
        ["OPENAI_API_KEY", "x"],
        ["AWS_SECRET_ACCESS_KEY", "x"],
        ["AWS_ACCESS_KEY_ID", "x"],
        ["GITHUB_TOKEN", "x"],
        ["GH_PAT", "x"],
        ["DB_PASSWORD", "x"],
        ["PGPASSWORD", "x"],
        ["MYSQL_PWD", "x"],
        ["SENTRY_DSN", "x"],
        ["DATABASE_URL", "x"],
        ["SOME_URL", "https://user:pw@example.com/"],
        ["PLAIN_URL", "https://example.com/"],
        ["PLAN", "sk-proj-abcdefghijklmnop"],
        ["HARMLESS", `ghp_${"a1B2".repeat(9)}`],
        ["NOTE", `eyJ${"hbGciOi".repeat(3)}.${"eyJzdWI".repeat(3)}.x`],
        ["COLOUR", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c"],
        ["SHAPE", "AKIAIOSFODNN7EXAMPLE"],
        ["MOOD", "Bearer abcdefghijklmnopqrstuvwx"],
        ["TEXT", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"],
        ["REMARK", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
        ["NUMBER", "3f2504e0-4f89-11d3-9a0c-0305e82c3301"],
        ["STORE", "Server=db;User Id=app;Password=hunter2"],
        ["PLACE", "https://example.com/x?api_key=abc"],
        ["LS_COLORS", "rs=0:di=01;34:ln=01;36:mh=00"],
        ["LANG", "en_GB.UTF-8"],
        ["HOST_NAME", "worker-7.internal.example.com"],
        ["NODE_PATH", "/usr/lib/node_modules:/opt/tools/lib"],
        ["WORDS", "a-name-of-many-words-and-nothing-else"],
        ["OTEL_EXPORTER_OTLP_HEADERS", "x"],
        ["SESSION_COOKIE", "x"],
        ["MY_CREDENTIALS", "x"],
        ["npm_config__auth", "x"],
        ["__proto__", "x"]
      ])
    )
    assert.deepStrictEqual(shown, {
      PATH: "/bin",
      TZ: "UTC",
      REGION: "eu",
      PLAIN_URL: "https://example.com/",
      LS_COLORS: "rs=0:di=01;34:ln=01;36:mh=00",
      LANG: "en_GB.UTF-8",
      HOST_NAME: "worker-7.internal.example.com",
      NODE_PATH: "/usr/lib/node_modules:/opt/tools/lib",
      WORDS: "a-name-of-many-words-and-nothing-else"
    })
  })

  it.scopedLive("is read-only", () =>
    Effect.gen(function* () {
      const { sandbox } = yield* openSandbox(
        pluginOf(`onRequest: () => {
          const tried = ["A", "B"].map((name) => { try { process.env[name] = "changed"; return "no error" } catch (e) { return e.name } })
          try { delete process.env.A } catch (e) { tried.push(e.name) }
          return modifyBody({ tried, a: process.env.A, has: "GATEWAY_ADMIN_KEY" in process.env, names: Object.keys(process.env), keys: Object.keys(process) })
        }`),
        { permissions: ["env"], environment: { A: "1", GATEWAY_ADMIN_KEY: "secret" } }
      )
      const outcome = yield* sandbox.call(callOf({}))
      assert.deepStrictEqual(
        JSON.parse(outcome._tag === "Changed" ? Buffer.from(outcome.body).toString() : JSON.stringify(outcome)),
        {
          tried: ["TypeError", "TypeError", "TypeError"],
          a: "1",
          has: false,
          names: ["A"],
          keys: ["env"]
        }
      )
    })
  )
})
