/**
 * Usage rows of what an operator's tests of connections cost: they are asked past the request path, and providers bill them like any other call.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { isForSearchesOnly } from "../../contract/domain/Provider.ts"
import { nanoUsdPerUsd, noTokens, type TokenCounts, type UsageRow } from "../../contract/domain/Usage.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { AnsweredCall } from "../../plane/providers/ProviderCalls.ts"
import { sharedFacts, insert } from "../../store/usage/UsageInsert.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import { costOf } from "../../observe/usage/BookedCost.ts"
import { estimateTokens } from "../../observe/usage/Cost.ts"
import { PriceBook } from "../../observe/usage/PriceBook.ts"
import { codecs } from "../../wire/Codec.ts"
import { isObject, parseJson } from "../../wire/json/Json.ts"

export class OperatorSpending extends Context.Tag("gateway/subjects/connections/OperatorSpending")<
  OperatorSpending,
  {
    /** A row per call that was answered. Never fails: a test says what it found, whether or not its cost can be kept. */
    readonly book: (calls: ReadonlyArray<AnsweredCall>) => Effect.Effect<void>
    /** Cost of a call, in USD; null: no price is known. */
    readonly costOf: (call: AnsweredCall) => number | null
    readonly isPriced: (provider: string, model: string) => boolean
  }
>() {}

interface Counted {
  readonly tokens: TokenCounts
  readonly usageSource: UsageRow["usageSource"]
}

const oneSearch: TokenCounts = { ...noTokens, units: { searchUnits: 1 } }

/** Counts the tokens as the upstream reports them, else by the sizes of the question and the answer. */
const countsOf = ({ body, sentBytes, spec, wire }: AnsweredCall): Counted => {
  if (isForSearchesOnly(spec)) return { tokens: oneSearch, usageSource: "estimated" }
  const answer = parseJson(body.toString("utf8"))
  const facts = isObject(answer) ? codecs[wire].readAnswer(answer, spec.dialect) : null
  const told = facts?.usage ?? null
  if (told !== null && told.in + told.out > 0) return { tokens: told, usageSource: "upstream" }
  const out = estimateTokens((facts?.textChars ?? 0) + (facts?.reasoningChars ?? 0))
  return { tokens: { ...noTokens, in: estimateTokens(sentBytes, "json"), out }, usageSource: "estimated" }
}

/** The usage row of a test. Pure. */
export const testRow = (id: string, call: AnsweredCall, prices: Pick<typeof PriceBook.Service, "price">): UsageRow => {
  const { connectionId, latencyMs, model, spec, startedMs, status, wire } = call
  const { tokens, usageSource } = countsOf(call)
  const cost = costOf(tokens, prices.price(spec.id, model, startedMs))
  return {
    id,
    timestampMs: startedMs,
    requestId: id,
    apiKeyId: null,
    principal: "operator",
    requestedModel: `${spec.id}/${model}`,
    combo: null,
    provider: spec.id,
    connectionId,
    model,
    sourceWire: wire,
    targetWire: wire,
    streamed: false,
    outcome: "completed",
    status,
    latencyMs,
    ttftMs: null,
    attempts: 1,
    tokens,
    told: null,
    ...cost,
    priced: cost.price !== null,
    usageSource,
    error: null,
    batchId: null,
    answeredFrom: null,
    egress: null,
    tags: null,
    sessionId: null,
    reservedNanoUsd: 0,
    calls: null
  }
}

const make = (append: (row: UsageRow) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const ids = yield* IdGen
    const prices = yield* PriceBook
    return OperatorSpending.of({
      book: (calls) =>
        Effect.forEach(calls, (call) => append(testRow(ids.next(call.startedMs), call, prices)), { discard: true }),
      costOf: (call) => {
        const { costNanoUsd, priced } = testRow("", call, prices)
        return priced ? costNanoUsd / nanoUsdPerUsd : null
      },
      isPriced: (provider, model) => prices.price(provider, model) !== null
    })
  })

/** Layer of a gateway that runs. */
export const layer: Layer.Layer<OperatorSpending, never, IdGen | PriceBook | UsageJournal> = Layer.effect(
  OperatorSpending,
  Effect.flatMap(UsageJournal, ({ append }) => make((row) => Effect.sync(() => append(row))))
)

/** Layer of a command that works on the data folder by itself, while a gateway may have its journal. */
export const layerDirect: Layer.Layer<OperatorSpending, never, IdGen | PriceBook | SqlClient.SqlClient> = Layer.effect(
  OperatorSpending,
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    make((row) =>
      Effect.catchAll(insert(sql, [{ row, facts: sharedFacts(row) }], true), (error) =>
        Effect.logWarning(`The cost of a test could not be kept: ${error.message}`)
      )
    )
  )
)

/** Keeps nothing. For tests of other things. */
export const layerNone: Layer.Layer<OperatorSpending> = Layer.succeed(
  OperatorSpending,
  OperatorSpending.of({ book: () => Effect.void, costOf: () => null, isPriced: () => true })
)
