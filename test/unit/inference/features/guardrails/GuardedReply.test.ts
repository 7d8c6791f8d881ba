import * as Effect from "effect/Effect"
import { assert, describe, it } from "@effect/vitest"
import { GuardrailBlocked } from "../../../../../src/contract/domain/Errors.ts"
import {
  type AnswerGuard,
  type TextMode,
  watchAnswer
} from "../../../../../src/plane/features/guardrails/answers/AnswerGuard.ts"
import { GuardedReply } from "../../../../../src/plane/features/guardrails/answers/GuardedReply.ts"
import { guardAnswer } from "../../../../../src/plane/features/guardrails/answers/guardAnswer.ts"
import type { ClientReply, Exchange, Work } from "../../../../../src/plane/request/Exchange.ts"
import { Trail } from "../../../../../src/plane/request/Trail.ts"
import { Listeners } from "../../../../../src/kernel/collections/Listeners.ts"
import { codecs } from "../../../../../src/wire/Codec.ts"
import { geminiArray } from "../../../../../src/wire/gemini/Codec.ts"
import type { WireCodec } from "../../../../../src/wire/WireCodec.ts"
import { testGuard } from "../../../../support/PersonalData.ts"

const email = "john.doe@example.com"

/** A client that writes down what it gets. */
const makeClient = () => {
  const leaving = new Listeners()
  const got = { status: 0, headers: [] as ReadonlyArray<string>, text: "", writes: 0, over: "" as "" | "end" | "cut" }
  const state = { keepsUp: true, closed: false }
  const reply: ClientReply = {
    head: (status, headers) => {
      assert.strictEqual(got.status, 0, "a second head")
      got.status = status
      got.headers = headers
    },
    write: (chunk) => {
      assert.notStrictEqual(got.status, 0, "bytes before the head")
      got.text += chunk.toString()
      got.writes += 1
      return state.keepsUp
    },
    end: (chunk) => {
      assert.notStrictEqual(got.status, 0, "an end before the head")
      got.text += chunk.toString()
      got.over = "end"
    },
    cut: () => {
      got.over = "cut"
    },
    onDrain: () => () => {},
    onClose: (listener) => leaving.add(listener),
    isClosed: () => state.closed
  }
  return { reply, got, state, leave: () => leaving.tell() }
}

interface Setup {
  readonly mode?: TextMode
  readonly codec?: WireCodec
  readonly isStream?: boolean
  readonly mayCall?: AnswerGuard["mayCall"]
}

const setUp = ({ codec = codecs.chat, isStream = true, mayCall = null, mode = "redact" }: Setup = {}) => {
  const client = makeClient()
  const decisions: Array<string> = []
  const guard: AnswerGuard = {
    texts: { guard: testGuard, mode },
    mayCall,
    structured: { check: false, repair: false },
    later: setImmediate,
    header: ({ found }) => (found === 0 ? null : `pii=${mode}:${found}`),
    decided: (detector, action) => void decisions.push(`${detector} ${action}`)
  }
  const exchange = { codec, wire: codec.name, requestId: "r", reply: client.reply } as unknown as Exchange
  const watch = watchAnswer(guard)
  return {
    ...client,
    decisions,
    watch,
    guarded: new GuardedReply({ envelope: { stream: isStream }, exchange, trail: new Trail() }, guard, watch)
  }
}

const chunk = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`
const callChunk = (name: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name, arguments: "" } }] } }] })}\n\n`
const done = "data: [DONE]\n\n"
const headers = (): Array<string> => ["Content-Type", "text/event-stream"]

