/** The cache finder's work on one call, in the thread: reading its bodies takes time. The thread has the history, its owner the findings. */
import type { ModelPrice } from "../../../subjects/pricing/entity.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import { isObject, type JsonObject } from "../../../wire/json/Json.ts"
import { maskText } from "../masking/Masking.ts"
import { parsePerhapsCut } from "../reading/Answer.ts"
import { type Format, formatOf } from "../reading/Format.ts"
import type { CacheCall, CacheFinding } from "./CacheCall.ts"
import { CacheHistory } from "./CacheHistory.ts"
import { findBreak } from "./FindBreak.ts"

/** A call whose bodies are not read yet: UTF-8. */
export interface CacheJob {
  readonly call: Omit<CacheCall, "wire" | "body" | "sent">
  readonly path: string
  readonly body: Uint8Array
  /** True when it is masked already. Otherwise it is masked here: findings hold parts of it, and are shown to all. */
  readonly isMasked: boolean
  /** Body that was sent, not masked. */
  readonly sent: { readonly wire: WireName; readonly body: Uint8Array | string } | null
  readonly price: ModelPrice | null
}

export const bytesOfCacheJob = ({ body, sent }: CacheJob): number => body.byteLength + (sent?.body.length ?? 0)

const textIn = (body: Uint8Array | string): string =>
  typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8")

const objectIn = (text: string): JsonObject | null => {
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

/** `clean`: the body, parsed already, where it holds no secret. Null: no prompt that a cache could hold, or none that can be read. */
export type JudgeCall = (job: CacheJob, clean?: Format | null) => CacheFinding | null

export const makeJudge = (): JudgeCall => {
  const history = new CacheHistory()
  return ({ body, call, isMasked, path, price, sent }, clean = null) => {
    const format = clean ?? formatOf(path, objectIn(isMasked ? textIn(body) : maskText(textIn(body))) ?? undefined)
    const wire = format === null ? undefined : wires[format.apiKind]
    if (format === null || wire === undefined) return null
    const sentBody = sent === null ? null : objectIn(maskText(textIn(sent.body)))
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
