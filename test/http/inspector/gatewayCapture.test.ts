/** The switch of the recording of the gateway's own traffic, in the whole service. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { TrafficRecord } from "../../../src/contract/domain/TrafficRecord.ts"
import { GatewayCapture } from "../../../src/plane/tap/GatewayCapture.ts"
import { TrafficTap } from "../../../src/plane/tap/TrafficTap.ts"
import { LazyInspector, type InspectorServices } from "../../../src/observe/inspector/LazyInspector.ts"
import { eventually, eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const recordsOf = async ({ inspector }: InspectorServices): Promise<ReadonlyArray<TrafficRecord>> => {
  await Effect.runPromise(inspector.settled)
  return [...(await Effect.runPromise(inspector.exported({})))]
}

const finished = (services: InspectorServices, count: number): Promise<TrafficRecord> =>
  eventuallyFound(`${count} finished records`, async () => {
    const records = await recordsOf(services)
    return records.length === count && records.every(({ status }) => status !== "in-flight")
      ? records.at(-1)
      : undefined
  })

const system = "You answer in one word. ".repeat(400)
const turn = (text: string) => ({ role: "user", content: text })
const usage = (cached: number) => ({
  prompt_tokens: 3_000,
  completion_tokens: 3,
  total_tokens: 3_003,
  prompt_tokens_details: { cached_tokens: cached }
})

describe("the recording of the gateway's own traffic", () => {
  it.scopedLive("is off at first, loads nothing, and is kept over a restart", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const upstream = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion({ text: "fine" })))
      const ask = (gateway: TestGateway.TestGateway) =>
        Effect.promise(async () => {
          const body = { model: "up/m", messages: [turn("Hi")] }
          assert.strictEqual((await gateway.post("/v1/chat/completions", body)).status, 200)
        })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { built, gateway } = yield* TestGateway.startBuilt({ dataDir })
          yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
          const [capture, door] = [Context.get(built, GatewayCapture), Context.get(built, LazyInspector)]
          yield* ask(gateway)
          assert.isFalse(capture.isEnabled())
          assert.isNull(door.current())
          assert.isTrue(yield* capture.setEnabled(true))
          yield* ask(gateway)
          const services = yield* door.get
          assert.strictEqual((yield* Effect.promise(() => finished(services, 1))).source, "gateway")
          yield* capture.setEnabled(false)
          yield* ask(gateway)
          assert.lengthOf(yield* Effect.promise(() => recordsOf(services)), 1)
          yield* capture.setEnabled(true)
        })
      )
      const { built, gateway } = yield* TestGateway.startBuilt({ dataDir })
      const tap = Context.get(built, TrafficTap)
      yield* Effect.promise(() =>
        eventually(
          "the recording after a restart",
          () => tap.isOn,
          (isOn) => isOn
        )
      )
      yield* ask(gateway)
      const services = yield* Context.get(built, LazyInspector).get
      yield* Effect.promise(() => finished(services, 1))
    })
  )

  it.scopedLive("tells the finder of cache breaks which account was called, and what it was sent", () =>
    Effect.gen(function* () {
      const { built, gateway } = yield* TestGateway.startBuilt()
      const [one, two] = [yield* Fake.start, yield* Fake.start]
      yield* Effect.promise(async () => {
        await gateway.connect("up", one, "chat")
        await gateway.connect("other", two, "chat")
        await gateway.combo("c", "up/m", "other/m")
      })
      yield* Context.get(built, GatewayCapture).setEnabled(true)
      const services = yield* Context.get(built, LazyInspector).get
      const say = async (count: number, model: string, ...turns: ReadonlyArray<object>): Promise<TrafficRecord> => {
        // Of another wire, so that what is sent is not what the client wrote.
        const body = { model, max_tokens: 9, system, messages: turns }
        const response = await gateway.post("/v1/messages", body)
        assert.strictEqual(response.status, 200, await response.text())
        return finished(services, count)
      }
      const answer = (cached: number) => Fake.json({ ...Fake.chatCompletion({ text: "Yes" }), usage: usage(cached) })
      const reply = { role: "assistant", content: "Yes" }
      yield* Effect.promise(async () => {
        one.enqueue(answer(0), answer(2_900))
        // It is known to report what it reads: then nothing means nothing.
        two.enqueue(answer(100))
        await say(1, "other/m", turn("Something else?"))
        const first = await say(2, "c", turn("Is it?"))
        const second = await say(3, "c", turn("Is it?"), reply, turn("Really?"))
        one.always(Fake.json({ error: { message: "out" } }, { status: 503 }))
        two.always(answer(0))
        const third = await say(4, "c", turn("Is it?"), reply, turn("Really?"), reply, turn("Sure?"))
        const of = async ({ id }: TrafficRecord) => {
          await Effect.runPromise(services.cacheWatch.settled)
          return Effect.runPromise(services.cacheWatch.of(id))
        }
        assert.notStrictEqual((await of(first)).verdict, "broken")
        const kept = await of(second)
        assert.deepInclude(kept, { verdict: "hit", comparedWith: first.id })
        assert.deepInclude(kept.tokens, { in: 3_000, cacheRead: 2_900 })
        const lost = await of(third)
        assert.strictEqual(lost.comparedWith, second.id)
        assert.deepInclude(lost.cause, { by: "gateway", rule: "account_changed" })
      })
    })
  )
})
