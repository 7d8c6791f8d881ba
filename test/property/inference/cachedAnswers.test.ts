/**
 * The cache of answers under random requests of several callers, forms and settings: none gets another caller's answer or one to another question,
 * half an answer, one that is too old or was cleared, or a call of a tool that it did not ask for.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AnswerCache from "../../../src/plane/cache/AnswerCache.ts"
import { defaultGatewaySettings, type GatewaySettings as Shape } from "../../../src/subjects/settings/entity.ts"
import { GatewaySettings } from "../../../src/subjects/flags/StoredFlags.ts"
import { Embedder } from "../../../src/plane/embedding/Embedder.ts"
import * as Cache from "../../../src/plane/features/cache/Cache.ts"
import type { Answer, Answered } from "../../../src/plane/features/Feature.ts"
import type { ClientReply, Work } from "../../../src/plane/request/Exchange.ts"
import { Trail } from "../../../src/plane/request/Trail.ts"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"
import { Timers } from "../../../src/platform/Timers.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { makeTestReply, type TestReply } from "../../support/Replies.ts"
import { counted } from "../../support/slowRun.ts"
import { reposInMemory } from "../../unit/store/fixtures.ts"

const requests = counted(10_000, 100_000)
const mostUnderWay = 24
const ttlMs = 60_000

/** Wordings of three questions: an answer to one of a line answers the others of the line, where the semantic cache is on. */
const questions: ReadonlyArray<ReadonlyArray<string>> = [
  ["What is the price of 10 apples?", "Tell me the price of 10 apples, please."],
  ["What is the price of 11 apples?"],
  ["What is not the price of 10 apples?", "Tell me what is not the price of 10 apples."]
]
const lineOf = (text: string): number => questions.findIndex((line) => line.includes(text))

const fates = ["whole", "whole", "whole", "tools", "length", "cut", "failed"] as const
type Fate = (typeof fates)[number]

interface Asked {
  readonly client: TestReply
  readonly owner: string
  readonly text: string
  readonly stream: boolean
  readonly takesTools: boolean
  readonly mayBeKept: boolean
  readonly askedAtMs: number
  readonly trail: Trail
}

interface Call {
  readonly number: number
  readonly work: Work
  readonly reply: ClientReply
  readonly fate: Fate
  readonly left: Array<string>
  readonly resume: (answered: Effect.Effect<Answered>) => void
  hasHead: boolean
}

/** What is known of a call once it is over. */
interface Made {
  readonly owner: string
  readonly text: string
  readonly fate: Fate
  endedAtMs: number
  /** Clears of the cache before its end. */
  clears: number
}

const piecesOf = (number: number, fate: Fate, stream: boolean): Array<string> => {
  const toolCalls = fate === "tools" ? [{ id: "c", name: "f", arguments: "{}" }] : []
  const text = `<${number}>`
  if (stream) {
    const events = Fake.chatStream(["<", String(number), ">"], { toolCalls })
    return events.map((event) => (fate === "length" ? event.replace('"stop"', '"length"') : event))
  }
  const whole = JSON.stringify(Fake.chatCompletion({ text, toolCalls }))
  const body = fate === "length" ? whole.replace('"stop"', '"length"') : whole
  return [body.slice(0, 40), body.slice(40)]
}

interface Said {
  readonly number: number
  readonly hasTools: boolean
  readonly finish: string
}

/** Null where it does not say which call it is of. */
const saidIn = (text: string, stream: boolean): Said | null => {
  const objects = stream
    ? Array.from(text.matchAll(/^data: (\{.*\})$/gm), ([, json = "{}"]) => JSON.parse(json))
    : [JSON.parse(text)]
  const choices = objects.flatMap(({ choices: all }) => all ?? [])
  const content = choices.map(({ delta, message }) => (delta ?? message)?.content ?? "").join("")
  const found = /^<(\d+)>$/.exec(content)?.[1]
  const hasTools = choices.some(({ delta, message }) => ((delta ?? message)?.tool_calls ?? []).length > 0)
  const finish = choices.map(({ finish_reason }) => finish_reason ?? "").join("")
  return found === undefined ? null : { number: Number(found), hasTools, finish }
}

