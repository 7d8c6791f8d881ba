/**
 * Messages of JSON-RPC 2.0 as MCP uses them, read and written. Pure.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic
 */
import * as Data from "effect/Data"
import { isArray, isObject, type Json, type JsonObject } from "../../wire/json/Json.ts"
import { read } from "../../wire/json/Members.ts"
import { makeSpelling } from "../../wire/json/Spelling.ts"

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
    return bad(`'id' must be a number, or text of at most ${maxIdChars} characters.`)
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

const misspelt = makeSpelling({
  ...read("jsonrpc", "id", "method", "result", "error"),
  params: {
    of: read("name", "arguments", "uri", "_meta", "cursor", "protocolVersion", "capabilities", "clientInfo", "message")
  }
})

/** The messages of a client. A member that equals one of the protocol but for the case of its letters is refused. */
export const readClientMessages = (value: unknown): ReturnType<typeof readMessages> => {
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
