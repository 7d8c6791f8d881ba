/** One line per request: JSON for machines, a short sentence for a person at a terminal. */
import { nanoUsdPerUsd } from "../../domain/Usage.ts"
import type { UsageRow } from "../../domain/Usage.ts"
import { IsoTimes } from "../../kernel/IsoTimes.ts"
import { jsonNumber, JsonTexts } from "../../kernel/JsonTexts.ts"
import { clean, pathOnly } from "./Summary.ts"
import type { RequestSummary } from "./Summary.ts"

/** A client that disconnected is no failure; a bad request is a warning, a 5xx an error. */
export const levelOf = (row: UsageRow): "info" | "warn" | "error" => {
  if (row.outcome !== "failed") return "info"
  return row.status >= 500 ? "error" : "warn"
}

/** Milliseconds with at most three decimals. */
const milliseconds = (value: number): number => Math.round(value * 1000) / 1000

/**
 * Hot: the structured line, without its line feed. `costUsd` is null when no price was known. Written by hand; keeps the JSON of recurring
 * names.
 */
export const makeJsonLine = (): ((summary: RequestSummary) => string) => {
  const names = new JsonTexts((text) => JSON.stringify(clean(text)))
  const paths = new JsonTexts((path) => JSON.stringify(pathOnly(path)))
  const times = new IsoTimes()
  return ({ row, method, path }) =>
    `{"time":"${times.of(row.timestampMs + row.latencyMs)}","level":"${levelOf(row)}","msg":"request",` +
    `"requestId":${JSON.stringify(clean(row.requestId))},"method":${names.of(method)},"path":${paths.of(path)},` +
    `"sourceWire":${names.of(row.sourceWire)},"targetWire":${names.of(row.targetWire)},` +
    `"requestedModel":${names.of(row.requestedModel)},"provider":${names.of(row.provider)},"model":${names.of(row.model)},` +
    `"combo":${names.of(row.combo)},"status":${jsonNumber(row.status)},"outcome":"${row.outcome}",` +
    `"streamed":${row.streamed},"latencyMs":${jsonNumber(milliseconds(row.latencyMs))},` +
    `"ttftMs":${row.ttftMs === null ? "null" : jsonNumber(milliseconds(row.ttftMs))},` +
    `"attempts":${jsonNumber(row.attempts)},"tokensIn":${jsonNumber(row.tokens.in)},` +
    `"tokensOut":${jsonNumber(row.tokens.out)},` +
    `"costUsd":${row.priced ? jsonNumber(row.costNanoUsd / nanoUsdPerUsd) : "null"},` +
    `"apiKeyId":${names.of(row.apiKeyId)},"error":${names.of(row.error)}}`
}

const settledAt = (row: UsageRow): string => new Date(row.timestampMs + row.latencyMs).toISOString()

/** The same request as a sentence: what was asked for, what served it, how it ended. */
export const textLine = ({ row, method, path }: RequestSummary): string => {
  const served = row.provider === null ? "no target" : `${clean(row.provider)}/${clean(row.model ?? "?")}`
  const facts = [
    `${Math.round(row.latencyMs)} ms`,
    `${row.tokens.in} in, ${row.tokens.out} out`,
    row.priced ? `$${(row.costNanoUsd / nanoUsdPerUsd).toFixed(6)}` : "unpriced"
  ]
  if (row.attempts > 1) facts.push(`${row.attempts} attempts`)
  if (row.outcome !== "completed") facts.push(row.error === null ? row.outcome : `${row.outcome}: ${clean(row.error)}`)
  const time = settledAt(row).slice(11, 23)
  const asked = `${clean(method)} ${pathOnly(path)} ${clean(row.requestedModel)}`
  return `${time} ${row.status} ${asked} -> ${served} (${facts.join(", ")}) ${clean(row.requestId)}`
}