const setUp = (nowMs: () => number, settings: () => Shape) =>
  Effect.gen(function* () {
    const timers = Timers.of({
      nowMs,
      monotonicMs: nowMs,
      after: () => ({ restart: () => {}, cancel: () => {} }),
      soon: (run) => run(),
      live: () => 0
    })
    const embedder = Embedder.of({
      embed: ({ texts }) => Effect.succeed({ requestId: "e", vectors: texts.map(() => Float32Array.of(1)) })
    })
    const services = Layer.mergeAll(
      Layer.succeed(Timers, timers),
      Layer.succeed(Embedder, embedder),
      Layer.succeed(GatewaySettings, { current: settings } as unknown as typeof GatewaySettings.Service)
    )
    const answers = AnswerCache.layer.pipe(Layer.provide(reposInMemory))
    const built = yield* Layer.build(Cache.layer.pipe(Layer.provideMerge(answers), Layer.provide(services)))
    return { feature: Context.get(built, Cache.Cache), answers: Context.get(built, AnswerCache.AnswerCache) }
  })

describe("kept answers", () => {
  it.scoped(
    `are right for each of ${requests} requests`,
    () =>
      Effect.gen(function* () {
        let nowMs = 1_000_000
        const random = makeSeededRandom(20_261_124)
        const pick = <A>(items: ReadonlyArray<A>): A => {
          const item = items[random.below(items.length)]
          assert.isDefined(item)
          return item
        }
        /** Whether answers are kept, and found by their meaning. */
        let [enabled, byMeaning] = [true, true]
        const { answers, feature } = yield* setUp(
          () => nowMs,
          () => ({
            ...defaultGatewaySettings,
            cache: {
              ...defaultGatewaySettings.cache,
              enabled,
              ttlSeconds: ttlMs / 1_000,
              semantic: { enabled: byMeaning, model: "emb/e", threshold: 0.9 }
            }
          })
        )
        const calls = new Set<Call>()
        const asked = new Set<Asked>()
        const made: Array<Made> = []
        const byTrail = new Map<Trail, Call>()
        let clears = 0
        const seen = { hits: 0, semanticHits: 0, toolHits: 0, otherForms: 0, misses: 0, cut: 0, failed: 0, passedBy: 0 }

        const corridor: Answer = (work) =>
          Effect.async<Answered>((resume) => {
            const fate = pick(fates)
            const number = made.length
            const { envelope, exchange, owner, trail } = work
            const call: Call = {
              number,
              work,
              reply: exchange.reply,
              fate,
              left: piecesOf(number, fate, envelope.stream),
              resume,
              hasHead: false
            }
            const said = work.parsed["messages"] as unknown as ReadonlyArray<{ readonly content: string }>
            made.push({ owner, text: said[0]?.content ?? "", fate, endedAtMs: 0, clears: 0 })
            byTrail.set(trail, call)
            calls.add(call)
          })
        const answer = feature.around(corridor)

        const settle = ({ end, work }: Answered): void => {
          const { reply } = work.exchange
          if (end._tag === "Kept") return end.answer()
          const call = byTrail.get(work.trail)
          if (call === undefined) return
          byTrail.delete(work.trail)
          const own = made[call.number]
          if (own !== undefined) {
            own.endedAtMs = nowMs
            own.clears = clears
          }
          if (end._tag === "Failed") {
            reply.head(500, [])
            reply.end("failed")
          } else if (end._tag === "Answered" && end.result._tag === "Completed") reply.end(call.left.shift() ?? "")
          else reply.cut()
        }

        const ask = (number: number): void => {
          const owner = pick(["a", "b", "c"])
          const text = pick(questions.flat())
          const stream = pick([true, false])
          const headers = pick([{}, {}, { "x-gateway-cache-tools": "true" }, { "x-gateway-no-cache": "true" }] as const)
          const temperature = pick([0, 0, 0, 1])
          const client = makeTestReply()
          const trail = new Trail()
          const parsed = { model: "m", temperature, stream, messages: [{ role: "user", content: text }] }
          const exchange = {
            requestId: `r${number}`,
            receivedMs: nowMs,
            startedMs: nowMs,
            wire: "chat",
            codec: codecs.chat,
            path: "/v1/chat/completions",
            body: Buffer.from(JSON.stringify(parsed)),
            fromPath: null,
            headers,
            principal: { _tag: "Anonymous" },
            reply: client
          }
          const work = {
            exchange,
            owner,
            parsed,
            asked: parsed,
            outputCap: null,
            sessionId: null,
            resolution: { targets: [] },
            body: exchange.body,
            envelope: { model: "m", stream, candidates: 1, wantsUsage: stream },
            trail
          } as unknown as Work
          const takesTools = "x-gateway-cache-tools" in headers
          const mayBeKept = enabled && temperature === 0 && !("x-gateway-no-cache" in headers)
          asked.add({ client, owner, text, stream, takesTools, mayBeKept, askedAtMs: nowMs, trail })
          Effect.runFork(Effect.map(answer(work), settle))
        }

        const stepOf = (call: Call): void => {
          const { fate, left, reply, resume, work } = call
          const isEnding = fate === "cut" ? left.length <= 2 : left.length === 1
          if (fate !== "failed" && !isEnding) {
            if (!call.hasHead) reply.head(200, ["Content-Type", "text/event-stream"])
            call.hasHead = true
            reply.write(left.shift() ?? "")
            return
          }
          calls.delete(call)
          const target = { account: { spec: { id: "p" } }, model: "m" }
          const end =
            fate === "failed"
              ? { _tag: "Failed", target, failure: { status: 500, reason: "http_500" }, retryAfterMs: null }
              : {
                  _tag: "Answered",
                  target,
                  result:
                    fate === "cut"
                      ? { _tag: "Broken", ending: null, failure: { reason: "reset" } }
                      : { _tag: "Completed" }
                }
          if (fate !== "failed" && !call.hasHead) reply.head(200, [])
          resume(Effect.succeed({ work, end, others: [] } as unknown as Answered))
        }

        const checkWhole = (one: Asked): void => {
          const { askedAtMs, client, mayBeKept, owner, stream, takesTools, text, trail } = one
          const said = saidIn(client.text(), stream)
          assert.isNotNull(said, client.text())
          if (stream) assert.include(client.text(), "data: [DONE]")
          const from = made[said.number]
          assert.isDefined(from)
          const cache = [...client.headers(), ...trail.headers].join(" ")
          assert.strictEqual(from.owner, owner)
          const isHit = cache.includes("X-Gateway-Cache HIT")
          if (!isHit) {
            assert.strictEqual(from.text, text)
            seen[cache.includes("X-Gateway-Cache MISS") ? "misses" : "passedBy"] += 1
            return
          }
          assert.isTrue(mayBeKept)
          assert.strictEqual(lineOf(from.text), lineOf(text))
          assert.include(["whole", "tools"], from.fate)
          assert.strictEqual(said.hasTools, from.fate === "tools")
          assert.isTrue(!said.hasTools || takesTools)
          assert.strictEqual(said.finish, said.hasTools ? "tool_calls" : "stop")
          // Those under way when the cache was cleared may end, and be kept, afterwards.
          assert.isAbove(from.endedAtMs + ttlMs, askedAtMs)
          assert.isAtLeast(from.clears, clearsAt.get(one) ?? 0)
          seen.hits += 1
          if (said.hasTools) seen.toolHits += 1
          if (cache.includes("X-Gateway-Cache-Similarity")) {
            assert.isFalse(said.hasTools)
            seen.semanticHits += 1
          } else assert.strictEqual(from.text, text)
          if (client.chunks().length === 1) seen.otherForms += 1
        }

        const clearsAt = new WeakMap<Asked, number>()
        const check = (one: Asked): void => {
          const ending = one.client.ending()
          if (ending === "open") return
          asked.delete(one)
          if (ending === "cut") seen.cut += 1
          else if (one.client.status() === 500) seen.failed += 1
          else checkWhole(one)
        }

        let number = 0
        for (let turn = 0; number < requests; turn += 1) {
          const dice = random.below(100)
          if (dice < 45 && asked.size < mostUnderWay) {
            number += 1
            ask(number)
            for (const one of asked) if (!clearsAt.has(one)) clearsAt.set(one, clears)
          } else if (dice < 98 && calls.size > 0) stepOf(pick([...calls]))
          else if (dice === 98) nowMs += random.below(ttlMs / 4)
          else if (random.below(40) === 0) {
            // What ends while it is cleared may be kept.
            clears += 1
            yield* answers.clear
          } else if (random.below(10) === 0) {
            enabled = random.below(10) !== 0
            byMeaning = random.below(2) === 0
          }
          if (turn % 8 === 0 || calls.size === 0) yield* Effect.yieldNow()
          for (const one of asked) check(one)
        }
        for (let round = 0; round < 1_000 && asked.size > 0; round += 1) {
          for (const call of calls) stepOf(call)
          yield* Effect.yieldNow()
          for (const one of asked) check(one)
        }
        assert.strictEqual(asked.size, 0)
        yield* answers.stored
        for (const [what, count] of Object.entries(seen)) assert.isAbove(count, requests / 500, what)
      }),
    120_000
  )
})
