/** What the whole program writes to standard error while it stops: whole lines of one format, and a second signal ends it at once. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import { isOverPostgres } from "../../support/postgres/Programs.ts"

const jsonLines = (text: string): ReadonlyArray<{ readonly level: string; readonly msg: string }> =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

/** A gateway with one request under way that its upstream does not end. */
const busy = (env: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const upstream = yield* Fake.start
    const gate = Fake.makeLatch()
    const [role = "", word = "", ...rest] = Fake.chatStream(["before", " and after"])
    upstream.always(Fake.sse([role, word, gate, ...rest]))
    const key = "admin-key-of-the-program-tests"
    const program = yield* Program.start({ GATEWAY_ADMIN_KEY: key, ...env })
    const call = (path: string, body: unknown): Promise<Response> =>
      fetch(program.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body)
      })
    const answer = yield* Effect.promise(async () => {
      const node = { name: "up", prefix: "up", type: "openai-compatible", baseUrl: `${upstream.origin}/v1` }
      await call("/api/provider-nodes", node)
      await call("/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
      const messages = [{ role: "user", content: "Hi" }]
      return call("/v1/chat/completions", { model: "up/m", messages, stream: true })
    })
    return { answer, gate, program }
  })

describe("the log of a stop", () => {
  it.scopedLive("is JSON lines from the start to 'Stopped.', with what it waits for", () =>
    Effect.gen(function* () {
      const { answer, gate, program } = yield* busy({})
      yield* Effect.promise(async () => {
        program.signal("SIGTERM")
        await eventually(
          "the line that a stop begins",
          async () => program.stderr(),
          (text) => text.includes("Stopping")
        )
        gate.open()
        await answer.text()
        const { code, stderr } = await program.ended
        assert.strictEqual(code, 0)
        const messages = jsonLines(stderr).map(({ msg }) => msg)
        assert.include(messages, "Stopping (SIGTERM): 1 request running, waiting up to 5 s for it.")
        assert.strictEqual(messages.at(-1), "Stopped.")
        assert.isBelow(messages.lastIndexOf("request"), messages.length - 1)
        assert.notMatch(stderr, /fiber|level=/)
        assert.deepStrictEqual(
          jsonLines(stderr).filter(({ level }) => level !== "info"),
          [],
          "a usual run warns of nothing"
        )
      })
    })
  )

  it.scopedLive("is text where LOG_FORMAT says so, also when the command-line library starts the server", () =>
    Effect.gen(function* () {
      // Words after the flags are read by the library.
      const program = yield* Program.start({ LOG_FORMAT: "text", TZ: "UTC" }, undefined, ["--"])
      yield* Effect.promise(() => fetch(`${program.url}/nowhere`))
      const { stderr } = yield* program.stop
      assert.match(stderr, /^\d\d:\d\d:\d\d 404 GET \/nowhere {2}/m)
      // Of several gateways on a database each says which it is.
      const lines = isOverPostgres ? stderr.replaceAll(/ \(node=\S+\)$/gm, "") : stderr
      assert.match(lines, /^\d\d:\d\d:\d\d Stopping \(SIGTERM\): no request is running\.\n\d\d:\d\d:\d\d Stopped\.\n$/m)
      assert.notMatch(stderr, /fiber|level=|[{}]|\p{Cc}(?<!\n)/u)
    })
  )

  it.scopedLive("a second signal stops at once and says so", () =>
    Effect.gen(function* () {
      const { answer, program } = yield* busy({ GATEWAY_DRAIN_SECONDS: "600" })
      yield* Effect.promise(async () => {
        const body = answer.text().then(
          () => "whole",
          () => "cut"
        )
        program.signal("SIGINT")
        // Signals that come too soon after the first are taken for the same one, so it is sent until it counts.
        const again = setInterval(() => program.signal("SIGINT"), 100)
        const { code, stderr } = await program.ended
        clearInterval(again)
        assert.strictEqual(code, 130)
        assert.strictEqual(jsonLines(stderr).at(-1)?.msg, "Stopped at once (SIGINT): 1 request cut off.")
        assert.strictEqual(await body, "cut")
      })
    })
  )
})
