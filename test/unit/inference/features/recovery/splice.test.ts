/** The client's stream over a cut: one start, blocks and their numbers in order, one end; unchanged until a target continues. */
import { assert, describe, it } from "@effect/vitest"
import { makeDeliveredPrefix, maxSentChars } from "../../../../../src/plane/features/recovery/DeliveredPrefix.ts"
import type { DeliveredPrefix } from "../../../../../src/plane/request/DeliveredPrefix.ts"
import { makeSplice } from "../../../../../src/plane/features/recovery/Splice.ts"
import type { StreamEvent } from "../../../../../src/wire/canonical/Event.ts"

const start: StreamEvent = { type: "start", id: "a", model: "m", createdMs: null }
const open = (index: number, type: "text" | "reasoning" = "text"): StreamEvent => ({
  type: "block_start",
  index,
  block: { type }
})
const text = (index: number, text: string): StreamEvent => ({ type: "delta", index, delta: { type: "text", text } })
const stop = (index: number): StreamEvent => ({ type: "block_stop", index })
const tool = (index: number): StreamEvent => ({
  type: "block_start",
  index,
  block: { type: "tool_call", id: "c", name: "f", kind: "function" }
})
const finish: StreamEvent = { type: "finish", stop: { reason: "stop", raw: "stop", sequence: null } }
const done: StreamEvent = { type: "done" }

/** The events that reach the client, in short. */
const shortOf = (event: StreamEvent): string => {
  switch (event.type) {
    case "block_start":
      return `[${event.index}${event.block.type} `
    case "delta":
      return event.delta.type === "text" ? `${event.index}${event.delta.text} ` : `${event.index}? `
    case "block_stop":
      return `${event.index}] `
    case "usage":
      return `usage=${event.usage.out} `
    default:
      return `${event.type} `
  }
}

const begun = (...events: ReadonlyArray<StreamEvent>): { readonly sent: DeliveredPrefix; readonly told: string } => {
  const sent = makeDeliveredPrefix({ encode: shortOf })
  return { sent, told: events.map((event) => sent.feed(event)).join("") }
}

const spliced = (sent: DeliveredPrefix, ...events: ReadonlyArray<StreamEvent>): string => {
  const splice = makeSplice({ sent, blanksCut: false, mark: "// ", usageOfAll: () => null })
  return events.map((event) => splice.encode(event)).join("")
}

describe("a splice", () => {
  it("goes on in the open block, without a second start", () => {
    const { sent } = begun(start, open(0), text(0, "Hello"))
    assert.strictEqual(
      spliced(sent, start, open(0), text(0, " you"), stop(0), finish, done),
      "// 0 you 0] finish done "
    )
  })

  it("goes on in a block whose end was not told yet", () => {
    const { sent, told } = begun(start, open(0), text(0, "Hello"), stop(0), {
      type: "error",
      problem: { status: 502, message: "", type: null, code: null }
    })
    assert.notInclude(told, "0]")
    assert.strictEqual(spliced(sent, open(0), text(0, " you"), stop(0), finish, done), "// 0 you 0] finish done ")
  })

  it("begins further blocks behind those that are there", () => {
    const { sent } = begun(start, open(0, "reasoning"), text(0, "hm"), stop(0), open(1), text(1, "Hello"))
    assert.strictEqual(
      spliced(sent, open(0), text(0, " you"), stop(0), tool(1), stop(1), finish, done),
      "// 1 you 1] [2tool_call 2] finish done "
    )
  })

  it("ends the open text before a tool call", () => {
    const { sent } = begun(start, open(0), text(0, "Hello"))
    assert.strictEqual(spliced(sent, tool(0), stop(0), finish, done), "// 0] [1tool_call 1] finish done ")
  })

  it("ends a block that was not continued", () => {
    const { sent } = begun(start, open(0), text(0, "Hello, everybody"))
    assert.strictEqual(spliced(sent, open(0), text(0, ", everybody"), stop(0), finish, done), "// 0] finish done ")
  })

  it("says nothing until it has something to say", () => {
    const { sent } = begun(start, open(0), text(0, "Hello"))
    const thoughts = [start, open(0, "reasoning"), text(0, "hm"), stop(0), { type: "ping" } as const]
    assert.strictEqual(spliced(sent, ...thoughts), "")
    assert.strictEqual(spliced(sent, ...thoughts, finish, done), "", "no end without an answer")
    assert.strictEqual(spliced(sent, open(0), text(0, "!"), stop(0), finish, done), "// 0! 0] finish done ")
  })

  it("may break and be gone on with", () => {
    const { sent } = begun(start, open(0), text(0, "One"))
    assert.strictEqual(spliced(sent, open(0), text(0, " two")), "// 0 two ")
    assert.strictEqual(sent.text(), "One two")
    assert.isTrue(sent.isSafe())
    assert.strictEqual(spliced(sent, open(0), text(0, " three"), stop(0), finish, done), "// 0 three 0] finish done ")
    assert.isFalse(sent.isSafe())
  })
})

describe("what was sent", () => {
  const isSafe = (...events: ReadonlyArray<StreamEvent>): boolean => begun(start, ...events).sent.isSafe()

  it("is safe with text and finished reasoning only", () => {
    assert.isTrue(isSafe(open(0), text(0, "Hello")))
    assert.isTrue(isSafe(open(0, "reasoning"), text(0, "hm"), stop(0), open(1), text(1, "Hello")))
    assert.isFalse(isSafe(open(0, "reasoning"), text(0, "hm")))
    assert.isFalse(isSafe(tool(0)))
    assert.isFalse(isSafe(tool(0), stop(0), open(1), text(1, "Hello")))
    assert.isFalse(isSafe(open(0), text(0, "Hello"), stop(0), finish))
    assert.isFalse(isSafe({ type: "block_start", index: 0, block: { type: "refusal" } }))
    assert.isFalse(isSafe(open(0), text(0, "x".repeat(maxSentChars + 1))))
  })

  it("is not safe when the client has the frame of a block without words", () => {
    const heard = (...events: ReadonlyArray<StreamEvent>): boolean => {
      const sent = makeDeliveredPrefix({ encode: shortOf })
      for (const event of events) sent.hear(event)
      return sent.isSafe()
    }
    assert.isTrue(heard(start, open(0), text(0, "Hello")))
    assert.isTrue(heard(start, open(0), text(0, "Hello"), stop(0)))
    assert.isFalse(heard(start, open(0), stop(0), open(1), text(1, "Hello")))
    assert.isFalse(heard(start, open(0, "reasoning"), text(0, "hm"), stop(0), open(1)))
  })
})
