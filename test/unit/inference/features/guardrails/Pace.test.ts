/** Long answers are looked at in steps, between other work, and come out as they would at once. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { compilePattern } from "../../../../../src/plane/guard/CustomPatterns.ts"
import { findPersonalData, longestMatchChars, openFrom } from "../../../../../src/plane/guard/Detectors.ts"
import {
  type AnswerGuard,
  type TextMode,
  watchAnswer
} from "../../../../../src/plane/features/guardrails/answers/AnswerGuard.ts"
import { GuardedReply } from "../../../../../src/plane/features/guardrails/answers/GuardedReply.ts"
import { makePace } from "../../../../../src/plane/features/guardrails/answers/Pace.ts"
import type { TextGuard } from "../../../../../src/plane/features/guardrails/answers/TextGuard.ts"
import { filterWhole } from "../../../../../src/plane/features/guardrails/answers/WholeFilter.ts"
import { readers } from "../../../../../src/plane/features/guardrails/answers/wires/readers.ts"
import type { ClientReply, Exchange } from "../../../../../src/plane/request/Exchange.ts"
import { Trail } from "../../../../../src/plane/request/Trail.ts"
import { codecs } from "../../../../../src/wire/Codec.ts"

const costly = Either.getOrThrowWith(
  compilePattern({ name: "letters", pattern: String.raw`TICKET(?:\p{L}|-){1,60}[0-9]{6}`, replacement: "[TICKET]" }),
  String
)
const options = { disabled: new Set<string>(), custom: [costly] }

/** Notes how much is looked at in one go. */
const guardOf = (windowChars: number) => {
  const looked: Array<number> = []
  const guard: TextGuard = {
    find: (text) => {
      looked.push(text.length)
      return findPersonalData(text, options)
    },
    openFrom: (text) => openFrom(text, options),
    longestMatchChars,
    windowChars
  }
  return { guard, looked }
}

const filler = "Some words of an answer that goes on and on. ".repeat(60)
const texts = [
  `${filler}TICKET-abc-123456 and jane@example.com ${filler}`,
  `${"x".repeat(1_020)}jane@example.com${"y".repeat(2_000)} TICKET-ä-654321`,
  `${filler}${"4111 1111 1111 1111 ".repeat(200)}`,
  "é".repeat(3_000) + "TICKET-é-000001"
]

const whole = (text: string): string =>
  JSON.stringify({
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text,
          tool_calls: [
            { id: "c", type: "function", function: { name: "f", arguments: JSON.stringify({ a: text, b: [text] }) } }
          ]
        }
      }
    ]
  })

const filtered = (body: string, guard: TextGuard) => {
  const found: Array<string> = []
  const made = filterWhole(body, {
    reader: readers.chat,
    guard,
    found: ({ detector }) => void found.push(detector),
    read: () => {},
    unread: () => assert.fail("it can be read")
  })
  return { made: String(made), found }
}

describe("a long answer", () => {
  for (const [at, text] of texts.entries()) {
    it(`comes out the same whatever is looked at in one step: ${at}`, () => {
      const once = filtered(whole(text), guardOf(10_000_000).guard)
      assert.isNotEmpty(once.found)
      for (const windowChars of [512, 700, 1_024, 4_096]) {
        const { guard, looked } = guardOf(windowChars)
        assert.deepStrictEqual(filtered(whole(text), guard), once, `${windowChars}`)
        assert.isAtMost(Math.max(...looked), windowChars + 4_096)
      }
    })
  }
})

const makeClient = () => {
  const got = { head: 0, text: "", isOver: false }
  const reply: ClientReply = {
    head: (status) => void (got.head = status),
    write: (chunk) => {
      got.text += chunk.toString()
      return true
    },
    end: (chunk) => {
      got.text += chunk.toString()
      got.isOver = true
    },
    cut: () => void (got.isOver = true),
    onDrain: () => () => {},
    onClose: () => () => {},
    isClosed: () => false
  }
  return { got, reply }
}

