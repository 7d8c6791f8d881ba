/** Answers a request that a plugin has blocked. The answer came out of a sandbox: nothing of it is taken as it is. Pure. */
import * as Either from "effect/Either"
import { PluginBlocked } from "../../../contract/domain/Errors.ts"
import { noTokens } from "../../../contract/domain/Usage.ts"
import type { BlockedAnswer } from "../../../agents/plugins/hooks/Listener.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { Envelope, WireCodec } from "../../../wire/WireCodec.ts"
import { renderAnswer } from "../../attempt/AnswerReader.ts"
import { readCount } from "../../counting/CountRequest.ts"
import { costFacts, identityHeaders } from "../../request/Headers.ts"
import type { Exchange } from "../../request/Exchange.ts"
import { isWholeAnswer } from "./WholeAnswer.ts"

export type Blocked =
  | { readonly _tag: "Error"; readonly error: PluginBlocked; readonly headers: ReadonlyArray<string> }
  /** `headers`: all of them, as a flat name–value list. */
  | { readonly _tag: "Body"; readonly status: number; readonly body: string; readonly headers: Array<string> }

export interface BlockedRequest {
  readonly exchange: Exchange
  readonly parsed: JsonObject
  /** Null: it asks for a number of tokens only. */
  readonly envelope: Envelope | null
  readonly nowMs: number
  readonly latencyMs: number
}

const maxHeaders = 20
const maxHeaderChars = 1_024
const maxMessageChars = 2_000
const maxCodeChars = 100

const token = /^[a-z\d][a-z\d-]{0,63}$/i
/**
 * Headers of the connection, of the body and of the gateway itself, and those that would act for the gateway in a
 * browser.
 */
const own =
  /^(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade|date|server|location|refresh|set-cookie2?|alt-svc|clear-site-data|content-.*|access-control-.*|cross-origin-.*|strict-transport-security|x-content-type-options|x-gateway-.*|proxy-.*)$/i

const headersOf = ({ headers }: BlockedAnswer): ReadonlyArray<string> =>
  Object.entries(headers)
    .filter(([name, value]) => token.test(name) && !own.test(name) && typeof value === "string")
    .slice(0, maxHeaders)
    .flatMap(([name, value]) => [name, value.slice(0, maxHeaderChars).replaceAll(/[^\x20-\x7e]/g, "?")])

const isErrorStatus = (status: number | null): status is number =>
  status !== null && Number.isInteger(status) && status >= 400 && status <= 599

const isSuccess = (status: number): boolean => Number.isInteger(status) && status >= 200 && status <= 299

const errorOf = (plugin: string, model: string, { error, status }: BlockedAnswer, message?: string): PluginBlocked =>
  new PluginBlocked({
    plugin,
    model,
    status: isErrorStatus(status) ? status : 403,
    code: error?.code?.slice(0, maxCodeChars) || null,
    message: message ?? (error?.message.slice(0, maxMessageChars) || `The plugin '${plugin}' has blocked the request.`)
  })

const asStream = (
  { envelope, exchange, nowMs, parsed }: BlockedRequest,
  codec: WireCodec,
  body: JsonObject,
  model: string
): string => {
  const decoded = codec.decodeResponse(body)
  if (Either.isLeft(decoded)) return ""
  const context = {
    nowMs,
    fallbackId: exchange.requestId,
    model: decoded.right.model ?? model,
    wantsUsage: envelope?.wantsUsage ?? false,
    request: parsed
  }
  return renderAnswer(codec, decoded.right, context, true)
}

/** Checks whether the client can read it as the answer it has asked for. */
const isAsked = ({ envelope, exchange }: BlockedRequest, body: JsonObject): boolean => {
  const { codec, forPlugins, wire } = exchange
  if (envelope === null) return readCount(wire === "gemini" ? wire : "messages", body) !== null
  return forPlugins === undefined ? isWholeAnswer(codec, body) : forPlugins.isAnswer(body)
}

export const blockedBy = (request: BlockedRequest, plugin: string, answer: BlockedAnswer): Blocked => {
  const { envelope, exchange, latencyMs } = request
  const { codec, requestId } = exchange
  const model = envelope?.model ?? ""
  const more = headersOf(answer)
  const { body } = answer
  if (body === null) return { _tag: "Error", error: errorOf(plugin, model, answer), headers: more }
  const status = answer.status ?? 200
  if (!isErrorStatus(status) && !(isSuccess(status) && isAsked(request, body))) {
    const message = `The plugin '${plugin}' has blocked the request with an answer that cannot be read in its format.`
    const error = errorOf(plugin, model, { ...answer, status: 403, error: null }, message)
    return { _tag: "Error", error, headers: more }
  }
  const isStream = isSuccess(status) && envelope?.stream === true
  const text = isStream ? asStream(request, codec, body, model) : JSON.stringify(body)
  const headers = identityHeaders(requestId)
  if (isStream) headers.push("Content-Type", codec.streamContentType, "Cache-Control", "no-cache")
  else headers.push("Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(text)))
  headers.push(...costFacts({ tokens: noTokens, costNanoUsd: 0, latencyMs }), ...more)
  return { _tag: "Body", status, body: text, headers }
}
