/** `gateway playground`, against a running gateway. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Stdout } from "../../../src/cli/output/Stdout.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { typed } from "../../unit/cli/inProcess.ts"

const setUp = Effect.gen(function* () {
  const upstream = yield* FakeUpstream.start
  const gateway = yield* TestGateway.start()
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat", { models: ["a", "b"] }))
  const type = (words: ReadonlyArray<string>, columns: number | null = null) =>
    typed(["playground", ...words, "--url", gateway.url, "--gateway-key", TestGateway.adminKey], columns)
  return { gateway, upstream, type }
})

const streaming: FakeUpstream.Answer = (response, request) => {
  const { model } = JSON.parse(request.body)
  return model === "b"
    ? FakeUpstream.json({ error: { message: "no such thing" } }, { status: 400 })(response, request)
    : FakeUpstream.sse(FakeUpstream.chatStream(["I am ", model]))(response, request)
}

const asked = ["compare", "Who?", "--model", "up/a", "--model", "up/b"]

describe("gateway playground", () => {
  it.scopedLive("keeps presets: add, list, show, edit, remove", () =>
    Effect.gen(function* () {
      const { type } = yield* setUp
      const none = yield* type(["presets", "list"])
      assert.include(none.stderr, "There are no presets yet")
      const added = yield* type(["presets", "add", "Short", "--model", "up/a", "--params", '{"temperature":0.2}'])
      assert.deepEqual([added.code, added.stderr], [0, "The preset 'Short' is kept."])
      const listed = yield* type(["presets", "list"])
      assert.match(listed.stdout, /NAME .*\n.*Short +chat +up\/a/)
      const edited = yield* type(["presets", "edit", "Short", "--name", "Shorter", "--system", "Be short."])
      assert.strictEqual(edited.code, 0, edited.stderr)
      const shown = yield* type(["presets", "show", added.stdout.slice(0, 23), "--json"])
      assert.deepInclude(JSON.parse(shown.stdout).preset, {
        name: "Shorter",
        system: "Be short.",
        params_json: '{"temperature":0.2}'
      })
      const wrong = yield* type(["presets", "add", "Bad", "--model", "up/a", "--params", "hot"])
      assert.deepEqual([wrong.code, wrong.stderr.includes("params_json")], [2, true])
      assert.strictEqual((yield* type(["presets", "remove", "Shorter"])).code, 0)
      assert.deepEqual(JSON.parse((yield* type(["presets", "list", "--json"])).stdout), { presets: [] })
      assert.strictEqual((yield* type(["presets", "show", "Shorter"])).code, 2)
    })
  )

  it.scopedLive("shows the beginning of a long system prompt in a list, all of it alone, and takes it out", () =>
    Effect.gen(function* () {
      const { type } = yield* setUp
      const system = `Be short.\n\tBe kind.\n${"And be careful. ".repeat(5_000)}\u001b[2J`
      yield* type(["presets", "add", "Long", "--model", "up/a", "--system", system])
      yield* type(["presets", "add", "None", "--model", "up/a", "--system", ""])
      const listed = (yield* type(["presets", "list"])).stdout.split("\n")
      assert.match(listed[1] ?? "", /Be short\. Be kind\. And be careful\. .*…/)
      assert.isBelow(Math.max(...listed.map((line) => line.length)), 160)
      const shown = yield* type(["presets", "show", "Long"])
      assert.include(shown.stdout, "\n\nBe short.\n\tBe kind.\nAnd be careful.")
      assert.notInclude(shown.stdout, "\u001b")
      const csv = yield* type(["presets", "list", "-o", "csv"])
      assert.isAbove(csv.stdout.length, system.length)
      const none = yield* type(["presets", "edit", "Long"])
      assert.deepEqual([none.code, none.stderr.includes("Nothing is to be changed")], [2, true])
      assert.strictEqual((yield* type(["presets", "edit", "Long", "--system", ""])).code, 0)
      const { presets } = JSON.parse((yield* type(["presets", "list", "--json"])).stdout)
      assert.deepEqual(
        presets.map((preset: { readonly system: unknown }) => preset.system),
        [null, null]
      )
    })
  )

  it.scopedLive("compares models: as JSON, and as plain text in a pipe", () =>
    Effect.gen(function* () {
      const { type, upstream } = yield* setUp
      upstream.always(streaming)
      const told = yield* type([...asked, "--json"])
      assert.strictEqual(told.code, 0, told.stderr)
      const { columns } = JSON.parse(told.stdout)
      assert.deepInclude(columns[0], { model: "up/a", text: "I am a", error: null })
      assert.strictEqual(columns[0].metrics.isEstimate, true)
      assert.deepInclude(columns[1], { model: "up/b", text: "", metrics: null })
      const piped = yield* type(asked)
      assert.match(
        piped.stdout,
        /^== up\/a ==\nI am a\n-- first token [^\n]* ~\$0\.000000\n\n== up\/b ==\n\n-- failed: /
      )
      const failed = yield* type(["compare", "Who?", "--model", "up/b"])
      assert.strictEqual(failed.code, 1)
      assert.include(failed.stderr, "None of the models answered")
      const many = yield* type(["compare", "Who?", ...["1", "2", "3", "4", "5"].flatMap((name) => ["--model", name])])
      assert.deepEqual([many.code, many.stderr.includes("at most 4 models")], [2, true])
      const twice = yield* type(["compare", "Who?", "--model", "up/a", "--model", "up/a"])
      assert.deepEqual([twice.code, twice.stderr.includes("--model: 'up/a' is given twice")], [2, true])
    })
  )

  it.scopedLive("draws the columns while they come, and at last all of them", () =>
    Effect.gen(function* () {
      const { type, upstream } = yield* setUp
      const latch = FakeUpstream.makeLatch()
      const [first = "", ...rest] = FakeUpstream.chatStream(["so far", " and the end"])
      upstream.always(FakeUpstream.sse([first, rest[0] ?? "", latch, ...rest.slice(1)]))
      let written = ""
      const stdout = Stdout.of({
        isTerminal: () => true,
        write: (part) =>
          Effect.sync(() => {
            written += String(part)
            // The rest comes once the beginning was drawn.
            if (written.includes("so far")) latch.open()
          })
      })
      const { code } = yield* Effect.provideService(type(["compare", "Who?", "--model", "up/a"], 60), Stdout, stdout)
      assert.strictEqual(code, 0)
      assert.match(written, /\nso far\n/)
      assert.include(written, "A\r\u001b[J")
      const last = written.slice(written.lastIndexOf("\u001b[J"))
      assert.match(last, /so far and the end\n─+\nfirst token /)
    })
  )

  it.scopedLive("improves a prompt, and prints snippets", () =>
    Effect.gen(function* () {
      const { gateway, type, upstream } = yield* setUp
      upstream.always(
        FakeUpstream.json(FakeUpstream.chatCompletion({ text: '{"improvedPrompt":"Tell {{name}} kindly."}' }))
      )
      const improved = yield* type(["improve", "tell {{name}}", "--model", "up/a", "--tone", "kind"])
      assert.deepEqual(improved, { code: 0, stdout: "Tell {{name}} kindly.", stderr: "7 tokens in, 3 out." })
      const lost = yield* type(["improve", "tell {{other}}", "--model", "up/a"])
      assert.deepEqual([lost.code, lost.stderr.includes("{{other}}")], [1, true])
      const curl = yield* type(["snippet", "--model", "up/a", "--prompt", "it's"])
      assert.match(curl.stdout, /^curl '[^']*\/v1\/chat\/completions'/)
      assert.include(curl.stdout, gateway.url)
      assert.include(curl.stdout, `it'\\''s`)
      const speech = yield* type([
        "snippet",
        "--model",
        "up/a",
        "--endpoint",
        "speech",
        "--language",
        "python",
        "--system",
        "S"
      ])
      assert.include(speech.stdout, "import requests")
      assert.include(speech.stderr, "'speech' does not take system")
    })
  )
})
