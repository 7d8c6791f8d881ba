/**
 * Requests of several callers and keys in random interleavings: none gets the answer of another caller or body, none gets half an answer that
 * looks whole, every client that stays gets an end, and a call goes on exactly as long as somebody waits for it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { defaultGatewaySettings } from "../../../src/subjects/settings/entity.ts"
import { GatewaySettings } from "../../../src/subjects/flags/StoredFlags.ts"
import * as Coalescing from "../../../src/plane/features/coalescing/Coalescing.ts"
import type { Answer, Answered } from "../../../src/plane/features/Feature.ts"
import * as Idempotency from "../../../src/plane/features/idempotency/Idempotency.ts"
import { IdempotencyStats } from "../../../src/plane/cache/IdempotencyStats.ts"
import type { ClientReply, Work } from "../../../src/plane/request/Exchange.ts"
import { Trail } from "../../../src/plane/request/Trail.ts"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"
import { Timers } from "../../../src/platform/Timers.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import { makeTestReply, type TestReply } from "../../support/Replies.ts"
import { counted } from "../../support/slowRun.ts"

const requests = counted(10_000, 100_000)
const mostUnderWay = 24

interface Call {
  readonly work: Work
  readonly reply: ClientReply
  /** What is left to write; the last piece is the end. */
  readonly left: Array<string>
  readonly fate: "whole" | "cut" | "failed"
  readonly resume: (answered: Effect.Effect<Answered>) => void
  /** Its client reads more slowly than it writes. */
  isFull: boolean
}

interface Asked {
  readonly client: TestReply
  readonly owner: string
  readonly body: string
}

/** What a call says: whose it is, for what, and which one, at both ends. */
const mark = (owner: string, body: string, call: number): string => `<${owner} ${body} ${call}>`
const answerOf = (owner: string, body: string, call: number, pieces: number): Array<string> => {
  const name = mark(owner, body, call)
  return [name, ...Array.from({ length: pieces }, (_, at) => ` ${at} of ${pieces}`), `</${name}`]
}
const whole = /^<(?<owner>\w+) (?<body>\w+) (?<call>\d+)>(?<pieces>(?: \d+ of \d+)*)<\/<\w+ \w+ \d+>$/

const setUp = (nowMs: () => number) =>
  Effect.gen(function* () {
    const timers = Timers.of({
      nowMs,
      monotonicMs: nowMs,
      after: () => ({ restart: () => {}, cancel: () => {} }),
      soon: (run) => run(),
      live: () => 0
    })
    const settings = { current: () => defaultGatewaySettings } as unknown as typeof GatewaySettings.Service
    const services = Layer.mergeAll(Layer.succeed(Timers, timers), Layer.succeed(GatewaySettings, settings))
    const built = yield* Layer.build(Layer.mergeAll(Idempotency.layer, Coalescing.layer).pipe(Layer.provide(services)))
    return {
      outer: Context.get(built, Idempotency.Idempotency),
      inner: Context.get(built, Coalescing.Coalescing),
      stats: Context.get(built, IdempotencyStats)
    }
  })

