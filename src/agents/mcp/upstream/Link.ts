/**
 * Link to a registered MCP server, whatever the transport: messages are sent, and those that come beside their answers
 * are passed on.
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { RequestId, RpcNotification, RpcRequest, RpcResponse } from "../protocol/JsonRpc.ts"

/**
 * - `unreachable`: there is no connection, or the program does not start.
 * - `refused`: it does not accept the credential.
 * - `gone`: it does not know the session any more; another one can be begun.
 * - `ended`: the connection or the program ended before the answer.
 * - `timeout`: it did not answer in time.
 * - `busy`: more calls are in progress than one server gets.
 * - `invalid`: what came is no answer of an MCP server, or exceeds a limit.
 */
export type LinkReason = "unreachable" | "refused" | "gone" | "ended" | "timeout" | "busy" | "invalid"

/** `message` goes on from the name of the server, without a full stop, and holds no secret. */
export class LinkError extends Data.TaggedError("McpLinkError")<{
  readonly reason: LinkReason
  readonly message: string
}> {}

export const linkError = (reason: LinkReason, message: string): LinkError => new LinkError({ reason, message })

/** Receives unrequested messages of the server. Never called before the link was returned. */
export interface LinkEvents {
  readonly onMessage: (message: RpcRequest | RpcNotification) => void
  /** The server is gone for good; what is sent from now on fails. */
  readonly onEnd: (error: LinkError) => void
}

export interface Link {
  /** Sends a request and gives its answer. Interruption drops the answer. */
  readonly ask: (message: JsonObject, id: RequestId) => Effect.Effect<RpcResponse, LinkError>
  /** Sends what has no answer. */
  readonly tell: (message: JsonObject) => Effect.Effect<void, LinkError>
  /** Both sides speak this version from now on. `listens`: the server sends messages of its own. */
  readonly begun: (version: string, listens: boolean) => Effect.Effect<void>
  readonly close: Effect.Effect<void>
}

export type OpenLink = (events: LinkEvents) => Effect.Effect<Link, LinkError>

/** Most bytes of one message, of everything that comes in answer to one request, and of a list of tools. */
export const maxAnswerBytes = 4 * 1_048_576
