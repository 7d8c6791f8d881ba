/** The cache finder's work on one call, in the thread: reading its bodies takes time. The thread has the history, its owner the findings. */
import type { ModelPrice } from "../../domain/Pricing.ts"
import type { WireName } from "../../domain/Wire.ts"
import { isObject, type JsonObject } from "../../wire/json/Json.ts"
import { parsePerhapsCut } from "../reading/Answer.ts"
import { formatOf } from "../reading/Format.ts"
import type { CacheCall, CacheFinding } from "./CacheCall.ts"
import { CacheHistory } from "./CacheHistory.ts"
import { findBreak } from "./FindBreak.ts"

/** A call whose bodies are not read yet: UTF-8. */
export interface CacheJob {
  readonly call: Omit<CacheCall, "wire" | "body" | "sent">
  readonly path: string
  readonly body: Uint8Array
  readonly sent: { readonly wire: WireName; readonly body: Uint8Array } | null
  readonly price: ModelPrice | null
}

export const bytesOfCacheJob = ({ body, sent }: CacheJob): number => body.byteLength + (sent?.body.byteLength ?? 0)

const objectIn = (bytes: Uint8Array): JsonObject | null => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
  const parsed = parsePerhapsCut(text, false)
  return isObject(parsed) ? parsed : null
}

const wires: Readonly<Record<string, WireName>> = {
  chat: "chat",
  messages: "messages",
  responses: "responses",
  gemini: "gemini",
  ollama: "ollama"
}

/** Null: no prompt that a cache could hold, or none that can be read. */
export type JudgeCall = (job: CacheJob) => CacheFinding | null

export const makeJudge = (): JudgeCall => {
  const history = new CacheHistory()
  return ({ body, call, path, price, sent }) => {
    const format = formatOf(path, objectIn(body) ?? undefined)
    const wire = format === null ? undefined : wires[format.apiKind]
    if (format === null || wire === undefined) return null
    const sentBody = sent === null ? null : objectIn(sent.body)
    if (sent !== null && sentBody === null) return null
    const read = history.read({
      ...call,
      wire,
      body: format.body,
      sent: sent === null || sentBody === null ? null : { wire: sent.wire, body: sentBody }
    })
    const finding = findBreak(read, price)
    history.remember(read)
    return finding
  }
}