describe("calls that several requests share", () => {
  it.scoped(
    `are right for each of ${requests} requests`,
    () =>
      Effect.gen(function* () {
        let nowMs = 1_000_000
        const { inner, outer, stats } = yield* setUp(() => nowMs)
        const random = makeSeededRandom(20_261_123)
        const pick = <A>(items: ReadonlyArray<A>): A => {
          const item = items[random.below(items.length)]
          assert.isDefined(item)
          return item
        }
        const calls = new Set<Call>()
        const asked = new Set<Asked>()
        const seen = { calls: 0, whole: 0, cut: 0, left: 0, failed: 0, conflicts: 0 }
        /** Callers and bodies that calls were made for, by number. */
        const made: Array<string> = []

        const corridor: Answer = (work) =>
          Effect.async<Answered>((resume) => {
            seen.calls += 1
            const { exchange, owner } = work
            const body = exchange.body.toString()
            const fate = pick(["whole", "whole", "whole", "cut", "failed"] as const)
            const call: Call = {
              work,
              reply: exchange.reply,
              left: answerOf(owner, body, made.length, random.below(6)),
              fate,
              resume,
              isFull: false
            }
            exchange.reply.onDrain(() => {
              call.isFull = false
            })
            made.push(mark(owner, body, made.length))
            calls.add(call)
            exchange.reply.onClose(() => {
              if (!calls.delete(call)) return
              const target = { account: { spec: { id: "p" } }, model: "m" }
              const end = { _tag: "Answered", target, result: { _tag: "Aborted", report: null, firstContentMs: null } }
              resume(Effect.succeed({ work, end, others: [] } as unknown as Answered))
            })
          })
        const answer = outer.around(inner.around(corridor))

        /** What settlement does once the row is on file. */
        const settle = ({ end, work }: Answered, call: Call | null): void => {
          const { reply } = work.exchange
          if (end._tag === "Kept") return end.answer()
          if (end._tag === "Refused") {
            seen.conflicts += 1
            reply.head(409, [])
            return reply.end("conflict")
          }
          if (end._tag === "Failed") {
            reply.head(500, [])
            return reply.end("failed")
          }
          if (end._tag !== "Answered" || call === null) return
          if (end.result._tag === "Completed") reply.end(call.left.shift() ?? "")
          else if (end.result._tag === "Broken") reply.cut()
        }

        const byWork = new Map<string, Call>()
        const ask = (number: number): void => {
          const owner = pick(["a", "b", "c"])
          const body = pick(["x", "y", "z"])
          const headers = pick([{}, { "idempotency-key": "k" }, { "idempotency-key": "l" }, { "x-request-id": "r" }])
          const client = makeTestReply()
          const exchange = {
            requestId: `r${number}`,
            madeFor: "client",
            principal: { _tag: "Anonymous" },
            startedMs: nowMs,
            wire: "chat",
            codec: codecs.chat,
            path: "/v1/chat/completions",
            body: Buffer.from(body),
            fromPath: null,
            headers,
            reply: client
          }
          const work = {
            exchange,
            owner,
            parsed: { temperature: pick([0, 0, 1]) },
            asked: {},
            outputCap: null,
            resolution: { targets: [] },
            body: exchange.body,
            envelope: { model: "m" },
            trail: new Trail()
          } as unknown as Work
          asked.add({ client, owner, body })
          Effect.runFork(
            Effect.map(answer(work), (answered) =>
              settle(answered, byWork.get(answered.work.exchange.requestId) ?? null)
            )
          )
        }

        const stepOf = (call: Call): void => {
          const { fate, left, reply, resume, work } = call
          const isLast = left.length === 1
          const isEnding = fate === "whole" ? isLast : left.length <= 2
          if (!isEnding) {
            if (call.isFull) return
            const piece = left.shift() ?? ""
            if (!heads.has(call)) {
              heads.add(call)
              reply.head(200, ["X-Gateway-Request-Id", work.exchange.requestId])
            }
            call.isFull = !reply.write(piece)
            return
          }
          calls.delete(call)
          byWork.set(work.exchange.requestId, call)
          const target = { account: { spec: { id: "p" } }, model: "m" }
          const hasHead = heads.has(call)
          if (fate === "whole" && !hasHead) reply.head(200, [])
          const result =
            fate === "whole" ? { _tag: "Completed" } : { _tag: "Broken", ending: null, failure: { reason: "reset" } }
          const end =
            fate === "failed" && !hasHead
              ? { _tag: "Failed", target, failure: { status: 500, reason: "http_500" }, retryAfterMs: null }
              : { _tag: "Answered", target, result }
          resume(Effect.succeed({ work, end, others: [] } as unknown as Answered))
        }
        const heads = new WeakSet<Call>()

        const check = (one: Asked): void => {
          const { body, client, owner } = one
          const text = client.text()
          const ending = client.ending()
          if (ending === "open") return
          asked.delete(one)
          if (ending === "ended" && client.status() === 200) {
            const found = whole.exec(text)?.groups
            assert.deepInclude(found, { owner, body }, text)
            const call = Number(found?.["call"])
            assert.strictEqual(made[call], mark(owner, body, call))
            const pieces = (found?.["pieces"]?.match(/of/g) ?? []).length
            assert.strictEqual(text, answerOf(owner, body, call, pieces).join(""))
            if (pieces > 0) assert.include(text, ` of ${pieces}`)
            seen.whole += 1
          } else if (ending === "ended") {
            assert.include(["conflict", "failed"], text)
            if (text === "failed") seen.failed += 1
          } else {
            if (text !== "") assert.isTrue(text.startsWith(`<${owner} ${body} `), text)
            if (ending === "cut") {
              assert.notMatch(text, whole)
              seen.cut += 1
            } else seen.left += 1
          }
        }

        for (let number = 0; number < requests;) {
          const dice = random.below(10)
          if (dice < 4 && asked.size < mostUnderWay) ask((number += 1))
          else if (dice < 8 && calls.size > 0) stepOf(pick([...calls]))
          else if (asked.size > 0) {
            const { client } = pick([...asked])
            const what = random.below(12)
            if (what < 4) client.block()
            else if (what < 10) client.drain()
            else if (what === 10) client.leave()
            else nowMs += 2_000
          }
          if (number % 16 === 0) {
            yield* Effect.yieldNow()
            byWork.clear()
          }
          for (const one of asked) check(one)
        }
        // Everything that is still under way comes to its end.
        for (let round = 0; round < 1_000 && asked.size > 0; round += 1) {
          for (const { client } of asked) client.drain()
          for (const call of calls) stepOf(call)
          yield* Effect.yieldNow()
          for (const one of asked) check(one)
        }
        assert.strictEqual(asked.size, 0)
        assert.strictEqual(calls.size, 0)
        nowMs += 10_000
        assert.strictEqual(stats.current().activeKeys, 0)
        for (const [what, count] of Object.entries(seen)) assert.isAbove(count, requests / 200, what)
        assert.isBelow(seen.calls, requests)
      }),
    60_000
  )
})
