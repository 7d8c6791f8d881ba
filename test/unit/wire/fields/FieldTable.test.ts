import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { WireName } from "../../../../src/domain/Wire.ts"
import { chat } from "../../../../src/wire/chat/Codec.ts"
import { translateRequest } from "../../../../src/wire/Codec.ts"
import { answerFields } from "../../../../src/wire/fields/AnswerFields.ts"
import { cellOf, type Fate, type FieldRow } from "../../../../src/wire/fields/FieldTable.ts"
import { renderFieldTable, tabledWires } from "../../../../src/wire/fields/Render.ts"
import { requestFields } from "../../../../src/wire/fields/RequestFields.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { messages } from "../../../../src/wire/messages/Codec.ts"
import { ollama } from "../../../../src/wire/ollama/Codec.ts"
import { chatBody, context, messagesBody } from "../support.ts"
import { ollamaBody } from "../ollama/support.ts"
import { type AnswerExample, answerExamples } from "./answers.ts"
import { type RequestExample, requestExamples } from "./requests.ts"

type Wire = (typeof tabledWires)[number]

const codecs = { chat, messages, ollama }
const bodies = { chat: chatBody, messages: messagesBody, ollama: ollamaBody }

const rows: ReadonlyArray<FieldRow> = [...requestFields, ...answerFields]
const pairs = tabledWires.flatMap((source) =>
  tabledWires.flatMap((target) => (source === target ? [] : [{ source, target }]))
)

const same = (first: unknown, last: unknown): boolean => JSON.stringify(first) === JSON.stringify(last)

interface Observed {
  readonly fate: Fate
  readonly named: ReadonlyArray<string>
}

/** What really becomes of a request that says one thing. */
const observeRequest = (source: Wire, target: Wire, more: JsonObject, read: RequestExample["read"]): Observed => {
  const body = bodies[source](more)
  const first = Either.getOrThrow(codecs[source].decodeRequest(body))
  const options = { model: "up", stream: first.stream, maxOutputTokens: 64_000, reasoning: null }
  const result = translateRequest(codecs[source], codecs[target], body, options)
  if (Either.isLeft(result)) return { fate: "rejected", named: [result.left.param ?? ""] }
  const { body: sent, dropped, mapped } = result.right
  if (dropped.length > 0) return { fate: "dropped", named: dropped }
  const last = Either.getOrThrow(codecs[target].decodeRequest(sent))
  return { fate: mapped.length === 0 && same(read(first), read(last)) ? "exact" : "mapped", named: [] }
}

const isNothing = (value: unknown): boolean => !value || (Array.isArray(value) && value.length === 0)

/** What really becomes of an answer that says one thing. */
const observeAnswer = (source: Wire, target: Wire, body: JsonObject, read: AnswerExample["read"]): Fate => {
  const first = Either.getOrThrow(codecs[source].decodeResponse(body))
  const last = Either.getOrThrow(codecs[target].decodeResponse(codecs[target].encodeResponse(first, { ...context })))
  if (same(read(first), read(last))) return "exact"
  return isNothing(read(last)) ? "dropped" : "mapped"
}

describe("the field table", () => {
  it("has one row per thing, and a cell wherever a wire can say it", () => {
    for (const table of [requestFields, answerFields]) {
      assert.strictEqual(new Set(table.map(({ id }) => id)).size, table.length)
    }
    for (const row of rows) {
      for (const { source, target } of pairs) {
        if (row.fields[source] !== undefined)
          assert.isNotNull(cellOf(row, source, target), `${row.id} ${source}>${target}`)
      }
    }
  })

  it("is true of requests, and names what is dropped as the client does", () => {
    for (const row of requestFields) {
      const { read, ...examples } = requestExamples[row.id]
      assert.sameMembers(Object.keys(examples), Object.keys(row.fields), row.id)
      for (const { source, target } of pairs) {
        const cell = cellOf(row, source, target)
        const example = examples[source]
        if (cell === null || example === undefined) continue
        const observed = observeRequest(source, target, example, read)
        const fields: Partial<Record<WireName, string>> = row.fields
        const named = observed.named.length === 0 ? [] : [fields[source]]
        assert.deepEqual(
          [row.id, source, target, observed.fate, ...observed.named],
          [row.id, source, target, cell.fate, ...named]
        )
      }
    }
  })

  it("is true of answers", () => {
    for (const row of answerFields) {
      const { read, ...examples } = answerExamples[row.id]
      assert.sameMembers(Object.keys(examples), Object.keys(row.fields), row.id)
      for (const { source, target } of pairs) {
        const cell = cellOf(row, source, target)
        const example = examples[source]
        if (cell === null || example === undefined) continue
        assert.deepEqual(
          [row.id, source, target, observeAnswer(source, target, example, read)],
          [row.id, source, target, cell.fate]
        )
      }
    }
  })

  it("renders as a page whose tables are whole", () => {
    const page = renderFieldTable()
    for (const wire of tabledWires) assert.include(page, `### To ${wire} (`)
    assert.notMatch(page, /undefined|null/)
    const widths = page.split("\n").flatMap((line) => (line.startsWith("|") ? line.split(" | ").length : []))
    assert.deepEqual([...new Set(widths)], [tabledWires.length + 1])
    assert.isTrue(page.endsWith("|\n"))
  })
})
