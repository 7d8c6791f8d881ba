import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import { codecs, translateRequest } from "../../../../src/wire/Codec.ts"
import { answerFields } from "../../../../src/wire/fields/AnswerFields.ts"
import { cellOf, type Fate, type FieldRow } from "../../../../src/wire/fields/FieldTable.ts"
import { renderFieldTable, tabledWires } from "../../../../src/wire/fields/Render.ts"
import { requestFields } from "../../../../src/wire/fields/RequestFields.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { context } from "../support.ts"
import { answersOf, bodies, pairs, requestsOf } from "./examples.ts"
import { type AnswerExample, answerExamples } from "./answers.ts"
import { type RequestExample, requestExamples } from "./requests.ts"

const rows: ReadonlyArray<FieldRow> = [...requestFields, ...answerFields]

const same = (first: unknown, last: unknown): boolean => JSON.stringify(first) === JSON.stringify(last)

interface Observed {
  readonly fate: Fate
  readonly named: ReadonlyArray<string>
}

/** What really becomes of a request that says one thing. */
const observeRequest = (
  source: WireName,
  target: WireName,
  more: JsonObject,
  read: RequestExample["read"]
): Observed => {
  const body = bodies[source](more)
  const first = Either.getOrThrow(codecs[source].decodeRequest(body))
  const options = { model: "up", stream: first.stream, maxOutputTokens: 64_000, reasoning: null }
  const result = translateRequest(codecs[source], codecs[target], body, options)
  if (Either.isLeft(result)) return { fate: "rejected", named: [result.left.param ?? ""] }
  const { body: sent, dropped, mapped } = result.right
  if (dropped.length > 0) return { fate: "dropped", named: dropped }
  // The path names model and streaming on one of the wires.
  const arrived = { ...sent, model: options.model, stream: options.stream }
  const last = Either.getOrThrow(codecs[target].decodeRequest(arrived))
  return { fate: mapped.length === 0 && same(read(first), read(last)) ? "exact" : "mapped", named: [] }
}

const isNothing = (value: unknown): boolean => !value || (Array.isArray(value) && value.length === 0)

/** What really becomes of an answer that says one thing. */
const observeAnswer = (source: WireName, target: WireName, body: JsonObject, read: AnswerExample["read"]): Fate => {
  const first = Either.getOrThrow(codecs[source].decodeResponse(body))
  const last = Either.getOrThrow(codecs[target].decodeResponse(codecs[target].encodeResponse(first, { ...context })))
  if (isNothing(read(last))) return "dropped"
  return same(read(first), read(last)) ? "exact" : "mapped"
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
    const wrong: Array<string> = []
    for (const row of requestFields) {
      const { read } = requestExamples[row.id]
      const examples = requestsOf(row.id)
      const fields: Partial<Record<WireName, string>> = row.fields
      assert.sameMembers(Object.keys(examples), Object.keys(fields), row.id)
      for (const { source, target } of pairs) {
        const cell = cellOf(row, source, target)
        const example = examples[source]
        if (cell === null || example === undefined) continue
        const observed = observeRequest(source, target, example, read)
        // What stands in a part that is dropped whole is named by the part.
        const named = observed.named.filter((name) => fields[source]?.startsWith(name) !== true)
        const told = `${row.id} ${source}>${target}: `
        if (observed.fate !== cell.fate)
          wrong.push(`${told}told ${cell.fate}, is ${observed.fate} ${observed.named.join()}`)
        else if (named.length > 0) wrong.push(`${told}told ${fields[source]}, named ${named.join()}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  it("is true of answers", () => {
    const wrong: Array<string> = []
    for (const row of answerFields) {
      const { read } = answerExamples[row.id]
      const examples = answersOf(row.id)
      assert.sameMembers(Object.keys(examples), Object.keys(row.fields), row.id)
      for (const { source, target } of pairs) {
        const cell = cellOf(row, source, target)
        const example = examples[source]
        if (cell === null || example === undefined) continue
        const fate = observeAnswer(source, target, example, read)
        if (fate !== cell.fate) wrong.push(`${row.id} ${source}>${target}: told ${cell.fate}, is ${fate}`)
      }
    }
    assert.deepEqual(wrong, [])
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
