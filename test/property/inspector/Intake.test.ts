import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import { makeIntake } from "../../../src/observe/inspector/Intake.ts"
import type { Bodies, Head } from "../../../src/contract/domain/TrafficRecord.ts"
import { noBodies } from "../../../src/contract/domain/TrafficRecord.ts"
import { usualSettings } from "../../../src/observe/inspector/Settings.ts"
import { makeWorkThread } from "../../../src/observe/inspector/work/WorkThread.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import { counted } from "../../support/slowRun.ts"

const id = FC.nat(5).map(String)
const text = FC.tuple(FC.constantFrom(0, 3, 66_000), FC.nat(9)).map(
  ([length, digit]) => `${"x".repeat(length)}${digit}`
)
const step = FC.oneof(
  FC.record({ _tag: FC.constant("begin" as const), id, text: FC.oneof(FC.constant(null), text) }),
  FC.record({ _tag: FC.constant("body" as const), id, text }),
  FC.record({ _tag: FC.constant("note" as const), id, text: FC.string({ maxLength: 5 }) }),
  FC.record({
    _tag: FC.constant("finish" as const),
    id,
    isOurs: FC.boolean(),
    text: FC.oneof(FC.constant(null), text)
  }),
  FC.record({ _tag: FC.constant("wait" as const) })
)

const call = { provider: "openai", model: "m", account: "a", wire: "chat", body: "{}" } as const

interface Known {
  request: string | null
  response: string | null
  note: string | null
  isOver: boolean
}

describe("the intake", () => {
  it("ends with what it was told last, whatever comes in between, and holds nothing back", async () => {
    // Without its file the thread cannot start: the work is done here.
    const thread = makeWorkThread(Timers.make, undefined, new URL("file:///nonexistent/thread.mjs"))
    await FC.assert(
      FC.asyncProperty(FC.array(step, { maxLength: 30 }), async (steps) => {
        const heads = new Map<string, Head>()
        const bodies = new Map<string, Bodies>()
        const expected = new Map<string, Known>()
        const intake = makeIntake({
          settings: usualSettings,
          timers: Timers.make,
          thread: () => thread,
          newId: () => "none",
          sessionId: () => null,
          priceOf: () => null,
          known: (each) => heads.get(each) ?? null,
          reserve: () => {},
          put: (head, more) => {
            heads.set(head.id, head)
            bodies.set(head.id, { ...(bodies.get(head.id) ?? noBodies), ...more })
          },
          putLate: (late) => {
            heads.set(late.id, late.head())
            bodies.set(late.id, late.bodies())
          }
        })
        for (const each of steps) {
          if (each._tag === "wait") {
            await intake.settled()
            continue
          }
          const known = expected.get(each.id)
          if (each._tag === "begin") {
            if (known !== undefined) continue
            const start = {
              source: "tproxy",
              method: "GET",
              scheme: "https",
              host: "h",
              path: "/",
              headers: []
            } as const
            intake.begin(operatorsOwn, {
              ...start,
              id: each.id,
              body: each.text === null ? null : Buffer.from(each.text)
            })
            expected.set(each.id, { request: each.text, response: null, note: null, isOver: false })
          } else if (each._tag === "body") {
            if (known?.isOver !== false) continue
            intake.update(each.id, { requestBody: Buffer.from(each.text) })
            known.request = each.text
          } else if (each._tag === "note") {
            intake.update(each.id, { note: each.text })
            if (known !== undefined) known.note = each.text
          } else {
            intake.finish(
              each.id,
              { status: 200, responseBody: each.text === null ? null : Buffer.from(each.text) },
              each.isOurs ? call : null
            )
            if (known?.isOver !== false) continue
            known.response = each.text
            known.isOver = true
          }
        }
        await intake.settled()
        assert.strictEqual(intake.pendingBytes(), 0)
        assert.sameMembers([...heads.keys()], [...expected.keys()])
        for (const [each, { isOver, note, request, response }] of expected) {
          assert.strictEqual(heads.get(each)?.status, isOver ? 200 : "in-flight")
          assert.strictEqual(heads.get(each)?.note, note)
          assert.strictEqual(bodies.get(each)?.requestBody?.toString() ?? null, request)
          assert.strictEqual(bodies.get(each)?.responseBody?.toString() ?? null, response)
        }
        intake.close()
      }),
      { seed: 20_261_124, numRuns: counted(50, 200) }
    )
    thread.close()
  })
})
