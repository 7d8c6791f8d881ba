/** Personal data in an answer is found wherever the answer is split, in all wires; an answer without it is the same bytes. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { AnswerPart } from "../../../../src/wire/canonical/Response.ts"
import { personalData, placeholderOf, testGuard as guard } from "../../../support/PersonalData.ts"
import { counted } from "../../../support/slowRun.ts"
import { argsOf, bySingleCharacters, clients, filtered, partsOf, streamOf, textOf, twice, whole } from "./support.ts"

const email = "john.doe@example.com"
const card = "4111 1111 1111 1111"
const parts: ReadonlyArray<AnswerPart> = [
  { type: "reasoning", text: `He is ${email}; naïve 🚀 thought.` },
  { type: "text", text: `Write to ${email}, card ${card} — “done” 日本語.` },
  {
    type: "tool_call",
    id: "t1",
    name: "send",
    kind: "function",
    args: JSON.stringify({ to: [email], note: `say "hi"\n to ${email}\u2028`, n: 4111111111111111, é: `${card}` })
  }
]
const cleanParts: ReadonlyArray<AnswerPart> = [
  { type: "reasoning", text: "He is 4111 1111 1111 tall; naïve 🚀 thought @home." },
  { type: "text", text: "Write to john.doe@ example.com — “done” 日本語 4111 1111 1111 111" },
  {
    type: "tool_call",
    id: "t1",
    name: "send",
    kind: "function",
    args: '{ "to" :["a@b"],"n": 1.50, "s":"\\u00e9\\"\\\\"}'
  }
]

const check = (name: string, text: string, label: string): void => {
  const codec = clients[name]
  assert(codec !== undefined)
  // Escapes of JSON are no hiding place.
  assert.notInclude(text, "example.com", label)
  assert.notInclude(text, "1111 1111", label)
  if (name === "geminiArray") return void JSON.parse(text)
  const got = partsOf(codec, text)
  assert.strictEqual(textOf(got, "reasoning"), "He is [EMAIL_REDACTED]; naïve 🚀 thought.", label)
  assert.strictEqual(
    textOf(got, "text"),
    "Write to [EMAIL_REDACTED], card [CREDIT_CARD_REDACTED] — “done” 日本語.",
    label
  )
  assert.deepStrictEqual(
    argsOf(got),
    [
      {
        to: ["[EMAIL_REDACTED]"],
        note: 'say "hi"\n to [EMAIL_REDACTED]\u2028',
        n: 4111111111111111,
        é: "[CREDIT_CARD_REDACTED]"
      }
    ],
    label
  )
}

describe("personal data in a split stream", () => {
  for (const [name, codec] of Object.entries(clients)) {
    it(`${name}: is found wherever the bytes are cut`, () => {
      const bytes = Buffer.from(streamOf(codec, parts))
      for (let at = 1; at < bytes.length; at += 1) {
        const { text } = filtered(codec, guard, [bytes.subarray(0, at), bytes.subarray(at)])
        check(name, text, `cut at ${at}`)
      }
    })

    it(`${name}: is found wherever the events are split`, () => {
      const longest = Math.max(
        ...parts.map((part) => ("text" in part ? part.text.length : "args" in part ? part.args.length : 0))
      )
      for (let at = 1; at < longest; at += 1) {
        const { found, text } = filtered(codec, guard, [streamOf(codec, parts, twice(at))])
        check(name, text, `split at ${at}`)
        assert.strictEqual(found.length, 6, `split at ${at}`)
      }
      check(name, filtered(codec, guard, [streamOf(codec, parts, bySingleCharacters)]).text, "single characters")
    })

    it(`${name}: an answer without any is the same bytes`, () => {
      for (const split of [whole, bySingleCharacters, twice(7)]) {
        const stream = streamOf(codec, cleanParts, split)
        const bytes = Buffer.from(stream)
        const cuts = Array.from({ length: Math.ceil(bytes.length / 3) }, (_, index) =>
          bytes.subarray(index * 3, index * 3 + 3)
        )
        assert.strictEqual(filtered(codec, guard, [stream]).text, stream)
        assert.strictEqual(filtered(codec, guard, cuts).text, stream)
      }
    })

    it(`${name}: any text, split anywhere, becomes what its whole becomes`, () => {
      const word = fc.constantFrom(
        email,
        card,
        "and",
        "to",
        "4111",
        " ",
        "\n",
        '"',
        "\\",
        "é",
        "🚀",
        "a@b",
        "@",
        ".com",
        "-"
      )
      const texts = fc.array(word, { maxLength: 12 }).map((words) => words.join(""))
      fc.assert(
        fc.property(texts, fc.array(fc.nat(60), { maxLength: 6 }), (text, cuts) => {
          const split = (source: string): ReadonlyArray<string> => {
            const at = [...new Set(cuts)].filter((cut) => cut > 0 && cut < source.length).toSorted((a, b) => a - b)
            return [0, ...at].map((from, index) => source.slice(from, at[index] ?? source.length))
          }
          const source: ReadonlyArray<AnswerPart> = [{ type: "text", text: `x ${text}` }]
          const expected = `x ${text}`.replaceAll(personalData, placeholderOf)
          const { text: got } = filtered(codec, guard, [streamOf(codec, source, split)])
          if (name !== "geminiArray") assert.strictEqual(textOf(partsOf(codec, got), "text"), expected)
        }),
        { numRuns: counted(25, 100) }
      )
    })
  }
})
