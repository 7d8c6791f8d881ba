/** Whatever an event or an answer is, it can be read, and what is not text goes on as it came. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { readers } from "../../../../src/plane/features/guardrails/answers/wires/readers.ts"
import { filterWhole } from "../../../../src/plane/features/guardrails/answers/WholeFilter.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import { testGuard } from "../../../support/PersonalData.ts"
import { answerOf, filtered } from "./support.ts"

const context = { nowMs: 1_700_000_000_000, fallbackId: "g", model: "m", wantsUsage: true }
const anything = fc.jsonValue({ maxDepth: 4 })

/** An answer of the wire with some of its values replaced by others. */
const damaged = (value: unknown, others: ReadonlyArray<unknown>): unknown => {
  let next = 0
  const change = (inner: unknown, depth: number): unknown => {
    next = (next * 31 + depth + 7) % 101
    if (depth > 0 && next % 5 === 0) return others[next % others.length] ?? null
    if (Array.isArray(inner)) return inner.map((item) => change(item, depth + 1))
    if (typeof inner !== "object" || inner === null) return inner
    return Object.fromEntries(Object.entries(inner).map(([name, member]) => [name, change(member, depth + 1)]))
  }
  return change(value, 0)
}

for (const codec of Object.values(codecs)) {
  describe(`answers of ${codec.name} that are any JSON`, () => {
    const sound = codec.encodeResponse(
      answerOf([
        { type: "reasoning", text: "thought" },
        { type: "text", text: "a clean text" },
        { type: "tool_call", id: "t", name: "f", kind: "function", args: '{"a":["b"]}' }
      ]),
      context
    )

    it("are read without a fault, and stay the same bytes where nothing is found", () => {
      fc.assert(
        fc.property(fc.array(anything, { minLength: 1, maxLength: 8 }), (others) => {
          const body = JSON.stringify(damaged(sound, others))
          const found: Array<string> = []
          const out = filterWhole(body, {
            reader: readers[codec.name],
            guard: testGuard,
            found: ({ detector }) => void found.push(detector),
            read: () => {},
            unread: () => assert.fail("unread")
          })
          if (found.length === 0) assert.strictEqual(out, body)
        }),
        { numRuns: 200 }
      )
    })

    it("are read without a fault as events", () => {
      fc.assert(
        fc.property(fc.array(anything, { maxLength: 6 }), (others) => {
          const events = [sound, ...others].map((event) => JSON.stringify(damaged(event, [...others, null])))
          const stream = events.map((event) => (codec.name === "ollama" ? `${event}\n` : `data: ${event}\n\n`)).join("")
          const { found, text } = filtered(codec, testGuard, [stream])
          if (found.length === 0) assert.strictEqual(text, stream)
        }),
        { numRuns: 200 }
      )
    })
  })
}
