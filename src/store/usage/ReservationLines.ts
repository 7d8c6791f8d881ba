/**
 * The lines of the file of reservations. The latest line of a request counts: what its calls have reserved that may still cost something.
 *
 *     ["<requestId>","<apiKeyId>",receivedMs,"<requestedModel>","<wire>",streamed,[[provider,connectionId,model,nanoUsd,in,out,createdAtMs,price]]]
 *     ["<requestId>"]
 *
 * A line of a batch has the batch's id at the end.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ModelPrice } from "../../subjects/pricing/entity.ts"
import { WireName } from "../../contract/domain/Wire.ts"
import { jsonNumber, JsonTexts } from "../../kernel/text/JsonTexts.ts"

const Reserved = Schema.Tuple(
  Schema.String,
  Schema.String,
  Schema.String,
  Schema.Number,
  Schema.Number,
  Schema.Number,
  Schema.Number,
  Schema.NullOr(ModelPrice)
)

const Line = Schema.Tuple(
  Schema.String,
  Schema.String,
  Schema.Number,
  Schema.String,
  WireName,
  Schema.Boolean,
  Schema.Array(Reserved),
  Schema.optionalElement(Schema.String)
)
const decode = Schema.decodeUnknownOption(Line)

/** Reservation for one call. Money in nano-USD, times in epoch milliseconds. */
export interface OpenCall {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
  readonly nanoUsd: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly createdAtMs: number
  readonly price: ModelPrice | null
}

export interface OpenRequest {
  readonly requestId: string
  readonly apiKeyId: string
  readonly receivedMs: number
  readonly requestedModel: string
  readonly sourceWire: WireName
  readonly streamed: boolean
  /** Null: it is no line of a batch. */
  readonly batchId: string | null
  readonly calls: ReadonlyArray<OpenCall>
}

/** Caches of texts that are repeated in many lines. */
const texts = new JsonTexts()
const priceTexts = new WeakMap<ModelPrice, string>()

const priceText = (price: ModelPrice | null): string => {
  if (price === null) return "null"
  const known = priceTexts.get(price)
  if (known !== undefined) return known
  const text = JSON.stringify(price)
  priceTexts.set(price, text)
  return text
}

/** Hot: writes the line by hand, because the request path writes one per call. */
export const reservationLine = (request: OpenRequest): string => {
  const { apiKeyId, batchId, calls, receivedMs, requestedModel, requestId, sourceWire, streamed } = request
  if (calls.length === 0) return JSON.stringify([requestId])
  let text =
    `[${JSON.stringify(requestId)},${texts.of(apiKeyId)},${jsonNumber(receivedMs)},${texts.of(requestedModel)},` +
    `"${sourceWire}",${streamed},`
  let before = "[["
  for (const call of calls) {
    text +=
      `${before}${texts.of(call.provider)},${texts.of(call.connectionId)},${texts.of(call.model)},` +
      `${jsonNumber(call.nanoUsd)},${jsonNumber(call.tokensIn)},${jsonNumber(call.tokensOut)},` +
      `${jsonNumber(call.createdAtMs)},${priceText(call.price)}`
    before = "],["
  }
  return batchId === null ? `${text}]]]` : `${text}]],${texts.of(batchId)}]`
}

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    // A write that was cut short: its call was not made.
    return null
  }
}

const toOpenRequest = ([
  requestId,
  apiKeyId,
  receivedMs,
  requestedModel,
  sourceWire,
  streamed,
  calls,
  batchId
]: typeof Line.Type) => ({
  requestId,
  apiKeyId,
  receivedMs,
  requestedModel,
  sourceWire,
  streamed,
  batchId: batchId ?? null,
  calls: calls.map(([provider, connectionId, model, nanoUsd, tokensIn, tokensOut, createdAtMs, price]) => ({
    provider,
    connectionId,
    model,
    nanoUsd,
    tokensIn,
    tokensOut,
    createdAtMs,
    price
  }))
})

/** The requests of some files, the oldest first, that still hold something. */
export const readReservations = (texts: ReadonlyArray<string>): ReadonlyArray<OpenRequest> => {
  const open = new Map<string, OpenRequest>()
  for (const text of texts) {
    for (const line of text.split("\n")) {
      if (line === "") continue
      const value = parsed(line)
      if (!Array.isArray(value) || typeof value[0] !== "string") continue
      open.delete(value[0])
      const decoded = Option.getOrNull(decode(value))
      if (decoded !== null) open.set(value[0], toOpenRequest(decoded))
    }
  }
  return [...open.values()]
}
