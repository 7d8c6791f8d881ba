/** Tunnel programs that misbehave, and secrets that must not get anywhere, on the built program. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isRunning, startedAt } from "../../../src/platform/programs/ProcessIdentity.ts"
import { eventually } from "../../support/eventually.ts"
import * as Program from "../../support/Program.ts"
import { type Backends, backends, manage, phase } from "../../support/tunnels/Backends.ts"

const patienceMs = 60_000

const started = Effect.fnUntraced(function* (options: Parameters<typeof backends>[0] = {}) {
  const behind = yield* backends(options)
  return { behind, program: yield* Program.start({ ...behind.environment, REQUIRE_API_KEY: "true" }) }
})

/** The process of `cloudflared` that runs now. */
const carrierOf = ({ cloudflared }: Backends) => {
  const pid = cloudflared.seen()?.pid ?? 0
  return { pid, startedAt: startedAt(pid) ?? "" }
}

const close = (program: Program.Program) => manage(program, "POST", "/api/tunnels/quick", { action: "disable" })

/** Every file under a folder, as one text. */
const contentOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n")

/** Arguments and environments of all processes that may be looked at, but for this one. */
const processTexts = (): string =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) =>
      ["cmdline", "environ"].map((file) => {
        try {
          return readFileSync(`/proc/${pid}/${file}`, "latin1")
        } catch {
          return ""
        }
      })
    )
    .join("\n")

