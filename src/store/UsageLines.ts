/** A usage row as a line of the journal, written by hand: the request path encodes one per request. */
import type { UsageRow } from "../domain/Usage.ts"
import { jsonNumber, JsonTexts } from "../kernel/JsonTexts.ts"

/** Hot: the JSON of a row, as `JSON.stringify` writes it. Keeps the JSON of recurring names. */
export const makeUsageLine = (): ((row: UsageRow) => string) => {
  const texts = new JsonTexts()
  return (row) => {
    const { tokens } = row
    return (
      `{"id":${JSON.stringify(row.id)},"timestampMs":${jsonNumber(row.timestampMs)},` +
      `"requestId":${JSON.stringify(row.requestId)},"apiKeyId":${texts.of(row.apiKeyId)},` +
      `"requestedModel":${texts.of(row.requestedModel)},"combo":${texts.of(row.combo)},` +
      `"provider":${texts.of(row.provider)},"connectionId":${texts.of(row.connectionId)},"model":${texts.of(row.model)},` +
      `"sourceWire":"${row.sourceWire}","targetWire":${texts.of(row.targetWire)},"streamed":${row.streamed},` +
      `"outcome":"${row.outcome}","status":${jsonNumber(row.status)},"latencyMs":${jsonNumber(row.latencyMs)},` +
      `"ttftMs":${jsonNumber(row.ttftMs)},"attempts":${jsonNumber(row.attempts)},"tokens":{"in":${jsonNumber(tokens.in)},` +
      `"out":${jsonNumber(tokens.out)},"cacheRead":${jsonNumber(tokens.cacheRead)},` +
      `"cacheWrite":${jsonNumber(tokens.cacheWrite)},"reasoning":${jsonNumber(tokens.reasoning)}},` +
      `"costNanoUsd":${jsonNumber(row.costNanoUsd)},"priced":${row.priced},"usageSource":"${row.usageSource}",` +
      `"error":${texts.of(row.error)}}`
    )
  }
}
