/** A request of JSON-RPC over HTTP, for MCP and A2A, from its caller to the messages of its body. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { BodyBeginning } from "../listening/BodyBeginning.ts"
import { type Caller, apiKeyIdOf } from "../../agents/mcp/Caller.ts"
import type { RpcReply } from "./RpcReply.ts"
import type { Gate } from "../../subjects/auth/Gate.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import type { Denied } from "../../subjects/auth/Access.ts"
import { peerAddressOf, shownAddressOf } from "../../subjects/auth/PeerAddress.ts"
import { rpcCodes, type readMessages, BadMessage } from "../../agents/mcp/protocol/JsonRpc.ts"
import type { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import type { Slices } from "../../plane/resilience/Slices.ts"
import { readBody } from "../listening/RequestBody.ts"
import { BodyNotDecoded, describe } from "../../contract/domain/Errors.ts"
import { readForeignBody } from "../../wire/json/LargeBodies.ts"
import { Unreadable } from "../../wire/json/Bounds.ts"

/** Bytes of a message; beyond it 413. */
const maxBodyBytes = 4 * 1_048_576

/** Refuses a request before its body is understood: each request in it, as far as its beginning shows them. */
type Refuse = (status: number, code: number, message: string) => void

export const refusing =
  (reply: RpcReply, beginning: BodyBeginning | null): Refuse =>
  (status, code, message) => {
    if (beginning === null) reply.refuse(status, code, message, null)
    else beginning.known((body) => reply.refuse(status, code, message, body))
  }

export interface RpcCall {
  readonly caller: Caller
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly reply: RpcReply
  readonly refuse: Refuse
}

/** Identifies the caller of an agent's endpoint. `scopesOf`: the scopes of one that does not manage. */
export const judgeCaller = (
  gate: typeof Gate.Service,
  request: IncomingMessage,
  nowMs: number,
  scopesOf: (principal: Principal) => Caller["scopes"]
): Caller | Denied => {
  const facts = {
    method: request.method ?? "POST",
    url: request.url ?? "/",
    headers: request.headers,
    socketAddress: peerAddressOf(request.socket),
    takesSession: false
  }
  const ip = shownAddressOf(request.socket)
  // Who manages has more rights here, and no other way in: a key that is not for agents is none here either.
  const managed = gate.judge("manage", { ...facts, category: "agents" }, nowMs)
  if (managed._tag === "Allowed") return { principal: managed.principal, scopes: null, ip }
  const access = gate.judge("inference", { ...facts, category: "agents" }, nowMs)
  if (access._tag === "Denied") return access
  return { principal: access.principal, scopes: scopesOf(access.principal), ip }
}

export const refuseCaller = ({ message, status }: Denied, reply: RpcReply, refuse: Refuse): void => {
  if (status === 401) reply.also("WWW-Authenticate", "Bearer")
  refuse(status, rpcCodes.unauthorized, message)
}

/** Checks the type of the body, and refuses others. */
export const isJsonBody = (request: IncomingMessage, refuse: Refuse): boolean => {
  const isJson = /^application\/json\s*(?:;|$)/i.test(request.headers["content-type"] ?? "")
  if (!isJson) refuse(415, rpcCodes.invalidRequest, "Send messages as 'Content-Type: application/json'.")
  return isJson
}

export interface BodyReaders {
  readonly bodies: typeof BodyBudget.Service
  readonly slices: typeof Slices.Service
}

/** Receives the body whole; `serve` gets one that may be read. */
export const receiveBody = (
  { bodies, slices }: BodyReaders,
  { caller, refuse, request, response }: RpcCall,
  serve: (body: Buffer) => void
): void => {
  const share = bodies.share(apiKeyIdOf(caller))
  response.once("close", share.release)
  readBody(request, maxBodyBytes, share, (body) => {
    if (body === "gone") return
    if (body === "too_large") {
      refuse(413, rpcCodes.invalidRequest, `A message may have at most ${maxBodyBytes} bytes.`)
    } else if (body instanceof BodyNotDecoded) {
      const { message, status } = describe(body)
      refuse(status, rpcCodes.invalidRequest, message)
    } else if (body === "no_room") {
      refuse(503, rpcCodes.unavailable, "The gateway holds too many request bodies now. Try again.")
    } else slices.whenRead(body, () => serve(body))
  })
}

/** Reads the messages of a body; null: it was refused as a whole. */
export const messagesOf = (
  body: Buffer,
  reply: RpcReply,
  read: typeof readMessages
): Exclude<ReturnType<typeof readMessages>, BadMessage> | null => {
  const refused = (code: number, message: string): null => {
    reply.refuse(400, code, message, { text: body.toString(), isWhole: true })
    return null
  }
  const value = readForeignBody(body)
  if (value instanceof Unreadable) return refused(rpcCodes.parse, value.message)
  const found = read(value)
  if (found instanceof BadMessage) return refused(rpcCodes.invalidRequest, found.message)
  const [only] = found.messages
  if (!found.isBatch && only instanceof BadMessage) return refused(rpcCodes.invalidRequest, only.message)
  return found
}
