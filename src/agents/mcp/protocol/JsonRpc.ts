/**
 * Messages of JSON-RPC 2.0 as MCP uses them, read and written. Pure.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic
 */
import * as Data from "effect/Data"
import { readForeignJson, Unreadable } from "../../../wire/json/Bounds.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../../wire/json/Json.ts"
import { read, type ReadMembers } from "../../../wire/json/Members.ts"
import { makeSpelling } from "../../../wire/json/Spelling.ts"

export type RequestId = string | number

export interface RpcRequest {
  readonly _tag: "Request"
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
}

export interface RpcNotification {
  readonly _tag: "Notification"
  readonly method: string
  readonly params: JsonObject
}

/** The other side's answer to a request of this side. */
export interface RpcResponse {
  readonly _tag: "Response"
  readonly id: RequestId
  readonly result: JsonObject | null
  readonly error: RpcError | null
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse

/** https://www.jsonrpc.org/specification#error_object */
export const rpcCodes = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** The server is off or cannot take the request now. */
  unavailable: -32_000,
  /** No credential, or one that does not suffice. */
  unauthorized: -32_001,
  /** https://modelcontextprotocol.io/specification/2025-11-25/server/resources#error-handling */
  resourceNotFound: -32_002
} as const

/** A request that is answered with an error instead of a result. */
export class RpcError extends Data.TaggedError("RpcError")<{
  readonly code: number
  readonly message: string
  readonly data?: Json
}> {}

export const invalidParams = (message: string): RpcError => new RpcError({ code: rpcCodes.invalidParams, message })

/** A message that is none. `id` is that of the request where it could be read. */
export class BadMessage extends Data.TaggedError("BadMessage")<{
  readonly id: RequestId | null
  readonly message: string
}> {}

const maxIdChars = 256
const maxMethodChars = 128

const idOf = (value: unknown): RequestId | null =>
  (typeof value === "string" && value.length <= maxIdChars) || (typeof value === "number" && Number.isFinite(value))
    ? value
    : null

const errorOf = (value: unknown): RpcError | null => {
  if (!isObject(value)) return null
  const { code, message } = value
  return new RpcError({
    code: typeof code === "number" && Number.isFinite(code) ? code : rpcCodes.internal,
    message: typeof message === "string" ? message : "The other side gave no reason."
  })
}

/** One message of a parsed text. */
export const readMessage = (value: unknown): RpcMessage | BadMessage => {
  if (!isObject(value)) return new BadMessage({ id: null, message: "A message must be a JSON object." })
  const { error, id: rawId, jsonrpc, method, params, result } = value
  const id = idOf(rawId)
  const bad = (message: string): BadMessage => new BadMessage({ id, message })
  if (jsonrpc !== "2.0") return bad("'jsonrpc' must be '2.0'.")
  if (rawId !== undefined && id === null) {
    const message = `'id' must be a number, or text of at most ${maxIdChars} characters.`
    // A client finds its request by the id, whatever is wrong with it.
    return new BadMessage({ id: typeof rawId === "string" ? rawId : null, message })
  }
  if (method === undefined) {
    if (id === null || (result === undefined && error === undefined)) return bad("'method' is missing.")
    return { _tag: "Response", id, result: isObject(result) ? result : null, error: errorOf(error) }
  }
  if (typeof method !== "string" || method === "" || method.length > maxMethodChars) {
    return bad(`'method' must be text of 1 to ${maxMethodChars} characters.`)
  }
  if (params !== undefined && !isObject(params)) return bad("'params' must be an object.")
  const named = { method, params: params ?? {} }
  return id === null ? { _tag: "Notification", ...named } : { _tag: "Request", id, ...named }
}

const maxBatch = 50

/**
 * The messages of a parsed text: one, or a batch, which clients of the version 2025-03-26 may send.
 * https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
 */
export const readMessages = (
  value: unknown
): { readonly isBatch: boolean; readonly messages: ReadonlyArray<RpcMessage | BadMessage> } | BadMessage => {
  if (!isArray(value)) return { isBatch: false, messages: [readMessage(value)] }
  if (value.length === 0 || value.length > maxBatch) {
    return new BadMessage({ id: null, message: `A batch must hold 1 to ${maxBatch} messages.` })
  }
  return { isBatch: true, messages: value.map(readMessage) }
}

