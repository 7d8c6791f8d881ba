/**
 * The client's request as it came in, and the reply to the client. HTTP and WebSocket implement `ClientReply`; nothing in this
 * folder knows a socket.
 */
import type { Decoding } from "./Decoding.ts"
import type * as Either from "effect/Either"
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"
import type { ThinkingBudget } from "../../subjects/settings/entity/AccessSettings.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import type { InferenceError, InvalidRequest } from "../../contract/domain/Errors.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"
import type { Envelope, WireCodec } from "../../wire/WireCodec.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import type { Resolution } from "../routing/resolve/ModelResolver.ts"
import type { ServiceRequest } from "../routing/resolve/ServiceTargets.ts"
import type { Question } from "../routing/decide/Engine.ts"
import type { Decided } from "../routing/decide/Decide.ts"
import type { EarlierPart } from "./AnswerReport.ts"
import type { DeliveredPrefix } from "./DeliveredPrefix.ts"
import type { ExchangeTap } from "./ExchangeTap.ts"
import type { Commitment } from "../ledger/Commitment.ts"
import type { OwnRequests } from "../../agents/tools/catalogue/OwnRequests.ts"
import type { HookRun } from "../../agents/plugins/hooks/HookRun.ts"
import type { FixedPrices } from "./FixedPrices.ts"
import type { JobHandle } from "./JobHandle.ts"
import type { SearchPlan } from "./SearchPlan.ts"
import type { Trail } from "./Trail.ts"
import type { Uploads } from "./Uploads.ts"

/** Facts that are known at the end of an answer only: flat name–value list. Asked for when they are sent. */
export type Trailers = () => ReadonlyArray<string>

export interface ClientReply {
  /** Sends the status line and headers (name, value, name, value, …). Called at most once. */
  readonly head: (status: number, headers: Array<string>) => void
  /** False when the client reads slower than we write: wait for `onDrain`. */
  readonly write: (chunk: Buffer | string) => boolean
  /**
   * Writes the last bytes; may be empty. Trailers go to clients that asked for some, behind an answer without a length
   * in its head.
   */
  readonly end: (chunk: Buffer | string, trailers?: Trailers) => void
  /** Closes the connection where no end can be sent any more: the client sees a broken answer. */
  readonly cut: () => void
  /** The listener runs each time that more can be written again. The returned function takes it out. */
  readonly onDrain: (listener: () => void) => () => void
  /** The listener runs when the client leaves before `end`; at once when it has left. The returned function takes it out. */
  readonly onClose: (listener: () => void) => () => void
  readonly isClosed: () => boolean
}

/**
 * Answers a request that asks nothing of a model, or says what is wrong with it; `count` when only its tokens are asked for, null when
 * a model is.
 */
export type AtOnce = (body: JsonObject) => JsonObject | InferenceError | "count" | null

/**
 * Purpose of a request, which decides the limits of its key that it counts for. There is no default: the maker of an exchange says it.
 * - `client`: a client asks it, by whatever interface. It counts for all of them.
 * - `order`: the gateway asks it because its caller has ordered that: a line of a batch, a question of an evaluation. It counts for all of them, and is
 *   no turn of a client's conversation.
 * - `resumed`: it goes on with what was counted when it came: a job after a restart, a line that a provider runs. It counts for budgets and tokens.
 * - `aside`: it serves another request, which was counted: a picture's description, a vector, a summary. It counts for budgets and tokens, and
 *   plugins get only its events of calls to providers.
 */
export type MadeFor = "client" | "order" | "resumed" | "aside"

/** Hot: checks whether it counts for rates, the day and sessions too. */
export const countsWhole = ({ madeFor }: Pick<Exchange, "madeFor">): boolean =>
  madeFor === "client" || madeFor === "order"