/** An answer whose later work is done turn by turn. */
const scene = (isStream: boolean, mode: TextMode, mostChars?: number) => {
  const { got, reply } = makeClient()
  const turns: Array<() => void> = []
  const { guard: texts } = guardOf(512)
  const decided: Array<string> = []
  const guard: AnswerGuard = {
    texts: { guard: texts, mode, ...(mostChars === undefined ? {} : { mostChars }) },
    later: (run) => void turns.push(run),
    mayCall: null,
    structured: { check: false, repair: false },
    header: () => null,
    decided: (detector, action) => void decided.push(`${detector} ${action}`)
  }
  const exchange = { codec: codecs.chat, wire: "chat", requestId: "r", reply } as unknown as Exchange
  const guarded = new GuardedReply(
    { envelope: { stream: isStream }, exchange, trail: new Trail() },
    guard,
    watchAnswer(guard)
  )
  let turned = 0
  const turn = (): boolean => {
    const next = turns.shift()
    next?.()
    if (next !== undefined) turned += 1
    return next !== undefined
  }
  return { got, guarded, turn, decided, turned: () => turned }
}

const event = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

describe("a stream with a long event", () => {
  it("is held up between turns, goes on in order, and says when it has caught up", () => {
    const { got, guarded, turn, turned } = scene(true, "redact")
    guarded.reply.head(200, ["Content-Type", "text/event-stream"])
    assert.isTrue(guarded.reply.write(event("Hello there. ")))
    let caughtUp = 0
    guarded.reply.onDrain(() => (caughtUp += 1))
    assert.isFalse(guarded.reply.write(event(`${filler.repeat(4)} jane@example.com `)))
    assert.isFalse(guarded.reply.write(event("It is over. ")))
    assert.notInclude(got.text, "Some words")
    assert.strictEqual(caughtUp, 0)
    while (turn());
    assert.isAbove(turned(), 5)
    assert.strictEqual(caughtUp, 1)
    guarded.reply.end("data: [DONE]\n\n")
    while (turn());
    assert.isTrue(got.isOver)
    assert.isAbove(got.text.indexOf("It is over"), got.text.indexOf("[EMAIL_REDACTED]"))
    assert.isTrue(got.text.endsWith("data: [DONE]\n\n"))
  })

  it("that ends while it is held up ends when all of it was looked at", () => {
    const { got, guarded, turn } = scene(true, "redact")
    guarded.reply.head(200, ["Content-Type", "text/event-stream"])
    guarded.reply.write(event(`${filler.repeat(4)} jane@example.com `))
    guarded.reply.end("data: [DONE]\n\n")
    assert.isFalse(got.isOver)
    while (turn());
    assert.isTrue(got.isOver)
    assert.include(got.text, "[EMAIL_REDACTED]")
    assert.notInclude(got.text, "jane@")
  })
})

describe("a whole answer", () => {
  it("is looked at between turns before it is concluded", async () => {
    const { got, guarded, turn, turned } = scene(false, "redact")
    const body = whole(`${filler.repeat(8)} jane@example.com`)
    const concluded = Effect.runPromise(guarded.concludeWith(body))
    assert.isNull(guarded.concluded())
    while (turn());
    assert.isNull(await concluded)
    assert.isAbove(turned(), 10)
    guarded.reply.head(200, ["Content-Type", "application/json"])
    guarded.reply.end(body)
    assert.notInclude(got.text, "jane@")
  })

  for (const [mode, isRefused] of [
    ["redact", true],
    ["block", true],
    ["warn", false]
  ] as const) {
    it(`of which more would have to be looked at than may be is ${isRefused ? "not given" : "given"} (${mode})`, async () => {
      const { decided, guarded, turn } = scene(false, mode, 2_000)
      const concluded = Effect.runPromise(guarded.concludeWith(whole(filler.repeat(4))))
      while (turn());
      assert.strictEqual((await concluded)?.code ?? null, isRefused ? "SECURITY_002" : null)
      assert.deepStrictEqual(decided, ["answer unread"])
    })
  }
})

describe("work in steps", () => {
  it("is done in its order, a little in each turn", () => {
    const turns: Array<() => void> = []
    const pace = makePace((run) => void turns.push(run))
    const seen: Array<string> = []
    const steps = (name: string, count: number) =>
      function* () {
        for (let at = 0; at < count; at += 1) {
          seen.push(`${name}${at}`)
          yield
        }
        return name
      }
    assert.isTrue(pace.run(steps("a", 1), (name) => void seen.push(`${name} done`)))
    assert.isFalse(pace.run(steps("b", 4), (name) => void seen.push(`${name} done`)))
    assert.isFalse(pace.run(steps("c", 1), (name) => void seen.push(`${name} done`)))
    assert.deepStrictEqual(seen, ["a0", "a done", "b0", "b1"])
    while (turns.length > 0) turns.shift()?.()
    assert.deepStrictEqual(seen.slice(4), ["b2", "b3", "b done", "c0", "c done"])
  })
})
