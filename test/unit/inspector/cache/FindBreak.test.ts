/** Every rule is told with its party and its place, and nothing is told before. */
import { assert, describe, it } from "@effect/vitest"
import type { CacheCall, CacheCause, CacheFinding } from "../../../../src/observe/inspector/cache/CacheCall.ts"
import { CacheFinder } from "../../../../src/observe/inspector/cache/CacheFinder.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { type CauseCase, cases, type Last, type Spot, usualTurns } from "./Causes.ts"
import { bodyOf, eventsOf, type Json, retold, system, talk, tools } from "./Conversations.ts"
import { PlayedCache } from "./PromptCaches.ts"

const price = { input: 3, output: 15, cached: 0.3, cacheCreation: 3.75 }
const secondMs = 1_000

/** A finder, and the cache of the provider it watches. */
class Watched {
  readonly finder = new CacheFinder({ priceOf: () => price })
  readonly #spot: Spot
  readonly #isRouted: boolean
  readonly cache: PlayedCache | null
  /** Another kind of provider, that the gateway goes to. */
  readonly #other = new PlayedCache("claude")
  #atMs = 1_000_000
  #count = 0

  constructor(spot: Spot, isRouted = true) {
    this.#spot = spot
    this.#isRouted = isRouted
    this.cache = spot.cache === null ? null : new PlayedCache(spot.cache)
  }