/**
 * Makes the reader of a client's messages. A member that equals one of the protocol but for the case of its letters is refused. `params`: the
 * members of the params of all methods.
 */
export const makeClientReader = (params: ReadMembers): typeof readMessages => {
  const misspelt = makeSpelling({
    ...read("jsonrpc", "id", "method", "result"),
    error: { of: read("code", "message", "data") },
    params: { of: params }
  })
  return (value) => {
    const found = readMessages(value)
    if (found instanceof BadMessage) return found
    const given = isArray(value) ? value : [value]
    const messages = found.messages.map((message, index) => {
      const item = given[index]
      const wrong = isObject(item) ? misspelt(item) : null
      const id = "id" in message ? message.id : null
      return wrong === null ? message : new BadMessage({ id, message: wrong.message })
    })
    return { ...found, messages }
  }
}

/** The messages of an MCP client. What a tool is given is compared with the tool's own schema. */
export const readClientMessages = makeClientReader({
  ...read("name", "arguments", "uri", "cursor", "protocolVersion", "capabilities", "level", "requestId", "reason"),
  ...read("progressToken", "progress", "total", "message"),
  _meta: { of: read("progressToken") },
  clientInfo: { of: read("name", "title", "version", "websiteUrl", "icons") },
  ref: { of: read("type", "name", "uri") },
  argument: { of: read("name", "value") },
  context: { of: read("arguments") }
})

/** Characters of a text that cannot be read in which the id of its request is looked for. */
const maxScannedChars = 65_536

/** The tokens of a JSON text; of one that was cut, the last may be a part. Linear: no character is looked at again. */
const tokens = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[[\]{},:]|[^\s"[\]{},:]+/gs

const tokenId = (token: string): RequestId | null => {
  try {
    return idOf(JSON.parse(token))
  } catch {
    return null
  }
}

/**
 * The id of a message whose text was cut, is no JSON as a whole, or exceeds a limit, so that its client learns which of its requests is refused.
 * Null: it has none, or it does not come within the first characters.
 */
export const idWithin = (text: string): RequestId | null => {
  let depth = 0
  let [key, before] = ["", ""]
  for (const [token] of text.slice(0, maxScannedChars).matchAll(tokens)) {
    if (depth === 0 && token !== "{") return null
    if (depth === 1 && token === ":") key = before
    else if (depth === 1 && before === ":" && key === '"id"') return tokenId(token)
    if (token === "{" || token === "[") depth += 1
    else if (token === "}" || token === "]") depth -= 1
    if (depth === 0) return null
    before = token
  }
  return null
}

/** Requests of a refused batch that are answered; those beyond it are not. */
const mostRefused = 1_000

/** Undefined: nothing is answered to it. */
const refusedIdOf = (value: unknown): RequestId | null | undefined => {
  const message = readMessage(value)
  return message._tag === "Request" || message._tag === "BadMessage" ? message.id : undefined
}

/** Facts of a body that is refused as a whole. */
export interface RefusedText {
  /** Beginning of it. */
  readonly text: string
  readonly isWhole: boolean
}

/**
 * Answers a body that is refused as a whole: with an error for each of its requests, with the id of that. One without requests, such as a
 * notification, gets an error without an id, as there is none that it could answer.
 */
export const refusalOf = ({ isWhole, text }: RefusedText, error: Pick<RpcError, "code" | "message">): Json => {
  const value = isWhole ? readForeignJson(text) : null
  if (value === null || value instanceof Unreadable) return errorMessage(idWithin(text), error)
  const ids = (isArray(value) ? value.slice(0, mostRefused) : [value])
    .map(refusedIdOf)
    .filter((id): id is RequestId | null => id !== undefined)
  const [first] = ids
  if (first === undefined) return { jsonrpc: "2.0", error: { code: error.code, message: error.message } }
  return isArray(value) ? ids.map((id) => errorMessage(id, error)) : errorMessage(first, error)
}

export const resultMessage = (id: RequestId, result: JsonObject): JsonObject => ({ jsonrpc: "2.0", id, result })

export const errorMessage = (
  id: RequestId | null,
  { code, data, message }: Pick<RpcError, "code" | "message" | "data">
): JsonObject => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) }
})

export const requestMessage = (id: RequestId, method: string, params: JsonObject): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})

export const notificationMessage = (method: string, params?: JsonObject): JsonObject => ({
  jsonrpc: "2.0",
  method,
  ...(params === undefined ? {} : { params })
})