describe("a watched stream", () => {
  it("holds back the word that may go on, and nothing else", () => {
    const { got, guarded } = setUp()
    guarded.reply.head(200, headers())
    guarded.reply.write(chunk("Hello wor"))
    assert.strictEqual(got.text, "")
    guarded.reply.write(chunk("ld. "))
    assert.strictEqual(got.text, chunk("Hello wor") + chunk("ld. "))
    guarded.reply.write(chunk(`To john.doe@`))
    guarded.reply.write(chunk("example.com, "))
    assert.include(got.text, "To [EMAIL_REDACTED]")
    guarded.reply.end(chunk("bye", "stop") + done)
    assert.notInclude(got.text, "example.com")
    assert.strictEqual(got.over, "end")
    assert.isTrue(got.text.endsWith(done))
  })

  it("tells that the client reads slowly, and that it has left", () => {
    const { guarded, leave, state } = setUp()
    let left = 0
    guarded.reply.onClose(() => (left += 1))
    guarded.reply.head(200, headers())
    state.keepsUp = false
    assert.isTrue(guarded.reply.write(chunk("wor")), "nothing was written")
    assert.isFalse(guarded.reply.write(chunk("ld. ")))
    leave()
    assert.strictEqual(left, 1)
  })

  it("keeps little of an answer however long it is", () => {
    const { got, guarded } = setUp()
    guarded.reply.head(200, headers())
    let sent = ""
    for (let at = 0; at < 5_000; at += 1) {
      // One word without an end.
      const piece = chunk("abcdefgh")
      sent += piece
      guarded.reply.write(piece)
    }
    // The longest finding has 100 characters.
    assert.isAbove(got.text.length, sent.length - 20 * chunk("abcdefgh").length)
    guarded.reply.end(done)
    assert.strictEqual(got.text, sent + done)
  })

  it("sends the head at once, with what was found in the request", () => {
    const { got, guarded } = setUp()
    guarded.reply.head(200, headers())
    assert.strictEqual(got.status, 200)
  })

  it("only counts in warn", () => {
    const { decisions, got, guarded } = setUp({ mode: "warn" })
    guarded.reply.head(200, headers())
    guarded.reply.write(chunk("john.doe@"))
    assert.strictEqual(got.text, chunk("john.doe@"))
    guarded.reply.end(chunk("example.com", "stop") + done)
    assert.strictEqual(got.text, chunk("john.doe@") + chunk("example.com", "stop") + done)
    assert.deepStrictEqual(decisions, ["email warn"])
  })

  it("refuses with a status what is found before anything was sent", () => {
    const { decisions, got, guarded } = setUp({ mode: "block" })
    let left = 0
    guarded.reply.onClose(() => (left += 1))
    guarded.reply.head(200, headers())
    guarded.reply.write(chunk(""))
    guarded.reply.write(chunk("john.doe@"))
    assert.strictEqual(got.status, 0)
    guarded.reply.write(chunk("example.com is"))
    assert.strictEqual(left, 1)
    assert.isTrue(guarded.reply.isClosed())
    assert.instanceOf(Effect.runSync(guarded.concludeWith("")), GuardrailBlocked)
    assert.isFalse(guarded.hasHead())
    assert.deepStrictEqual(decisions, ["email block"])
  })

  it("ends with an error event what is found later, also when no call of the request answers", () => {
    const { got, guarded } = setUp({ mode: "block" })
    guarded.reply.head(200, headers())
    guarded.reply.write(chunk("First a sentence. "))
    assert.strictEqual(got.text, chunk("First a sentence. "))
    guarded.reply.end(chunk(`Then ${email} `) + done)
    assert.strictEqual(got.over, "end")
    assert.include(got.text, "SECURITY_002")
    assert.notInclude(got.text, "example.com")
    assert.notInclude(got.text, "[DONE]")
  })

  it("refuses what cannot be looked at in block, and lets it pass with a mark elsewhere", () => {
    const torn = (mode: TextMode) => {
      const { decisions, got, guarded } = setUp({ mode })
      guarded.reply.head(200, headers())
      guarded.reply.write(`data: {"a":"${"x".repeat(70 * 1_048_576)}`)
      guarded.reply.end('"}\n\n')
      return { decisions, got }
    }
    const open = torn("redact")
    assert.deepStrictEqual([...new Set(open.decisions)], ["answer unread"])
    assert.isAbove(open.got.text.length, 70 * 1_048_576)
    const closed = torn("block")
    assert.strictEqual(closed.got.status, 400)
    assert.include(closed.got.text, "SECURITY_002")
  })

  it("does not pass on a call of a tool that may not be called", () => {
    const mayCall = (name: string): boolean => name === "look"
    const { decisions, got, guarded, watch } = setUp({ mayCall })
    guarded.reply.head(200, headers())
    guarded.reply.write(callChunk("look"))
    assert.strictEqual(got.text, callChunk("look"))
    guarded.reply.write(callChunk("delete_all"))
    assert.isTrue(guarded.reply.isClosed())
    assert.strictEqual(watch.blocked()?.code, "SECURITY_002")
    assert.notInclude(got.text, "delete_all")
    assert.deepStrictEqual(decisions, ["tool-policy block"])
  })

  it("an array that is blocked is still an array", () => {
    const element = (text: string) =>
      JSON.stringify({ candidates: [{ index: 0, content: { parts: [{ text }], role: "model" } }] })
    const { got, guarded } = setUp({ mode: "block", codec: geminiArray })
    guarded.reply.head(200, ["Content-Type", "application/json"])
    guarded.reply.write(`[${element("A sentence. ")}`)
    guarded.reply.end(`,\n${element(`${email} `)}\n]`)
    const parsed = JSON.parse(got.text)
    assert.strictEqual(parsed.length, 2)
    assert.include(JSON.stringify(parsed[1].error), "personal data")
  })

  it("passes an error answer as it is", () => {
    const { got, guarded } = setUp({ mode: "block" })
    guarded.reply.head(502, ["Content-Type", "application/json"])
    guarded.reply.end(`{"error":{"message":"${email}"}}`)
    assert.strictEqual(got.status, 502)
    assert.include(got.text, email)
  })

  it("cuts when it is told to, without what was held back", () => {
    const { got, guarded } = setUp()
    guarded.reply.head(200, headers())
    guarded.reply.write(chunk("Hello john.doe@"))
    guarded.reply.cut()
    assert.strictEqual(got.over, "cut")
    assert.strictEqual(got.text, "")
  })
})

