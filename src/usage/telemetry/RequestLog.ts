/** One line per request: JSON for machines, a short sentence for a person at a terminal. */
import { nanoUsdPerUsd } from "../../domain/Usage.ts"
import type { UsageRow } from "../../domain/Usage.ts"
import { clean, pathOnly } from "./Summary.ts"
import type { RequestSummary } from "./Summary.ts"

/** A client that disconnected is no failure; a bad request is a warning, a 5xx an error. */
export const levelOf = (row: UsageRow): "info" | "warn" | "error" => {
  if (row.outcome !== "failed") return "info"
  return row.status >= 500 ? "error" : "warn"
}

const orNull = (text: string | null): string | null => (text === null ? null : clean(text))

const settledAt = (row: UsageRow): string => new Date(row.timestampMs + row.latencyMs).toISOString()

const milliseconds = (value: number): number => Math.round(value * 1000) / 1000

/** The structured line, without its line feed. `costUsd` is null when no price was known. */
export const jsonLine = ({ row, method, path }: RequestSummary): string =>
  JSON.stringify({
    time: settledAt(row),
    level: levelOf(row),
    msg: "request",
    requestId: clean(row.requestId),
    method: clean(method),
    path: pathOnly(path),
    sourceWire: row.sourceWire,
    targetWire: row.targetWire,
    requestedModel: clean(row.requestedModel),
    provider: orNull(row.provider),
    model: orNull(row.model),
    combo: orNull(row.combo),
    status: row.status,
    outcome: row.outcome,
    streamed: row.streamed,
    latencyMs: milliseconds(row.latencyMs),
    ttftMs: row.ttftMs === null ? null : milliseconds(row.ttftMs),
    attempts: row.attempts,
    tokensIn: row.tokens.in,
    tokensOut: row.tokens.out,
    costUsd: row.priced ? row.costNanoUsd / nanoUsdPerUsd : null,
    apiKeyId: orNull(row.apiKeyId),
    error: orNull(row.error)
  })

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
