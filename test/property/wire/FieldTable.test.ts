/** The round trip over another wire, driven by the published table: what it calls exact or mapped is not lost on the way. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FC from "effect/FastCheck"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { Conversation } from "../../../src/wire/canonical/Conversation.ts"
import { codecs, encodeAnswer, translateRequest } from "../../../src/wire/Codec.ts"
import { answerFields } from "../../../src/wire/fields/AnswerFields.ts"
import { cellOf, type FieldRow } from "../../../src/wire/fields/FieldTable.ts"
import { requestFields, type RequestFieldId } from "../../../src/wire/fields/RequestFields.ts"
import { settingFields } from "../../../src/wire/fields/SettingFields.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { answerExamples } from "../../unit/wire/fields/answers.ts"
import { answersOf, bodies, pairs, requestsOf } from "../../unit/wire/fields/examples.ts"
import { requestExamples } from "../../unit/wire/fields/requests.ts"
import { context } from "../../unit/wire/support.ts"

const run = { seed: 20_261_121, numRuns: 40 }

type Pair = (typeof pairs)[number]

/** The request in the words of the target, as that wire's edge would hand it on. */
const carry = (source: WireName, target: WireName, body: JsonObject): JsonObject => {
  const { stream } = Either.getOrThrow(codecs[source].decodeRequest(body))
  const options = { model: "up", stream, maxOutputTokens: 64_000, reasoning: null }
  const { body: carried } = Either.getOrThrow(translateRequest(codecs[source], codecs[target], body, options))
  return { ...carried, model: "up", stream }
}

const decode = (wire: WireName, body: JsonObject): Conversation => Either.getOrThrow(codecs[wire].decodeRequest(body))

/**
 * What must hold of the way there and back, by the table's own words for both ways. Null where it says that one of them loses
 * the field. `identity`: what comes back is what was sent. `fixed`: what comes back once comes back again.
 */
const lawOf = (row: FieldRow, { source, target }: Pair): "identity" | "fixed" | null => {
  const there = cellOf(row, source, target)?.fate
  if (there !== "exact" && there !== "mapped") return null
  // A field the target cannot say arrives as something else, which is the target's own then.
  const back = cellOf(row, target, source)?.fate ?? "mapped"
  if (back !== "exact" && back !== "mapped") return null
  return there === "exact" && back === "exact" ? "identity" : "fixed"
}

/**
 * Reasoning that the request does not mention is shown on one wire and not on the other: neither is wrong. A system message that became words
 * of the user stays so, and is joined with the user's own where a wire knows one text only.
 */
const drifting: ReadonlySet<string> = new Set(["reasoningShown", "systemBetween"])

const assertKept = (row: FieldRow<RequestFieldId>, pair: Pair, body: JsonObject): void => {
  const { source, target } = pair
  const { read } = requestExamples[row.id]
  const round = (sent: JsonObject): JsonObject => carry(target, source, carry(source, target, sent))
  const back = round(body)
  const expected = lawOf(row, pair) === "identity" ? body : round(back)
  assert.deepEqual(
    read(decode(source, back)),
    read(decode(source, expected)),
    `${row.id} ${source}>${target}>${source}`
  )
}

/** Settings that stand at the top of a body or in one object of settings, and do not bear on one another. */
const bearing = /^(?:reasoning|temperature|stopM|maxOutput|candidates|stream$|top|logprobs)/
const free = settingFields.filter(({ id }) => !bearing.test(id))

const isPlain = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Both, or null when they say different things in one place. */
const merge = (first: JsonObject, second: JsonObject): JsonObject | null => {
  const merged: Record<string, JsonObject[string]> = { ...first }
  for (const [key, value] of Object.entries(second)) {
    const known = merged[key]
    if (known === undefined) merged[key] = value
    else if (isPlain(known) && isPlain(value)) {
      const inner = merge(known, value)
      if (inner === null) return null
      merged[key] = inner
    } else if (JSON.stringify(known) !== JSON.stringify(value)) return null
  }
  return merged
}

describe("fields of requests over another wire and back", () => {
  it("each alone: what the table calls exact or mapped is kept, for all pairs", () => {
    let held = 0
    for (const row of requestFields) {
      for (const pair of pairs) {
        const example = requestsOf(row.id)[pair.source]
        if (example === undefined || lawOf(row, pair) === null || drifting.has(row.id)) continue
        assertKept(row, pair, bodies[pair.source](example))
        held += 1
      }
    }
    assert.isAbove(held, 400)
  })

  for (const pair of pairs) {
    it(`many together: ${pair.source} over ${pair.target}`, () => {
      const said = requestFields.filter((row) => !free.some(({ id }) => id === row.id) && !bearing.test(row.id))
      const sayable = (row: FieldRow<RequestFieldId>) =>
        requestsOf(row.id)[pair.source] !== undefined && lawOf(row, pair) !== null && row.id !== "systemBetween"
      FC.assert(
        FC.property(
          FC.option(FC.constantFrom(...said.filter(sayable))),
          FC.subarray(free.filter(sayable), { minLength: 1 }),
          (speech, settings) => {
            let body = speech === null ? {} : (requestsOf(speech.id)[pair.source] ?? {})
            const rows: Array<FieldRow<RequestFieldId>> = speech === null ? [] : [speech]
            for (const row of settings) {
              const merged = merge(body, requestsOf(row.id)[pair.source] ?? {})
              if (merged === null) continue
              body = merged
              rows.push(row)
            }
            // One member holds both: the fate of the schema is the weaker one.
            const hasSchema = rows.some(({ id }) => id === "jsonSchema")
            for (const row of rows.filter(({ id }) => !hasSchema || id !== "jsonAny"))
              assertKept(row, pair, bodies[pair.source](body))
          }
        ),
        run
      )
    })
  }
})

describe("fields of answers over another wire and back", () => {
  it("what the table calls exact or mapped is kept, for all pairs", () => {
    const carryAnswer = (source: WireName, target: WireName, body: JsonObject): JsonObject =>
      encodeAnswer(codecs[target], Either.getOrThrow(codecs[source].decodeResponse(body)), context)
    let held = 0
    for (const row of answerFields) {
      const { read } = answerExamples[row.id]
      for (const pair of pairs) {
        const { source, target } = pair
        const body = answersOf(row.id)[source]
        if (body === undefined || lawOf(row, pair) === null) continue
        const decodeAnswer = (answer: JsonObject) => read(Either.getOrThrow(codecs[source].decodeResponse(answer)))
        const round = (sent: JsonObject): JsonObject => carryAnswer(target, source, carryAnswer(source, target, sent))
        const back = round(body)
        const expected = lawOf(row, pair) === "identity" ? body : round(back)
        assert.deepEqual(decodeAnswer(back), decodeAnswer(expected), `${row.id} ${source}>${target}>${source}`)
        held += 1
      }
    }
    assert.isAbove(held, 200)
  })
})