describe("an answer that another request was given, too", () => {
  it("is refused with a row of its own where it is blocked on its way", () => {
    const { got, reply } = makeClient()
    const exchange = { codec: codecs.chat, wire: "chat", requestId: "r", reply } as unknown as Exchange
    const asked = { envelope: { stream: true }, exchange, trail: new Trail() } as unknown as Work
    const guard: AnswerGuard = {
      texts: { guard: testGuard, mode: "block" },
      mayCall: null,
      structured: { check: false, repair: false },
      later: setImmediate,
      header: () => null,
      decided: () => {}
    }
    const { conclude, work } = guardAnswer(asked, guard)
    let left = 0
    work.exchange.reply.onClose(() => (left += 1))
    work.exchange.reply.head(200, headers())
    work.exchange.reply.write(chunk(`${email} `))
    assert.strictEqual(left, 1)
    const ending = { outcome: "aborted", status: 499, error: "client_left" } as const
    const kept = { requestedModel: "m", provider: null, model: "m", ending }
    const given = (): void => void work.exchange.reply.end(chunk("more"))
    const { instead } = Effect.runSync(
      conclude({ work, end: { _tag: "Kept", kept, rest: null, answer: given }, others: [] })
    )
    assert.deepStrictEqual(instead?.ending, { outcome: "failed", status: 400, error: "SECURITY_002" })
    given()
    assert.strictEqual(got.text, "")
    instead?.answer()
    instead?.answer()
    assert.strictEqual(got.status, 400)
    assert.include(got.text, "SECURITY_002")
    assert.strictEqual(got.over, "end")
  })
})

describe("an answer of which the rest is known before it is settled", () => {
  it("goes out as it was looked at, and those further in hear it as it came", () => {
    const { got, guarded } = setUp()
    guarded.reply.head(200, headers())
    guarded.reply.write(chunk("Write to john.d"))
    const last = chunk("oe@example.com", "stop") + done
    assert.isNull(Effect.runSync(guarded.concludeWith(last)))
    assert.strictEqual(got.text, "")
    guarded.reply.end(last)
    assert.include(got.text, "Write to [EMAIL_REDACTED]")
    assert.strictEqual(got.text.split("Write to").length, 2)
    assert.isTrue(got.text.endsWith(done))
  })

  it("of a kept answer is all of it, however it is written then", () => {
    const { got, guarded } = setUp({ isStream: false })
    const whole = JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: `to ${email}` } }] })
    assert.isTrue(guarded.isUntouched())
    assert.isNull(Effect.runSync(guarded.concludeWith(whole)))
    guarded.reply.head(200, ["Content-Type", "application/json", "Content-Length", String(whole.length)])
    assert.strictEqual(got.status, 0)
    guarded.reply.write(whole.slice(0, 20))
    guarded.reply.end(whole.slice(20))
    assert.strictEqual(got.text, whole.replace(email, "[EMAIL_REDACTED]"))
    assert.strictEqual(got.headers[3], String(got.text.length))
    assert.deepStrictEqual(got.headers.slice(4), ["X-Gateway-Guardrail", "pii=redact:1"])
  })
})

describe("a watched whole answer", () => {
  const body = (content: string): string =>
    JSON.stringify({ id: "c", choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }] })

  it("has the length of what goes out, and the count in its head", () => {
    const { got, guarded } = setUp({ isStream: false })
    guarded.reply.head(200, ["Content-Type", "application/json", "Content-Length", String(body(`to ${email}`).length)])
    guarded.reply.end(body(`to ${email}`))
    assert.strictEqual(got.text, body("to [EMAIL_REDACTED]"))
    assert.strictEqual(got.headers[3], String(Buffer.byteLength(got.text)))
    assert.deepStrictEqual(got.headers.slice(4), ["X-Gateway-Guardrail", "pii=redact:1"])
  })

  it("is 400 where it is blocked", () => {
    const { got, guarded } = setUp({ isStream: false, mode: "block" })
    guarded.reply.head(200, ["Content-Type", "application/json"])
    guarded.reply.end(body(`to ${email}`))
    assert.strictEqual(got.status, 400)
    assert.strictEqual(JSON.parse(got.text).error.code, "SECURITY_002")
    assert.notInclude(got.text, "example.com")
  })

  it("is the same bytes where nothing is found", () => {
    const spaced = `{ "id":"c",  "choices":[ {"index":0,"message":{"content":"caf\\u00e9 1.50"},"n":1.50} ] }`
    const { got, guarded } = setUp({ isStream: false })
    guarded.reply.head(200, ["Content-Type", "application/json"])
    guarded.reply.end(spaced)
    assert.strictEqual(got.text, spaced)
    assert.deepStrictEqual(got.headers, ["Content-Type", "application/json"])
  })

  it("passes what is no JSON with a mark, and refuses it in block", () => {
    const open = setUp({ isStream: false })
    open.guarded.reply.head(200, ["Content-Type", "application/json"])
    open.guarded.reply.end("<html>")
    assert.strictEqual(open.got.text, "<html>")
    assert.deepStrictEqual(open.decisions, ["answer unread"])
    const closed = setUp({ isStream: false, mode: "block" })
    closed.guarded.reply.head(200, ["Content-Type", "application/json"])
    closed.guarded.reply.end("<html>")
    assert.strictEqual(closed.got.status, 400)
  })
})
