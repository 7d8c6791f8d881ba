/** What becomes of requests on their way, over HTTP: headers, precedence, every wire, and raw outputs. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { answerOf } from "./turns/Upstreams.ts"

const output = `On branch main\n${Array.from({ length: 400 }, (_, line) => `\tmodified:   src/file${line}.ts`).join("\n")}\n\nno changes added to commit (use "git add" and/or "git commit -a")\n`
const prose =
  "I think that this is basically the best way to do it, and you are really able to see that for the whole file."

const turns = [
  { role: "user", content: prose },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "bash", arguments: '{"command":"git status"}' } }]
  },
  { role: "tool", tool_call_id: "c1", content: output }
]
const last = { role: "user", content: prose }

const setUp = (wire: WireName, settings: object) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const upstream = yield* Fake.start
    upstream.always(answerOf(wire, 0, false))
    yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, wire)
      await gateway.manage("PUT", "/api/settings/compression", settings)
    })
    const ask = async (
      messages: ReadonlyArray<unknown>,
      headers: Readonly<Record<string, string>> = {},
      model = "up/m"
    ) => {
      const before = upstream.requests.length
      const response = await gateway.post("/v1/chat/completions", { model, messages }, headers)
      assert.strictEqual(response.status, 200, await response.text())
      return {
        sent: upstream.requests[before]?.body ?? "",
        mode: response.headers.get("x-gateway-compression"),
        saved: response.headers.get("x-gateway-compression-saved")
      }
    }
    return { gateway, ask }
  })

describe("compression", () => {
  for (const wire of ["chat", "messages", "responses", "gemini", "ollama"] as const) {
    it.scopedLive(`${wire}: an upstream gets smaller texts, and the last user turn as it is`, () =>
      Effect.gen(function* () {
        const { ask } = yield* setUp(wire, { enabled: true, engine: "stacked" })
        const { mode, saved, sent } = yield* Effect.promise(() => ask([...turns, last]))
        assert.strictEqual(mode, "stacked; source=default")
        const [before = 0, after = 0] = (saved ?? "").split("-").map(Number)
        assert.isBelow(after, before / 2)
        assert.isBelow(sent.length, output.length / 2)
        assert.include(sent, prose)
        assert.include(sent, "this is the best way to do it, and you can see that for the whole file.")
        assert.include(sent, "[rtk git-status:")
      })
    )
  }

  it.scopedLive("is off unless it is switched on, and a header cannot switch it on", () =>
    Effect.gen(function* () {
      const { ask, gateway } = yield* setUp("chat", {})
      yield* Effect.promise(async () => {
        const plain = await ask([...turns, last], { "x-gateway-compression": "engine:rtk" })
        assert.deepStrictEqual([plain.mode, plain.saved], ["off; source=off", null])
        assert.include(plain.sent, "src/file399.ts")
        assert.deepStrictEqual(await gateway.manage("GET", "/api/settings/compression"), {
          enabled: false,
          engine: "stacked",
          combo: null,
          autoTriggerTokens: 0
        })
      })
    })
  )

  it.scopedLive("is what the header asks for, and a word that says nothing is no word", () =>
    Effect.gen(function* () {
      const { ask } = yield* setUp("chat", { enabled: true, engine: "rtk" })
      yield* Effect.promise(async () => {
        const modes: ReadonlyArray<readonly [string, string]> = [
          ["off", "off; source=request-header"],
          ["default", "rtk; source=request-header"],
          ["engine:lite", "lite; source=request-header"],
          ["engine:caveman", "standard; source=request-header"],
          ["engine:none-such", "rtk; source=default"],
          ["whatever", "rtk; source=default"]
        ]
        for (const [index, [header, mode]] of modes.entries()) {
          const answer = await ask([...turns, { role: "user", content: String(index) }], {
            "x-gateway-compression": header
          })
          assert.strictEqual(answer.mode, mode, header)
        }
      })
    })
  )

  it.scopedLive("keeps what went out in a session as it went, and the whole of what it has cut", () =>
    Effect.gen(function* () {
      const { ask, gateway } = yield* setUp("chat", { enabled: true, engine: "stacked" })
      yield* Effect.promise(async () => {
        const session = { "x-session-id": "s" }
        await ask(turns.slice(0, 1), session)
        const second = await ask(turns, session)
        // The first turn went out as it was said, and stays so.
        assert.strictEqual(JSON.parse(second.sent).messages[0].content, prose)
        const cut = JSON.parse(second.sent).messages[2].content as string
        const id = /raw-output\/([\da-f]{24})\]$/.exec(cut)?.[1] ?? ""
        const raw = await gateway.manage("GET", `/api/context/rtk/raw-output/${id}`)
        assert.strictEqual(raw.content, output)
        const third = await ask([...turns, last], { ...session, "x-gateway-compression": "off" })
        assert.strictEqual(JSON.parse(third.sent).messages[2].content, output)
        assert.deepStrictEqual([third.mode, third.saved], ["off; source=request-header", null])
        // From then on: what the provider has cached is not changed again.
        const fourth = await ask([...turns, last], session)
        assert.strictEqual(JSON.parse(fourth.sent).messages[2].content, output)
      })
    })
  )

  it.scopedLive("writes arrays of objects as columns, and the same result once", () =>
    Effect.gen(function* () {
      const { ask } = yield* setUp("chat", { enabled: true, engine: "headroom" })
      yield* Effect.promise(async () => {
        const rows = Array.from({ length: 40 }, (_, id) => ({ id, name: `file${id}.ts`, size: id * 3 }))
        const result = (id: string) => [
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id, type: "function", function: { name: "list", arguments: "{}" } }]
          },
          { role: "tool", tool_call_id: id, content: JSON.stringify(rows) }
        ]
        const messages = [...result("c1"), ...result("c2"), last]
        const columns = await ask(messages)
        assert.strictEqual(columns.mode, "headroom; source=default")
        assert.include(columns.sent, "file39.ts")
        assert.isBelow(columns.sent.length, JSON.stringify(messages).length)
        const again = await ask([...messages.slice(0, 4), { role: "user", content: "another session" }], {
          "x-gateway-compression": "engine:session-dedup",
          "x-session-id": "other"
        })
        assert.include(JSON.parse(again.sent).messages[3].content, "same as the output of message 2")
        assert.strictEqual(JSON.parse(again.sent).messages[1].content, JSON.stringify(rows))
      })
    })
  )

  it.scopedLive("shows what it would do, without doing it", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp("chat", {})
      yield* Effect.promise(async () => {
        const shown = await gateway.manage("POST", "/api/compression/preview", {
          engine: "stacked",
          body: { messages: [...turns, last] }
        })
        assert.strictEqual(shown.mode, "stacked")
        assert.isBelow(shown.tokensAfter, shown.tokensBefore / 2)
        assert.isAbove(shown.savedPercent, 50)
        assert.deepStrictEqual(
          shown.perEngine.map(({ engine }: { engine: string }) => engine),
          ["rtk", "caveman"]
        )
        assert.include(shown.kept, "modified:   src/file1.ts")
        const nothing = await gateway.manage("POST", "/api/compression/preview", {
          engine: "off",
          body: { messages: [last] }
        })
        assert.deepInclude(nothing, {
          mode: "off",
          savedPercent: 0,
          perEngine: [],
          kept: [],
          body: { messages: [last] }
        })
      })
    })
  )

  it.scopedLive("is summed up by mode, source and day", () =>
    Effect.gen(function* () {
      const { ask, gateway } = yield* setUp("chat", { enabled: true, engine: "stacked" })
      yield* Effect.promise(async () => {
        const { saved } = await ask([...turns, last])
        await ask([{ role: "user", content: "Hello" }])
        await ask([{ role: "user", content: "Good bye" }], { "x-gateway-compression": "off" })
        const [before = 0, after = 0] = (saved ?? "").split("-").map(Number)
        const some = { tokensBefore: before, tokensAfter: after, savedTokens: before - after }
        const none = { changed: 0, tokensBefore: 0, tokensAfter: 0, savedTokens: 0, savedPercent: 0 }
        const savedPercent = Math.round(((before - after) / before) * 1_000) / 10
        const analytics = await gateway.manage("GET", "/api/context/analytics?days=2")
        assert.strictEqual(analytics.days, 2)
        assert.deepStrictEqual(analytics.totals, { requests: 3, changed: 1, ...some, savedPercent })
        assert.deepStrictEqual(analytics.byMode, [
          { mode: "stacked", requests: 2, changed: 1, ...some, savedPercent },
          { mode: "off", requests: 1, ...none }
        ])
        assert.deepStrictEqual(
          analytics.bySource.map(({ requests, source }: Record<string, unknown>) => [source, requests]),
          [
            ["default", 2],
            ["request-header", 1]
          ]
        )
        assert.strictEqual(analytics.byDay.length, 1)
      })
    })
  )

  it.scopedLive("is a combo that the settings or the preview name, and one that is there", () =>
    Effect.gen(function* () {
      const { ask, gateway } = yield* setUp("chat", {})
      yield* Effect.promise(async () => {
        await gateway.manage("POST", "/api/context/combos", { name: "Logs", pipeline: [{ engine: "rtk" }] })
        const path = "/api/settings/compression"
        const status = async (method: string, where: string, body: object): Promise<number> => {
          const headers = { "content-type": "application/json", authorization: `Bearer ${TestGateway.adminKey}` }
          const sent = await fetch(gateway.url + where, { method, headers, body: JSON.stringify(body) })
          await sent.text()
          return sent.status
        }
        assert.strictEqual(await status("PUT", path, { enabled: true, combo: "gone" }), 400)
        assert.strictEqual(await status("PUT", path, { enabled: true, combo: "logs", engine: "lite" }), 400)
        const set = await gateway.manage("PUT", path, { enabled: true, combo: "logs" })
        assert.deepInclude(set, { combo: "logs", engine: "stacked" })
        const { mode, sent } = await ask([...turns, last])
        assert.strictEqual(mode, "stacked; source=default")
        assert.include(sent, "[rtk git-status:")
        assert.include(sent, "basically")
        const body = { messages: [...turns, last] }
        const preview = (more: object) => gateway.manage("POST", "/api/compression/preview", { body, ...more })
        const engines = ({ perEngine }: { perEngine: ReadonlyArray<{ engine: string }> }) =>
          perEngine.map(({ engine }) => engine)
        assert.deepStrictEqual(engines(await preview({})), ["rtk"])
        assert.deepStrictEqual(engines(await preview({ combo: "Logs" })), ["rtk"])
        assert.deepStrictEqual(engines(await preview({ engine: "caveman" })), ["caveman"])
        assert.strictEqual(await status("POST", "/api/compression/preview", { body, combo: "gone" }), 400)
        // Switched off in its own settings, the engine does nothing anywhere.
        await gateway.manage("PUT", "/api/context/rtk/config", { enabled: false })
        assert.deepStrictEqual(engines(await preview({})), [])
        assert.deepInclude(await gateway.manage("PUT", path, { enabled: true }), { combo: null })
      })
    })
  )

  it.scopedLive("takes its pipeline from the header, then the routing combo, then the active profile", () =>
    Effect.gen(function* () {
      const { ask, gateway } = yield* setUp("chat", { enabled: true, engine: "lite" })
      yield* Effect.promise(async () => {
        const make = async (name: string, engine: string, isActive: boolean) =>
          (await gateway.manage("POST", "/api/context/combos", { name, pipeline: [{ engine }], isActive })).combo.id
        const prosePipeline: string = await make("Prose", "caveman", false)
        const logPipeline: string = await make("Logs", "rtk", true)
        await gateway.combo("way", "up/m")
        const { combos } = await gateway.manage("GET", "/api/combos")
        const way: { id: string } = combos.find(({ name }: { name: string }) => name === "way")
        const assigned = `/api/context/combos/${prosePipeline}/assignments`
        await gateway.manage("PUT", assigned, { routingComboIds: [way.id] })
        const all = [...turns, last]
        const active = await ask(all)
        assert.strictEqual(active.mode, "stacked; source=active-profile")
        assert.include(active.sent, "[rtk git-status:")
        // Another conversation: what went out in the first one stays as it went.
        const overridden = await ask([{ role: "user", content: "Another one." }, ...all], {}, "way")
        assert.strictEqual(overridden.mode, "stacked; source=routing-override")
        assert.notInclude(overridden.sent, "[rtk git-status:")
        for (const [value, mode] of [
          ["logs", "stacked"],
          [logPipeline, "stacked"],
          ["engine:lite", "lite"],
          ["default", "lite"],
          ["off", "off"]
        ] as const) {
          const asked = await ask(all, { "x-gateway-compression": value }, "way")
          assert.strictEqual(asked.mode, `${mode}; source=request-header`)
        }
        // An engine that is switched off in its own settings does nothing, and does not say otherwise.
        await gateway.manage("PUT", "/api/context/caveman/config", { enabled: false })
        const nothing = await ask([{ role: "user", content: `${prose} Again.` }, last], {
          "x-gateway-compression": "engine:caveman"
        })
        assert.deepInclude(nothing, { mode: "off; source=request-header", saved: null })
        // A combo that is gone is assigned to nothing.
        await gateway.manage("DELETE", `/api/combos/${way.id}`)
        assert.deepInclude((await gateway.manage("GET", `/api/context/combos/${prosePipeline}`)).combo, {
          routingComboIds: []
        })
      })
    })
  )

  it.scopedLive("lives through a body of 50 MB and one that is no UTF-8", () =>
    Effect.gen(function* () {
      const { ask, gateway } = yield* setUp("chat", { enabled: true, engine: "stacked" })
      yield* Effect.promise(async () => {
        const messages = Array.from({ length: 50 }, (_, at) => ({
          role: "user",
          content: `${at} ${prose}`.padEnd(1_048_576, ` ${prose}`)
        }))
        const post = (body: string | Buffer) =>
          fetch(`${gateway.url}/v1/chat/completions`, {
            method: "POST",
            headers: { "content-type": "application/json", authorization: `Bearer ${TestGateway.adminKey}` },
            body
          })
        const large = await post(JSON.stringify({ model: "up/m", messages: [...messages, last] }))
        assert.include([200, 413], large.status)
        assert.isObject(await large.json())
        const text = Buffer.from(JSON.stringify({ model: "up/m", messages: [...turns, last] }))
        text[text.indexOf("basically")] = 0xff
        const broken = await post(text)
        assert.include([200, 400], broken.status)
        await broken.text()
        assert.strictEqual((await ask([...turns, last])).mode, "stacked; source=default")
      })
    })
  )
})