  ask(
    body: Json,
    { account = "first", askedModel, gapMs = 20 * secondMs, model, provider, sent }: Last = {}
  ): CacheFinding {
    this.#atMs += gapMs
    this.#count += 1
    const called = { provider: provider ?? this.#spot.provider, account, model: model ?? this.#spot.model }
    const upstream = sent ?? { wire: this.#spot.wire, body }
    const cache = called.provider === "anthropic" && this.#spot.cache !== "claude" ? this.#other : this.cache
    const reported = cache?.ask({ ...called, ...upstream, atMs: this.#atMs }) ?? { in: 0, cacheRead: 0, cacheWrite: 0 }
    const call: CacheCall = {
      ...called,
      id: `call-${this.#count}`,
      atMs: this.#atMs,
      answeredAtMs: this.#atMs + secondMs,
      wire: this.#spot.wire,
      askedModel: askedModel ?? called.model,
      body: body as JsonObject,
      sent: sent === undefined ? null : { wire: sent.wire, body: sent.body as JsonObject },
      isRouted: this.#isRouted,
      isAnswered: true,
      reported
    }
    return this.finder.observe(call)
  }
}

const includes = (text: string | null | undefined, part: string | null | undefined): void => {
  if (part === undefined) return
  if (part === null) assert.isNull(text)
  else assert.include(text, part)
}

const play = ({ at, earlier, earlierSent, isRouted = true, last, turns = usualTurns }: CauseCase) => {
  const watched = new Watched(at, isRouted)
  const before: Array<CacheCause | null> = []
  for (let turn = 1; turn <= turns; turn += 1) {
    const body = earlier?.(turn) ?? bodyOf(at.wire, talk(turn))
    const sent = earlierSent?.(turn)
    before.push(watched.ask(body, sent === undefined ? {} : { sent }).cause)
  }
  if (last.isLost === true) watched.cache?.clear()
  const finding = watched.ask(last.body ?? bodyOf(at.wire, talk(turns + 1)), last)
  return { watched, before, finding, turns }
}

describe("the cause of a break", () => {
  for (const one of cases) {
    it(`${one.rule} by ${one.by}: ${one.name} (${one.at.wire} at ${one.at.provider})`, () => {
      const { before, finding, turns, watched } = play(one)
      assert.deepStrictEqual(
        before.filter((cause) => cause !== null),
        []
      )
      const { cause } = finding
      assert.isNotNull(cause, JSON.stringify(finding))
      assert.deepStrictEqual(
        { by: cause?.by, rule: cause?.rule, path: cause?.path },
        { by: one.by, rule: one.rule, path: one.path },
        JSON.stringify(finding)
      )
      includes(cause?.before, one.before)
      includes(cause?.after, one.after)
      assert.include(["partial", "broken"], finding.verdict)
      assert.strictEqual(finding.comparedWith, `call-${turns}`)
      assert.isAtLeast(finding.lostTokens, 200)
      assert.isAtMost(finding.lostTokens, finding.expectedTokens)
      if (one.at.cache !== null) {
        assert.isAtMost(finding.lostTokens + finding.tokens.cacheRead, finding.tokens.in)
        assert.isAbove(finding.lostUsd ?? 0, 0)
      }
      const { breaks, lostTokens } = watched.finder.breaks(0, 10)
      assert.deepStrictEqual(breaks, [{ requestId: `call-${turns + 1}`, ...finding }])
      assert.strictEqual(lostTokens, finding.lostTokens)
    })
  }

  it("has cases of all eleven rules and of all five wires", () => {
    assert.strictEqual(new Set(cases.map(({ rule }) => rule)).size, 11)
    assert.strictEqual(new Set(cases.map(({ at }) => at.wire)).size, 5)
    assert.isAtLeast(cases.length, 40)
  })

  it("is told of once: the next call goes on from there", () => {
    for (const one of cases.filter(
      ({ at, last }) => at.cache !== null && last.body !== undefined && last.sent === undefined
    )) {
      const { finding, watched } = play(one)
      assert.isNotNull(finding.cause)
      const again = watched.ask(one.last.body ?? {}, { ...one.last, gapMs: 5 * secondMs })
      if (one.rule !== "marker_moved") assert.isNull(again.cause, `${one.name}: ${JSON.stringify(again)}`)
    }
  })
})

describe("a cache that never held", () => {
  it("is told at every call but the first", () => {
    const watched = new Watched({
      wire: "messages",
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      cache: "claude"
    })
    const findings = Array.from({ length: 6 }, (_, at) => {
      watched.cache?.clear()
      return watched.ask(bodyOf("messages", talk(at + 1)))
    })
    assert.strictEqual(findings[0]?.verdict, "first")
    for (const { cause, verdict } of findings.slice(1)) {
      assert.strictEqual(verdict, "broken")
      assert.deepStrictEqual(cause, { by: "provider", rule: "provider_missed", path: null, before: null, after: null })
    }
  })
})

const messagesSpot: Spot = { wire: "messages", provider: "anthropic", model: "claude-sonnet-4-5", cache: "claude" }
const chatSpot: Spot = { wire: "chat", provider: "openai", model: "gpt-5.1", cache: "openai" }

describe("what is no break", () => {
  it("another conversation with the same tools and system prompt reads those", () => {
    const watched = new Watched(messagesSpot)
    for (let turn = 1; turn <= 4; turn += 1) watched.ask(bodyOf("messages", talk(turn)))
    const { cause, verdict } = watched.ask(
      bodyOf("messages", {
        tools,
        system,
        events: [{ type: "user", text: "A wholly different question about birds." }]
      })
    )
    assert.deepStrictEqual({ cause, verdict }, { cause: null, verdict: "hit" })
  })

  it("a title that a small model is asked for between two turns", () => {
    const watched = new Watched(messagesSpot)
    const told: Array<CacheFinding["cause"]> = []
    for (let turn = 1; turn <= 6; turn += 1) {
      told.push(watched.ask(bodyOf("messages", talk(turn))).cause)
      const title = bodyOf("messages", {
        tools: [],
        system: "Write a title of five words.",
        events: eventsOf(turn).slice(0, 1)
      })
      told.push(watched.ask(title, { model: "claude-haiku-4-5", askedModel: "claude-haiku-4-5" }).cause)
    }
    assert.deepStrictEqual(
      told.filter((cause) => cause !== null),
      []
    )
  })

  it("another conversation of the same program an hour later", () => {
    const watched = new Watched(messagesSpot)
    for (let turn = 1; turn <= 4; turn += 1) watched.ask(bodyOf("messages", talk(turn)))
    const events = [{ type: "user", text: "A wholly different question about birds." }] as const
    const { cause, verdict } = watched.ask(bodyOf("messages", { tools, system, events }), { gapMs: 3_600_000 })
    assert.deepStrictEqual({ cause, verdict }, { cause: null, verdict: "first" })
  })

  it("a title for a long question, asked of another model with another system prompt", () => {
    const watched = new Watched(messagesSpot)
    const events = [{ type: "user", text: `${system} `.repeat(8) }] as const
    watched.ask(bodyOf("messages", { tools, system, events }))
    const title = bodyOf("messages", { tools: [], system: "Write a title of five words.", events })
    const { cause, comparedWith } = watched.ask(title, { model: "claude-haiku-4-5", askedModel: "claude-haiku-4-5" })
    assert.deepStrictEqual({ cause, comparedWith }, { cause: null, comparedWith: null })
  })

  it("a user who goes far back and asks something else", () => {
    const watched = new Watched(chatSpot)
    // No earlier turn is known, so nothing but the call before can be compared.
    watched.ask(bodyOf("chat", talk(20)))
    const events = [...eventsOf(3), { type: "user", text: "No, do it another way, please, and tell me why." } as const]
    assert.isNull(watched.ask(bodyOf("chat", { tools, system, events })).cause)
  })

  it("a user who goes back and asks something else", () => {
    const watched = new Watched(chatSpot)
    for (let turn = 1; turn <= 7; turn += 1) watched.ask(bodyOf("chat", talk(turn)))
    const events = [...eventsOf(3), { type: "user", text: "No, do it another way, please, and tell me why." } as const]
    const { cause, verdict } = watched.ask(bodyOf("chat", { tools, system, events }))
    assert.deepStrictEqual({ cause, verdict }, { cause: null, verdict: "hit" })
  })

  it("several agents that began with the same question", () => {
    const watched = new Watched(chatSpot)
    const own = (agent: number, turn: number): Json =>
      bodyOf("chat", {
        tools,
        system,
        events: eventsOf(turn).map((event, at) =>
          at === 0 || !("text" in event) ? event : retold(event, `${event.text} (agent ${agent})`)
        )
      })
    const told: Array<string> = []
    for (let turn = 1; turn <= 6; turn += 1) {
      for (const agent of [1, 2, 3]) {
        const finding = watched.ask(own(agent, turn))
        if (finding.cause !== null) told.push(`${agent} ${turn} ${JSON.stringify(finding)}`)
      }
    }
    assert.deepStrictEqual(told, [])
  })

  it("a prompt that is too short, one that marks nothing, and an answer without counts", () => {
    const short = new Watched(chatSpot)
    const brief = (turn: number): Json =>
      bodyOf("chat", { tools: [], system: "Be brief.", events: eventsOf(turn).slice(0, 1) })
    assert.strictEqual(short.ask(brief(1)).verdict, "too_short")
    assert.strictEqual(short.ask(brief(2)).verdict, "too_short")
    const unmarked = new Watched(messagesSpot)
    const plain = (turn: number): Json => {
      const { messages: _messages, system: _system, ...rest } = bodyOf("messages", talk(turn))
      const turns = Array.from({ length: turn * 2 - 1 }, (_, at) => ({
        role: at % 2 === 0 ? "user" : "assistant",
        content: `Text ${at}`
      }))
      return { ...rest, system, messages: turns }
    }
    assert.strictEqual(unmarked.ask(plain(1)).verdict, "first")
    assert.strictEqual(unmarked.ask(plain(2)).verdict, "unknown")
    const silent = new Watched({ ...chatSpot, provider: "somewhere", model: "some-model", cache: null })
    silent.ask(bodyOf("chat", talk(1)))
    const { cause, verdict } = silent.ask(bodyOf("chat", { ...talk(2), system: "Another one." }))
    assert.deepStrictEqual({ cause, verdict }, { cause: null, verdict: "unknown" })
  })

  it("marks that move on with the conversation, and a text that becomes a list of one", () => {
    const watched = new Watched(messagesSpot)
    const { messages, ...rest } = bodyOf("messages", talk(1))
    const [first] = messages as ReadonlyArray<{ readonly content: ReadonlyArray<Json> }>
    watched.ask(bodyOf("messages", talk(1)))
    const turns = [
      { role: "user", content: first?.content[0]?.["text"] },
      { role: "assistant", content: "Done." },
      { role: "user", content: [{ type: "text", text: "Go on.", cache_control: { type: "ephemeral" } }] }
    ]
    const { cause, verdict } = watched.ask({ ...rest, messages: turns })
    assert.deepStrictEqual({ cause, verdict }, { cause: null, verdict: "hit" })
  })

  it("calls that ran at the same time", () => {
    const finder = new CacheFinder({ priceOf: () => null })
    const call = (id: string, atMs: number, answeredAtMs: number): CacheCall => ({
      id,
      atMs,
      answeredAtMs,
      wire: "chat",
      provider: "openai",
      account: "a",
      model: "gpt-5.1",
      askedModel: "gpt-5.1",
      body: bodyOf("chat", talk(2)) as JsonObject,
      sent: null,
      isRouted: true,
      isAnswered: true,
      reported: { in: 4_000, cacheRead: 0, cacheWrite: 0 }
    })
    assert.strictEqual(finder.observe(call("one", 1_000, 9_000)).verdict, "first")
    assert.strictEqual(finder.observe(call("two", 2_000, 9_500)).verdict, "first")
    const { cause } = finder.observe(call("three", 10_000, 11_000))
    assert.strictEqual(cause?.rule, "provider_missed")
  })
})