describe("bad input to tunnels of the built program", () => {
  it.scopedLive(
    "cloudflared that prints nothing or half an address, exits, ignores SIGTERM, or floods",
    () =>
      Effect.gen(function* () {
        // Silence takes the whole time that is given to it: the others go on meanwhile, at another gateway.
        const silent = yield* started()
        silent.behind.cloudflared.behave("nothing")
        const silence = silent.behind.open(silent.program, "quick")
        const { behind, program } = yield* started()
        const { cloudflared } = behind
        yield* Effect.promise(async () => {
          const opened = (behaviour: string) => {
            cloudflared.behave(behaviour)
            return behind.open(program, "quick")
          }
          for (const [behaviour, words] of [
            ["crash before", /cloudflared ended with 1: failed to request quick Tunnel/],
            ["crash after", /cloudflared ended with 1/],
            ["rate limited", /rate limited/]
          ] as const) {
            const { json, status } = await opened(behaviour)
            assert.strictEqual(status, 200)
            // It may have been open for a moment.
            const { lastError } = json.phase === "error" ? json : await phase(program, "quick", "error")
            assert.match(lastError, words)
            const closed = await close(program)
            assert.deepInclude(closed.json, { phase: "stopped", publicUrl: null, targetUrl: null, lastError: null })
          }

          cloudflared.behave("half an address")
          const half = opened("half an address")
          await eventually("the address to be said", cloudflared.hasSaid, Boolean)
          const { json: told } = await manage(program, "GET", "/api/tunnels/quick")
          assert.deepInclude(told, { phase: "starting", publicUrl: null, running: false })
          const halfOpen = carrierOf(behind)
          await close(program)
          assert.strictEqual((await half).json.phase, "stopped")
          assert.isFalse(isRunning(halfOpen))

          assert.strictEqual((await opened("ignores SIGTERM")).json.phase, "running")
          const deaf = carrierOf(behind)
          assert.isTrue(isRunning(deaf))
          await close(program)
          assert.isFalse(isRunning(deaf))

          const before = program.stderr().length
          const flooded = await opened("flood")
          assert.deepInclude(flooded.json, { phase: "running", lastError: null })
          assert.isBelow(program.stderr().length - before, 20_000)
          assert.strictEqual((await close(program)).json.phase, "stopped")

          const { json } = await silence
          assert.deepInclude(json, { phase: "error", publicUrl: null })
          assert.match(json.lastError, /printed no address/)
          await close(silent.program)
          assert.notMatch(`${program.stderr()}${silent.program.stderr()}`, /"level":"(?:error|fatal)"/)
        })
        const { code } = yield* program.stop
        assert.strictEqual(code, 0)
      }),
    patienceMs
  )

  it.scopedLive(
    "an authtoken with control characters is refused, and none gets out",
    () =>
      Effect.gen(function* () {
        const refusal = (token: string) =>
          token.startsWith("valid-form")
            ? `The authtoken you specified is properly formed, but it is invalid.\nYour authtoken: ${token}\n\r\n\r\nERR_NGROK_107\r\n`
            : null
        const { behind, program } = yield* started({ edge: { refusal } })
        yield* Effect.promise(async () => {
          for (const authToken of [
            "secret-word\u0000x",
            "secret-word\nx",
            "secret-word\u001b[2J",
            "secret-word\u009b",
            `secret-word${"x".repeat(5_000)}`
          ]) {
            const { json, status } = await behind.open(program, "token", { authToken })
            assert.deepStrictEqual([status, json.error.param], [400, "authToken"], JSON.stringify(authToken))
            assert.notInclude(JSON.stringify(json), "secret-word")
          }
          assert.deepStrictEqual(behind.edge.tokens, [])
          const wrong = await behind.open(program, "token", { authToken: "valid-form-secret-word" })
          assert.deepInclude(wrong.json, { phase: "needs_auth", running: false })
          assert.notInclude(JSON.stringify(wrong.json), "secret-word")
          const audit = await manage(program, "GET", "/api/compliance/audit-log?limit=200")
          assert.notInclude(JSON.stringify(audit.json), "secret-word")
          assert.notInclude(processTexts(), "secret-word")
        })
        yield* program.stop
        assert.notInclude(program.stderr(), "secret-word")
        assert.notInclude(program.stdout(), "secret-word")
        // It is stored, and encrypted.
        assert.notInclude(contentOf(program.dataDir), "secret-word")
      }),
    patienceMs
  )

  it.scopedLive(
    "a password of this machine stands in no log, audit row, process or file",
    () =>
      Effect.gen(function* () {
        const sudoPassword = "password-of-this-machine"
        const { behind, program } = yield* started({ mesh: [{ denies: true }, sudoPassword] })
        yield* Effect.promise(async () => {
          let seen = ""
          const looking = setInterval(() => (seen += processTexts().includes(sudoPassword) ? "seen " : ""), 5)
          const ask = (path: string, body: object = {}) => manage(program, "POST", `/api/tunnels/mesh/${path}`, body)
          const unlike = await ask("enable", { sudoPassword: "wrong-password-of-this-machine" })
          assert.notInclude(JSON.stringify(unlike.json), "password-of-this")
          const opened = await ask("enable", { sudoPassword })
          const daemon = await ask("start-daemon", { sudoPassword })
          const closed = await ask("disable", { sudoPassword })
          for (const bad of ["line\nbreak", "nul\u0000", "x".repeat(5_000)]) {
            assert.strictEqual((await ask("enable", { sudoPassword: bad })).status, 400)
          }
          clearInterval(looking)
          assert.strictEqual(seen, "")
          assert.isNotEmpty(behind.home.calls())
          const audit = await manage(program, "GET", "/api/compliance/audit-log?limit=200")
          assert.include(JSON.stringify(audit.json), "tunnel")
          for (const text of [JSON.stringify([opened, daemon, closed, audit]), behind.home.callText()]) {
            assert.notInclude(text, sudoPassword)
          }
          if (process.getuid?.() !== 0) {
            // Else sudo is not needed.
            assert.isTrue(
              behind.home.calls().some(({ isRefused, program: name }) => name === "sudo" && isRefused === false)
            )
            assert.strictEqual(opened.json.phase, "running")
          }
        })
        yield* program.stop
        assert.notInclude(`${program.stderr()}${program.stdout()}`, sudoPassword)
        assert.notInclude(contentOf(program.dataDir), sudoPassword)
      }),
    patienceMs
  )
})
