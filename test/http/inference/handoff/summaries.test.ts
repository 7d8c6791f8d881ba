/** When a conversation is summarised, by which model, from what, and what it costs. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import { maxTranscriptBytes } from "../../../../src/plane/features/handoff/Transcript.ts"
import { refuses, requestIn, says, type Scene, type SceneOptions, setUp, summary, turns } from "./Scene.ts"

const scene = (name: string, options: SceneOptions, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp(options), (given) => Effect.promise(() => play(given))))

const told = JSON.stringify(summary)
const long = (messages: number, more = "") => requestIn("chat", "Be brief.", turns(messages, more))

describe("a summary", () => {
  scene("is asked for once, when the quota is nearly used up, of who has answered", {}, async (given) => {
    const { a, ask, b, handedOff, logs, reasonOf, sent } = given
    a.enqueue(says("chat", "first", 800), says("chat", "second", 80), says("chat", told, 3))
    const below = await ask("s")
    const due = await ask("s")
    const row = await handedOff(due)
    assert.lengthOf(a.requests, 3)
    const asked = sent(a, 2)
    assert.deepInclude(asked, { model: "m", max_tokens: 800 })
    assert.notStrictEqual(asked.stream, true)
    assert.isUndefined(asked.tools)
    assert.lengthOf(asked.messages, 2)
    assert.include(asked.messages[0].content, "keyDecisions")
    for (const turn of ["user: turn 1", "assistant: turn 2", "user: turn 3"]) {
      assert.include(asked.messages[1].content, turn)
    }
    assert.deepInclude(row, {
      requestedModel: "a/m",
      combo: "relay",
      provider: "a",
      model: "m",
      outcome: "completed",
      status: 200,
      streamed: false,
      attempts: 1,
      usageSource: "upstream"
    })
    assert.deepInclude(row.tokens, { in: 3 })
    assert.match(await reasonOf({ id: `${due.id}-handoff` }), /^handoff: /)
    // The same conversation is not summed up again; another session's is, and would come after it.
    await ask("s")
    a.enqueue(says("chat", "other"), says("chat", told))
    await handedOff(await ask("other"))
    assert.lengthOf(a.requests, 6)
    assert.lengthOf(b.requests, 0)
    const ids = (await logs()).map(({ requestId }: { requestId: string }) => requestId)
    assert.notInclude(ids, `${below.id}-handoff`)
  })

  scene("is not made without a session, below the threshold, or when nothing is left to spare", {}, async (given) => {
    const { a, ask, handedOff } = given
    a.enqueue(says("chat", "1", 880))
    await ask(null)
    a.enqueue(says("chat", "2"), says("chat", told, 80))
    await handedOff(await ask("s"))
    assert.lengthOf(a.requests, 3)
    // 960 tokens and more are used now.
    await ask("t")
    a.enqueue(says("chat", "4"))
    await ask("u")
    assert.lengthOf(a.requests, 5)
  })

  scene("is renewed when the conversation has gone on, with what was known", {}, async (given) => {
    const { a, ask, handedOff, sent } = given
    a.enqueue(says("chat", "1", 880), says("chat", told))
    await handedOff(await ask("s", long(3)))
    await ask("s", long(11))
    a.enqueue(says("chat", "3"), says("chat", told))
    await handedOff(await ask("s", long(13)))
    assert.lengthOf(a.requests, 5)
    assert.include(sent(a, 4).messages[1].content, "a bridge of oak")
  })

  scene(
    "is made by `handoffModel`, from the last messages, within bounds",
    { config: { handoffModel: "helper/m", handoffThreshold: 0.5, maxMessagesForSummary: 4 } },
    async ({ a, ask, handedOff, helper, sent }) => {
      a.enqueue(says("chat", "1", 600))
      const row = await handedOff(await ask("s", long(40)))
      assert.deepInclude(row, { requestedModel: "helper/m", provider: "helper", combo: "relay" })
      assert.lengthOf(a.requests, 1)
      const few = sent(helper, 0).messages[1].content
      assert.include(few, "turn 40")
      assert.include(few, "turn 37")
      assert.notInclude(few, "turn 36")
      assert.notInclude(few, "Be brief.")
      await handedOff(await ask("t", long(4, ` ${"long ".repeat(5_000)}`)))
      const bounded = sent(helper, 1).messages[1].content
      assert.isAtMost(Buffer.byteLength(bounded), maxTranscriptBytes + 200)
      assert.include(bounded, "turn 4")
    }
  )

  scene(
    "is made by the model that answered when `handoffModel` is not found",
    { config: { handoffModel: "openai/gpt-4.1" } },
    async (given) => {
      const { a, ask, handedOff } = given
      a.enqueue(says("chat", "1", 880), says("chat", told))
      assert.deepInclude(await handedOff(await ask("s")), { requestedModel: "a/m", provider: "a" })
    }
  )

  scene("is made for `handoffProviders` only", { config: { handoffProviders: ["b"] } }, async (given) => {
    const { a, ask, gateway, handedOff } = given
    a.enqueue(says("chat", "1", 880))
    await ask("s")
    const { combos } = await gateway.manage("GET", "/api/combos")
    await gateway.manage("PUT", `/api/combos/${combos[0].id}`, { ...combos[0], config: { handoffProviders: ["a"] } })
    a.enqueue(says("chat", "2"), says("chat", told))
    await handedOff(await ask("s"))
    assert.lengthOf(a.requests, 3)
  })

  scene(
    "is not asked of a connection that takes one request at a time",
    { connection: { max_concurrent: 1 } },
    async (given) => {
      const { a, ask, gateway, handedOff } = given
      a.enqueue(says("chat", "1", 880))
      await ask("s")
      const { combos } = await gateway.manage("GET", "/api/combos")
      await gateway.manage("PUT", `/api/combos/${combos[0].id}`, { ...combos[0], config: { handoffModel: "helper/m" } })
      await handedOff(await ask("s"))
      assert.lengthOf(a.requests, 2)
    }
  )

  scene("that fails has no effect", {}, async (given) => {
    const { a, ask, b, handedOff, sent } = given
    a.enqueue(says("chat", "1", 880), Fake.json({ error: { message: "no" } }, { status: 400 }))
    const failed = await handedOff(await ask("s"))
    assert.deepInclude(failed, { outcome: "failed", status: 400, costUsd: 0 })
    a.enqueue(says("chat", "2"), says("chat", "I would rather not."))
    const unusable = await handedOff(await ask("s"))
    assert.deepInclude(unusable, { outcome: "failed", status: 200 })
    // An answer without a summary is paid for: the next try waits until there is more to sum up.
    await ask("s")
    a.always(refuses)
    const moved = await ask("s")
    assert.include(moved.text, "answer of b")
    assert.isNull(moved.headers.get("x-gateway-handoff"))
    assert.deepStrictEqual(sent(b, 0), { model: "m", ...requestIn("chat", null) })
  })
})

describe("in the background", () => {
  it.live("the client does not wait for it, and closing the gateway ends the call and records it", () =>
    Effect.gen(function* () {
      const dataDir = mkdtempSync(join(tmpdir(), "gateway-handoff-"))
      const ids = yield* Effect.scoped(
        Effect.flatMap(setUp({ dataDir }), ({ a, ask }) =>
          Effect.promise(async () => {
            a.enqueue(says("chat", "1", 880), Fake.hang())
            const answer = await ask("s")
            assert.include(answer.text, '"1"')
            await a.received(2)
            // Another turn goes through meanwhile, and begins no second summary.
            a.enqueue(says("chat", "2"))
            await ask("s")
            assert.lengthOf(a.requests, 3)
            return answer.id
          })
        )
      )
      const row = yield* Effect.scoped(
        Effect.flatMap(TestGateway.start({ dataDir }), (gateway) =>
          Effect.promise(() => gateway.usageRow(`${ids}-handoff`))
        )
      )
      assert.deepInclude(row, { outcome: "aborted", error: "gateway_closing", usageSource: "estimated", provider: "a" })
      assert.isAbove(row.tokens.in, 100)
      rmSync(dataDir, { recursive: true, force: true })
    })
  )

  scene("at most four at a time", {}, async ({ a, ask, handedOff }) => {
    const latch = Fake.makeLatch()
    const answers = (text: string, tokens = 1): Fake.Answer => says("chat", text, tokens)
    a.always(async (response, request) => {
      const isSummary = request.body.includes("keyDecisions")
      if (isSummary) await latch.opened
      await answers(isSummary ? told : "ok")(response, request)
    })
    a.enqueue(answers("1", 880))
    const sessions = ["s1", "s2", "s3", "s4"]
    const replies = []
    for (const session of sessions) replies.push(await ask(session))
    await a.received(8)
    await ask("s5")
    latch.open()
    for (const reply of replies) await handedOff(reply)
    const summaries = () => a.requests.filter(({ body }) => body.includes("keyDecisions")).length
    assert.strictEqual(summaries(), 4)
    await handedOff(await ask("s5"))
    assert.strictEqual(summaries(), 5)
  })
})
