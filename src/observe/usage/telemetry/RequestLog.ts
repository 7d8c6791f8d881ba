/** One line of JSON per request; `RequestText` has the line for people. */
import { nanoUsdPerUsd } from "../../../contract/domain/Usage.ts"
import type { UsageRow } from "../../../contract/domain/Usage.ts"
import { PerFacts, type UsageFacts } from "../../../contract/domain/UsageFacts.ts"
import { IsoTimes } from "../../../kernel/time/IsoTimes.ts"
import { jsonNumber, JsonTexts } from "../../../kernel/text/JsonTexts.ts"
import { clean, pathOnly } from "./Summary.ts"
import type { RequestSummary } from "./Summary.ts"

/** A client that disconnected is no failure; a bad request is a warning, a 5xx an error. */
export const levelOf = (row: Pick<UsageRow, "outcome" | "status">): "info" | "warn" | "error" => {
  if (row.outcome !== "failed") return "info"
  return row.status >= 500 ? "error" : "warn"
}

/** Milliseconds with at most three decimals. */
const milliseconds = (value: number): number => Math.round(value * 1000) / 1000

/** Ids of our own, hexadecimal digits and hyphens, need neither cleaning nor escaping. */
const isOwnId = (id: string): boolean => {
  if (id.length > 64) return false
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index)
    const isPlain = code === 45 || (code >= 48 && code <= 57) || (code >= 97 && code <= 102)
    if (!isPlain) return false
  }
  return true
}

const jsonId = (id: string): string => (isOwnId(id) ? `"${id}"` : JSON.stringify(clean(id)))

const jsonName = (name: string | null): string => (name === null ? "null" : JSON.stringify(clean(name)))

/** Names the caller where it is neither a key nor anonymous. */
const callerOf = ({ principal }: UsageFacts): string => (principal === null ? "" : `"principal":"${principal}",`)

/** The parts of a line that rows with the same facts share, in the order of the line. */
const sharedParts = (facts: UsageFacts, ofNode: string) => ({
  begin: `,"level":"${levelOf(facts)}","msg":"request","requestId":`,
  names:
    `,"sourceWire":${jsonName(facts.sourceWire)},"targetWire":${jsonName(facts.targetWire)},` +
    `"requestedModel":${jsonName(facts.requestedModel)},"provider":${jsonName(facts.provider)},` +
    `"model":${jsonName(facts.model)},"combo":${jsonName(facts.combo)},"status":${jsonNumber(facts.status)},` +
    `"outcome":"${facts.outcome}","streamed":${facts.streamed},"latencyMs":`,
  attempts: `,"attempts":${jsonNumber(facts.attempts)},"tokensIn":`,
  end: `,"apiKeyId":${jsonName(facts.apiKeyId)},${callerOf(facts)}"error":${jsonName(facts.error)}${ofNode}}`
})

/**
 * Hot: the structured line, without its line feed. `costUsd` is null when no price was known. Written by hand; what rows share is kept. `node`: the
 * gateway among several on one database.
 */
export const makeJsonLine = (node: string | null = null): ((summary: RequestSummary) => string) => {
  const ofNode = node === null ? "" : `,"node":${jsonName(node)}`
  const shared = new PerFacts((facts: UsageFacts) => sharedParts(facts, ofNode))
  const names = new JsonTexts((text) => JSON.stringify(clean(text)))
  const paths = new JsonTexts((path) => JSON.stringify(pathOnly(path)))
  const times = new IsoTimes()
  return ({ row, method, path }) => {
    const { attempts, begin, end, names: served } = shared.of(row)
    const { in: tokensIn, out: tokensOut } = row.tokens
    return (
      `{"time":"${times.of(row.timestampMs + row.latencyMs)}"${begin}${jsonId(row.requestId)},"method":${names.of(method)},` +
      `"path":${paths.of(path)}${served}${jsonNumber(milliseconds(row.latencyMs))},` +
      `"ttftMs":${row.ttftMs === null ? "null" : jsonNumber(milliseconds(row.ttftMs))}${attempts}${jsonNumber(tokensIn)},` +
      `"tokensOut":${jsonNumber(tokensOut)},` +
      `"costUsd":${row.priced ? jsonNumber(row.costNanoUsd / nanoUsdPerUsd) : "null"}${end}`
    )
  }
}
