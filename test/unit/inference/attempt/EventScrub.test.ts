import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { eventScrub } from "../../../../src/plane/attempt/EventScrub.ts"
import type { Framing } from "../../../../src/plane/reply/Frames.ts"
import { sentSecrets } from "../../../../src/kernel/secrets/SentSecrets.ts"

const secret = "sk-proj-9fQ2xY7Zk0bLm3"
const secrets = sentSecrets([secret])

interface Form {
  readonly framing: Framing
  readonly member: string
  /** One event that says a piece of an answer. */
  readonly event: (text: string, number: number) => string
  readonly textOf: (event: string) => string
  readonly end: string
}

const sse = (value: unknown, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`

// eslint-disable-next-line typescript/no-explicit-any -- events of several wires
const dataOf = (event: string): any => {
  const json = event.slice(event.indexOf("{"))
  return json.startsWith("{") ? JSON.parse(json) : {}
}

const forms: Readonly<Record<string, Form>> = {
  chat: {
    framing: "events",
    member: "content",
    event: (content) => sse({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
    textOf: (event) => dataOf(event).choices?.[0]?.delta?.content ?? "",
    end: "data: [DONE]\n\n"
  },
  "chat, reasoning": {
    framing: "events",
    member: "content",
    event: (text) => sse({ id: "c", choices: [{ index: 0, delta: { content: "", reasoning_content: text } }] }),
    textOf: (event) => dataOf(event).choices?.[0]?.delta?.reasoning_content ?? "",
    end: "data: [DONE]\n\n"
  },
  "chat, arguments of a call": {
    framing: "events",
    member: "content",
    event: (text) =>
      sse({ choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: text } }] } }] }),
    textOf: (event) => dataOf(event).choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments ?? "",
    end: "data: [DONE]\n\n"
  },
  messages: {
    framing: "events",
    member: "text",
    event: (text) =>
      sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }, "content_block_delta"),
    textOf: (event) => dataOf(event).delta?.text ?? "",
    end: sse({ type: "message_stop" }, "message_stop")
  },
  responses: {
    framing: "events",
    member: "",
    event: (delta, number) =>
      sse({ type: "response.output_text.delta", item_id: "m", output_index: 0, delta, sequence_number: number }),
    textOf: (event) => dataOf(event).delta ?? "",
    end: sse({ type: "response.completed", response: {} })
  },
  gemini: {
    framing: "events",
    member: "",
    event: (text) => sse({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }] }),
    textOf: (event) => dataOf(event).candidates?.[0]?.content?.parts?.[0]?.text ?? "",
    end: sse({ candidates: [{ index: 0, finishReason: "STOP" }] })
  },
  ollama: {
    framing: "lines",
    member: "",
    event: (content) => `${JSON.stringify({ model: "m", message: { role: "assistant", content }, done: false })}\n`,
    textOf: (event) => dataOf(event).message?.content ?? "",
    end: `${JSON.stringify({ model: "m", done: true })}\n`
  }
}

const eventsIn = (text: string, framing: Framing): ReadonlyArray<string> =>
  text.split(framing === "lines" ? "\n" : "\n\n").filter((event) => event !== "")

/** What the client has after each chunk. */
const relay = ({ end, framing, member }: Form, chunks: ReadonlyArray<string>): ReadonlyArray<string> => {
  const scrub = eventScrub(secrets, framing, member)
  assert.isNotNull(scrub)
  return [...[...chunks, end].map((chunk) => scrub.push(Buffer.from(chunk)).toString()), scrub.end().toString()]
}

const saidBy = (form: Form, chunks: ReadonlyArray<string>): string =>
  eventsIn(relay(form, chunks).join(""), form.framing).map(form.textOf).join("")

const pieces = (text: string, size: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size))

describe("a credential that is spread over the events of a stream", () => {
  for (const [name, form] of Object.entries(forms)) {
    for (const size of [1, 2, 3, 7, 21]) {
      it(`${name}: pieces of ${size}`, () => {
        for (const written of [secret, Buffer.from(`x${secret}`).toString("base64")]) {
          const said = saidBy(form, pieces(`Your key is ${written} indeed.`, size).map(form.event))
          assert.include(said, "[redacted]")
          assert.match(said, /^Your key is .{0,8}\[redacted\].{0,3} indeed\.$/)
        }
      })
    }

    it(`${name}: every other stream goes on as it came, event for event`, () => {
      const words = [
        "Hello",
        " wor",
        "ld sk",
        "-pro",
        "spect",
        " s",
        "k-proj",
        "ection",
        '"',
        "\\ ",
        "sk",
        "\n",
        " end"
      ]
      const chunks = words.map(form.event)
      const got = relay(form, chunks)
      assert.strictEqual(got.join(""), [...chunks, form.end].join(""))
      // Only what begins as the credential does waits, for one event.
      assert.deepStrictEqual(
        got.map((text) => eventsIn(text, form.framing).length).slice(0, 8),
        [1, 1, 1, 0, 2, 1, 0, 2]
      )
    })
  }

  it("is found beside another choice that speaks in between", () => {
    const event = (index: number, content: string) => sse({ choices: [{ index, delta: { content } }] })
    const chunks = pieces(secret, 4).flatMap((piece) => [event(0, piece), event(1, "and on ")])
    const chat = forms["chat"]
    assert.isDefined(chat)
    const events = eventsIn(relay(chat, chunks).join(""), "events")
    const of = (index: number) =>
      events
        .map(
          (each) =>
            dataOf(each).choices?.find((choice: { index: number }) => choice.index === index)?.delta.content ?? ""
        )
        .join("")
    assert.strictEqual(of(0), `${secret.slice(0, 4)}[redacted]`)
    assert.strictEqual(of(1), "and on ".repeat(pieces(secret, 4).length))
  })

  it("is taken out where it was cut", () => {
    const chat = forms["chat"]
    assert.isDefined(chat)
    assert.strictEqual(saidBy(chat, pieces(secret.slice(0, -1), 5).map(chat.event)), `${secret.slice(0, 5)}[redacted]`)
    assert.strictEqual(saidBy(chat, pieces(secret.slice(0, 8), 5).map(chat.event)), secret.slice(0, 8))
  })

  it("is found however the bytes are cut", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.constantFrom(...Object.values(forms)),
        FastCheck.array(
          FastCheck.oneof(FastCheck.string({ minLength: 1 }), FastCheck.constantFrom(...pieces(secret, 5))),
          {
            maxLength: 20
          }
        ),
        FastCheck.nat({ max: 60 }),
        (form, texts, size) => {
          const plain = texts.join("")
          const bytes = texts.map(form.event).join("") + form.end
          const scrub = eventScrub(secrets, form.framing, form.member)
          assert.isNotNull(scrub)
          const out = pieces(bytes, size + 1).map((piece) => scrub.push(Buffer.from(piece)))
          const got = Buffer.concat([...out, scrub.end()]).toString()
          const said = eventsIn(got, form.framing).map(form.textOf).join("")
          assert.notInclude(said, secret)
          if (!plain.includes(secret.slice(0, 12))) assert.strictEqual(got, bytes)
        }
      ),
      { numRuns: 300, seed: 11 }
    )
  })
})