/** A request as it entered, complete with its body. */
export interface Exchange {
  readonly requestId: string
  /** Epoch milliseconds at arrival. */
  readonly receivedMs: number
  /** Monotonic milliseconds at arrival, for latencies. */
  readonly startedMs: number
  /** The client's wire. */
  readonly wire: WireName
  readonly codec: WireCodec
  readonly method: string
  /** Path without its query string: keys may be in the query. */
  readonly path: string
  readonly body: Buffer
  /** The body as the client sent it, where a plugin has changed it. */
  readonly clientBody?: Buffer
  /**
   * Replacement for a `body` that the gateway has made: the body that plugins get, a reader of their changed one, and a check of the
   * answers they may give.
   */
  readonly forPlugins?: {
    readonly body: Buffer
    readonly read: (changed: Buffer) => Buffer | InferenceError
    readonly isAnswer: (answer: JsonObject) => boolean
  }
  /** Members that this wire has in the path instead of the body (`model`, `stream`); null where all are in the body. */
  readonly fromPath: JsonObject | null
  readonly atOnce: AtOnce | null
  /** Files that came with it; absent where the body is all there is. */
  readonly uploads?: Uploads
  /** Request headers, lower-case names. */
  readonly headers: RequestHeaders
  readonly principal: Principal
  readonly madeFor: MadeFor
  /** Service asked for where the request names no model; absent: it names one. */
  readonly service?: ServiceRequest
  /** Handle of a request that may become a job of a provider; absent: the job is not stored. */
  readonly job?: JobHandle
  /** The batch whose line it is. */
  readonly batchId?: string
  /** Called with the error before it is written as the answer. */
  readonly onError?: (error: InferenceError) => void
  readonly reply: ClientReply
  /** True when a connection that silence may end is between the client and the gateway: streams get heartbeats. */
  readonly isOnWire?: true
  /** Run of a request that plugins listen to. */
  readonly hooks?: HookRun | undefined
  /** Tap of a request that is recorded. */
  readonly tap?: ExchangeTap
}

/** Null for callers without a key of this gateway. */
export const apiKeyIdOf = ({ principal }: Pick<Exchange, "principal">): string | null =>
  principal._tag === "Key" ? principal.key.id : null

/** Facts of an answer that was cut and that the next target is to continue (`recovery/`). */
export interface Resumption {
  /** The request as it was before the first cut. */
  readonly first: Work
  readonly sent: DeliveredPrefix
  /** The parts so far, oldest first. */
  readonly before: ReadonlyArray<EarlierPart>
}

/** Text that a session takes along to another account (`handoff/`). */
export interface Carried {
  /** The account that knows the conversation itself. */
  readonly connectionId: string
  /** `provider/model` that served it there. */
  readonly from: string
  /** The system text. */
  readonly text: string
}

/** An exchange that was read, admitted, resolved and decided: everything the attempts need. */
export interface Work {
  readonly exchange: Exchange
  /** Fields of the body that were taken out before anything else was done with it. */
  readonly leftOut: ReadonlyArray<string>
  /** Owner of the memory that the conversation is kept in: the API key, or all callers without one. */
  readonly owner: string
  /** The body as the client wrote it, for answers that repeat settings of it. */
  readonly asked: JsonObject
  /** Body for targets: the same, or the whole conversation that `asked` goes on from. */
  readonly parsed: JsonObject
  /** Body that a later turn goes on from, where it is not `parsed`: the gateway has added texts of its own to that. */
  readonly remembered?: JsonObject
  /** Tags of the request where members of its body count as well; absent: those of the header alone. */
  readonly tags?: string | null
  /** The bytes of `parsed`. */
  readonly body: Buffer
  /** The request as a conversation; decoded when it is asked for. */
  readonly conversation: () => Either.Either<Conversation, InvalidRequest>
  /** Decodes it, and forgets it once it is sent. Absent: the conversation is not of the client's body. */
  readonly decoding?: Decoding
  readonly envelope: Envelope
  /** Most output tokens whatever the client allows; null where its own limit applies. */
  readonly outputCap: number | null
  readonly resolution: Resolution
  readonly question: Question
  readonly decision: Decided
  /** The session's id as the client gave it; null without one. */
  readonly sessionId: string | null
  /** Reservation of its key's limits; null for callers without limits. */
  readonly commitment: Commitment | null
  /** Prices of its calls: fixed when they are reserved. */
  readonly prices: FixedPrices
  /** Calls and events so far. */
  readonly trail: Trail
  readonly resumption?: Resumption
  /** Tokens of the prompt's texts; absent where they were not counted. */
  readonly textTokens?: number
  /** Bytes of the gateway's own files that were put in; absent: none. */
  readonly putInBytes?: number
  /** Budget for models that can think; absent: as the client asks. */
  readonly thinking?: ThinkingBudget
  /** The client has set no marks for a prompt cache, and those targets that need them are to have them. */
  readonly cacheMarks?: true
  /** Claude Code's own request, while nodes that take nothing else are on. */
  readonly ofClaudeCode?: true
  /** The coding tool that asks, while headers of such tools go on to their own providers. */
  readonly codingTool?: OwnRequests
  /** Handoff text for every account but the one it names. */
  readonly handoff?: Carried
  /** Plan of a web search that the client asks its provider for; absent: as the client asks, or not at all. */
  readonly webSearch?: SearchPlan<Work>
}
