/**
 * The interface of a wire: a record of plain synchronous functions. The pipeline takes the client's codec and the upstream's codec
 * from the registry (`Codec.ts`) and knows no format itself.
 */
import type * as Either from "effect/Either"
import type { Dialect } from "../contract/domain/Dialect.ts"
import type { ErrorView, InvalidRequest } from "../contract/domain/Errors.ts"
import type { MediaAdapter, ServiceKind } from "../contract/domain/MediaKind.ts"
import type { WireName } from "../contract/domain/Wire.ts"
import type { CarriesPicture } from "./canonical/Pictures.ts"
import type { Conversation } from "./canonical/Conversation.ts"
import type { ReadBlock } from "./canonical/ForeignContent.ts"
import type { StreamEvent, UpstreamProblem } from "./canonical/Event.ts"
import type { Response, Stop } from "./canonical/Response.ts"
import type { CallIds, ToolLimits, ToolNames } from "./canonical/tools/ToolAdaptation.ts"
import type { Usage } from "./canonical/Usage.ts"
import type { JsonObject } from "./json/Json.ts"
import type { OutlineRules } from "./json/outline/Outline.ts"
import type { Misspelt } from "./json/Spelling.ts"
import type { PolledJob } from "./PolledJob.ts"

/** Members of a request that the hot path needs without decoding it. */
export interface Envelope {
  readonly model: string
  readonly stream: boolean
  /** The client gets usage in its stream: it asked for it, or its wire always sends it. */
  readonly wantsUsage: boolean
  readonly messageCount: number
  readonly hasTools: boolean
  /** True when there is an image in the messages. */
  readonly hasImages: boolean
  /** Reasoning was asked for. */
  readonly wantsReasoning: boolean
  /** A JSON schema for the answer was given. */
  readonly wantsSchema: boolean
  /** The client's own output limit in tokens; null when it set none. */
  readonly maxOutputTokens: number | null
  /** Requested answers (`n`). */
  readonly candidates: number
  /**
   * The body holds something that a strict upstream of the same wire refuses (reasoning that was not signed by a provider of this
   * wire): do not relay its bytes, use `decodeRequest` and `encodeRequest`.
   */
  readonly needsRewrite: boolean
  /** True when, on the messages wire, there is a system message between turns, which not every model accepts. */
  readonly systemBetween?: boolean
  /**
   * True when, on the messages wire, the thinking budget is not below the output limit, which is refused without the
   * beta for it.
   */
  readonly budgetAboveLimit?: boolean
}

/** Texts of a request that holds nothing else, as its decoded messages have them, in their order. */
export interface PlainPrompt {
  readonly texts: ReadonlyArray<string>
  readonly messageCount: number
  /** Places of the texts of the user's last message: from the first, before the second. */
  readonly userFrom: number
  readonly userTo: number
}

export interface EncodeOptions {
  /** The upstream's model id. */
  readonly model: string
  readonly stream: boolean
  /** The model's own output limit in tokens, for wires that must send one; null when not known. */
  readonly maxOutputTokens: number | null
  /**
   * True when the model can reason; null when unknown (then the request's setting is sent, except a mere permission to
   * reason).
   */
  readonly reasoning: boolean | null
  /**
   * True when the endpoint supports OpenAI's own kinds of tools and tool choice (`custom`, `allowed_tools`). Null or absent when
   * unknown: a chat upstream then gets what every chat upstream supports, a responses upstream what its wire defines.
   */
  readonly openAiTools?: boolean | null
  /** The model accepts system messages between turns on the messages wire; absent: it does not, or that is unknown. */
  readonly systemBetween?: boolean
  /** Deviations of the endpoint from its wire; absent when none is known. */
  readonly dialect?: Dialect
  /** The endpoint has a search of the web of its own, which the client's is offered as; absent: it has none, or that is unknown. */
  readonly ownSearch?: true
  /** Differs between requests, for providers that answer the same request but once. */
  readonly unique?: string
}

export interface EncodedRequest {
  readonly body: JsonObject
  /** Fields of the client's request that the target cannot express, by the client's names (`X-Gateway-Dropped`). No duplicates. */
  readonly dropped: ReadonlyArray<string>
  /** Fields that hold the conversation and have no place at the target: it cannot be asked. */
  readonly lost?: ReadonlyArray<string>
  /** Fields that were adjusted to the target's limits (temperature, thinking budget). */
  readonly mapped: ReadonlyArray<string>
  /** The client's own tools where the upstream got another name or form; the answer needs them (`EncodeContext`). */
  readonly toolNames?: ToolNames
  /** The client's own ids of calls where the upstream got another one. */
  readonly callIds?: CallIds
  /** Values for the braces of the request's path, and its query. */
  readonly place?: { readonly values: Readonly<Record<string, string>>; readonly query: string }
  /** HTTP method; absent: `POST`. With `GET` the address holds the whole request, and `body` is not sent. */
  readonly method?: "GET" | "POST"
  /** Payload sent instead of `body`, where files that came with the request go with it. */
  readonly payload?: Payload
  /** Members of the request that a job begins with, where this one only uploads before it; handed to `PolledJob.submitted`. */
  readonly next?: JsonObject
}

/** A file that came with the request, by its place among them. */
export interface UploadPiece {
  readonly upload: number
  readonly as: "bytes" | "base64"
}

/** A part of a form: a text, or a file with what is said of it. */
export type FormPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly upload: number; readonly filename: string; readonly contentType: string }

/** A body with files in it. It is made anew for each call, as the upstream takes it. */
export type Payload =
  | { readonly type: "form"; readonly parts: ReadonlyArray<FormPart> }
  | { readonly type: "pieces"; readonly contentType: string; readonly pieces: ReadonlyArray<string | UploadPiece> }

/** A whole answer that is not JSON. */
export interface TextAnswer {
  readonly type: string
  readonly body: string
}

/** The bytes to send to a same-wire upstream. */
export interface RelayRequest {
  readonly body: Buffer
  /** The usage event was requested by the gateway, not by the client: the tap must remove it from the client's stream. */
  readonly hideUsage: boolean
}

/** Facts that encoders need and that the upstream may not have sent. */
export interface EncodeContext {
  /** Epoch milliseconds of the answer. */
  readonly nowMs: number
  /** Id to use when the upstream gave none. */
  readonly fallbackId: string
  /** Model to show when the upstream named none. */
  readonly model: string
  /** Show usage in the stream (`Envelope.wantsUsage`). */
  readonly wantsUsage: boolean
  /** Milliseconds since the request arrived, at the time of the call; without it wires that report durations leave them out. */
  readonly elapsedMs?: () => number
  /** The gateway's own address as the client used it, for answers that point at it; empty or absent: unknown. */
  readonly ownAddress?: () => string
  /** The client's request, for wires whose answers repeat its settings and its own names of tools. */
  readonly request?: JsonObject
  /**
   * Tool names of the `EncodedRequest`. Used by `makeStreamTranslator` and `encodeAnswer`, not by encoders, which get answers that
   * already name the client's own tools.
   */
  readonly toolNames?: ToolNames
  readonly callIds?: CallIds
}

/** The state of a relayed stream; the same for a tap and a translator. Read it after each `push`. */
export interface StreamFacts {
  /** Events so far, without comments. Rises as long as the upstream sends. */
  readonly events: number
  /** Text, reasoning, refusal or a tool call has begun. */
  readonly content: boolean
  readonly stop: Stop | null
  /** The finish reason was read, but is reported only at the end of the stream, because the wire has no end mark. */
  readonly stopRead?: boolean
  /** The wire's end mark was seen. With `stop` it makes a success. */
  readonly terminated: boolean
  /** Merged reports of the upstream; null when it sent none. */
  readonly usage: Usage | null
  /** The upstream reported a failure inside the stream, or its stream cannot be read. */
  readonly problem: UpstreamProblem | null
  /** Characters so far, for the estimate of an aborted stream. */
  readonly textChars: number
  readonly toolArgChars: number
  readonly reasoningChars: number
}

/** A watched same-wire relay. */
export interface StreamTap {
  readonly facts: StreamFacts
  /**
   * The bytes to send to the client now: `chunk` itself in the common case, an empty buffer when there is nothing to send yet. Only
   * complete events pass. Withheld: a success terminator without a stop reason, the usage event when hidden, and the upstream's error
   * event with all that follows it (the relay writes one error event for every kind of failure).
   */
  readonly push: (chunk: Buffer) => Buffer
  /** Call when the upstream's stream has ended: returns the rest of the last event if it is complete. */
  readonly end: () => Buffer
}

export interface TapOptions {
  readonly hideUsage: boolean
  /** The client's own name of the model, for a wire whose clients check it in the answer; absent: the upstream's is kept. */
  readonly model?: string
  /** The client's request, for codecs whose streams are as long as it asks. */
  readonly request?: JsonObject
  /** Dialect of the upstream. */
  readonly dialect?: Dialect
}

/** Bytes of an upstream's stream → canonical events. */
export interface StreamDecoder {
  readonly push: (chunk: Buffer) => ReadonlyArray<StreamEvent>
  /** Call when the upstream's stream has ended. Emits `done` when only the end mark was missing, `error` when the answer is incomplete. */
  readonly end: () => ReadonlyArray<StreamEvent>
  /**
   * Returns whether, on a wire without an end mark, the finish reason was read and only the end of the stream is
   * missing.
   */
  readonly stopRead?: () => boolean
}

/** Canonical events → text of the client's stream. Writes no end mark before `done`, and nothing after `done` or `error`. */
export interface StreamEncoder {
  readonly encode: (event: StreamEvent) => string
}

/** Facts of a non-streamed answer of the same wire for its usage row. */
export interface AnswerFacts {
  readonly usage: Usage | null
  readonly stop: Stop | null
  readonly hasContent: boolean
  readonly textChars: number
  readonly toolArgChars: number
  readonly reasoningChars: number
}

/** Milliseconds are those of the settings' timeouts of the same names; they can only shorten them. */
export interface AnswerLimits {
  readonly answerBytes: number
  readonly firstByteMs: number
  readonly idleMs: number
  /** Time limit of the whole request, in ms. */
  readonly totalMs: number
}

/** The error and headers that tell a client that a limit is used up. */
export interface UsedUpLimit {
  readonly view: ErrorView
  /** More headers of the answer, as a flat name–value list. */
  readonly headers: ReadonlyArray<string>
}

export interface WireCodec {
  readonly name: WireName
  /** Path below an upstream's base URL. */
  readonly upstreamPath: string
  /** Endpoint, of the gateway or of an upstream, that this codec is for; absent: conversations. */
  readonly endpoint?: ServiceKind
  /**
   * Finds, for a client's codec of another endpoint than the conversation's, the codec that sends `body` to an upstream of a wire, or of
   * a form of its own; null where that is not possible. Absent: the registry's codec of that wire.
   */
  readonly peer?: (wire: WireName, body: JsonObject, adapter: MediaAdapter | null) => WireCodec | null
  /** An upstream's codec: the requests that make up one which is too large for it; null or absent: it goes as it is. */
  readonly partsOf?: (conversation: Conversation) => ReadonlyArray<Conversation> | null
  /** An upstream's codec that takes texts where a client may send token ids: the lists of ids, and the request with their texts. */
  readonly inTexts?: {
    readonly tokensOf: (conversation: Conversation) => ReadonlyArray<ReadonlyArray<number>> | null
    readonly withTexts: (conversation: Conversation, texts: ReadonlyArray<string>) => Conversation
  }
  /** An upstream's codec: whether the answer holds all that was asked for; absent: one that can be decoded does. */
  readonly isComplete?: (response: Response, conversation: Conversation) => boolean
  /** A client's codec: one answer of those to the parts, in their order. */
  readonly join?: (first: Response, others: ReadonlyArray<Response>) => Response
  /**
   * Readers, in a client's codec, of whole answers or events that are still being made at the provider without a
   * waiting client, or were ended there.
   */
  readonly underWay?: {
    readonly idIn: (body: JsonObject) => string | null
    readonly inAnswer: (body: JsonObject) => { readonly id: string; readonly isOpen: boolean } | null
    readonly inEvents: (bytes: Buffer | string) => { readonly id: string; readonly isOpen: boolean } | null
  }
  /** An upstream's codec of an endpoint that takes requests as jobs: how they are asked about. */
  readonly job?: PolledJob
  /** An upstream's codec whose answers are not JSON: they are relayed as they come. */
  readonly relaysMedia?: true
  /** An upstream's codec: what its answers may take, where that is less than what conversations may. */
  readonly limits?: AnswerLimits
  /** True for an upstream's codec without streams: a client that asks for one gets the whole answer as a stream. */
  readonly answersWhole?: true
  /** Usage for the bill from a client's request, beside tokens; all of it where the answer is relayed. */
  readonly mediaUsage?: (request: JsonObject) => Usage
  /** Usage for the bill from an answer, with the facts that only the client's request has. */
  readonly billedUsage?: (usage: Usage, request: JsonObject) => Usage
  /** A client's codec: whether an answer in its own form is in the one that the request asks for; absent: it is relayed in any case. */
  readonly isAsAsked?: (answer: JsonObject, request: JsonObject) => boolean
  /**
   * A client's codec of an endpoint whose upstreams' codecs do not read its own form: whether this is a whole answer in it. Absent: where
   * `readAnswer` and `decodeResponse` read one.
   */
  readonly isOwnAnswer?: (answer: JsonObject) => boolean
  /** A client's codec: costs nothing, whatever a price list says of the model. */
  readonly isFree?: true
  /** True when `mediaUsage` is an estimate, for answers without usage. */
  readonly estimatesUsage?: true
  /** A client's codec: addresses in an answer that have to be fetched for the client, and the answer with what was fetched. */
  readonly linked?: {
    readonly linksIn: (response: Response, request: JsonObject) => ReadonlyArray<string>
    readonly filledWith: (response: Response, fetched: ReadonlyMap<string, Buffer>) => Response
  }
  readonly requestContentType: string
  readonly streamContentType: string
  /** Ends a complete stream: written for an upstream that sent a stop reason but no end mark. May be empty. */
  readonly endMark: string
  /** Keeps a silent stream open between two events and is ignored by its reader; empty where the wire has no such thing. */
  readonly heartbeat: string
  /** Tools and call ids that upstreams of this wire accept. */
  readonly toolLimits: ToolLimits
  /** The largest `n` a request may ask for. */
  readonly maxCandidates: number
  /** Checks whether an answer can hold such an image; absent: it holds none. */
  readonly carriesPicture?: CarriesPicture
  /** Answers can tell of searches of the web, and of what was found. */
  readonly carriesSearch?: true

  /** Hot: checks a request that is relayed as it is. O(messages), no copy. */
  /** The first member that programs could read in two ways; null when there is none. */
  readonly misspelt: (body: JsonObject) => Misspelt | null
  /** Rules of the outlines of its large bodies, of which `misspelt` and `checkEnvelope` say the same. Absent: it has none. */
  readonly outline?: OutlineRules
  readonly checkEnvelope: (body: unknown) => Either.Either<Envelope, InvalidRequest>
  /** The client's own bytes with another model (and, where the wire needs it, a request for usage); nothing else is changed. */
  readonly relayRequest: (
    raw: Buffer,
    parsed: JsonObject,
    model: string,
    envelope: Envelope,
    dialect?: Dialect
  ) => RelayRequest

  readonly decodeRequest: (body: JsonObject) => Either.Either<Conversation, InvalidRequest>
  /** A client's codec: what the blocks say that only its wire has. */
  readonly blockTexts?: ReadBlock
  /** A client's codec: members of the request that stand for a part of the conversation. */
  readonly references?: ReadonlyArray<string>
  /**
   * A client's codec of a second endpoint for conversations: whether upstreams of its wire are asked there, too (at `upstreamPath`), because the
   * first endpoint cannot be asked this. Absent: never.
   */
  readonly needsOwnEndpoint?: (body: JsonObject) => boolean
  /** A client's codec: a decoded request for another wire, with what is in places of this wire alone where all wires have it. */
  readonly forOthers?: (conversation: Conversation) => Conversation
  /**
   * Hot: reads the texts of a plain request. Null where it may hold more than text, or may be wrong: then only
   * `decodeRequest` knows.
   */
  readonly plainPrompt?: (body: JsonObject) => PlainPrompt | null
  readonly encodeRequest: (conversation: Conversation, options: EncodeOptions) => EncodedRequest

  /** Left: the 200 is not an answer of this wire (an error object, no choices, no stop reason …). */
  readonly decodeResponse: (body: JsonObject, dialect?: Dialect) => Either.Either<Response, UpstreamProblem>
  readonly encodeResponse: (response: Response, context: EncodeContext) => JsonObject
  /** A client's codec: the answer where the client asked for one that is not JSON; null where it did not. */
  readonly encodeText?: (response: Response, context: EncodeContext) => TextAnswer | null
  readonly readAnswer: (body: JsonObject, dialect?: Dialect) => AnswerFacts

  readonly makeStreamDecoder: (dialect?: Dialect) => StreamDecoder
  readonly makeStreamEncoder: (context: EncodeContext) => StreamEncoder
  readonly makeStreamTap: (options: TapOptions) => StreamTap

  readonly renderError: (view: ErrorView, requestId: string) => JsonObject
  /**
   * The refusal by a limit of the key that is used up until a time, as the client's program stops on it and shows its words. `headers`: the client's, by
   * lower-case names. Absent: every program of the wire does with the error as it is.
   */
  readonly usedUpLimit?: (
    view: ErrorView,
    headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  ) => UsedUpLimit
  /** Status of the error answer where the wire has its own for this failure; absent: the failure's. */
  readonly errorStatus?: (view: ErrorView) => number
  /** The text of an error event inside a stream that has begun. No success terminator follows it. */
  readonly renderStreamError: (view: ErrorView, requestId: string) => string
  /** The body of an error answer as that event, in a stream of which nothing has been said. Absent where the wire has no signs of life. */
  readonly errorBodyInStream?: (body: JsonObject) => string
  /**
   * The whole text of a stream that reports a kind of failure which this wire's providers report inside a stream. Null or absent where
   * they use an error status.
   */
  readonly renderFailedStream?: (view: ErrorView, requestId: string, context: EncodeContext) => string | null
  readonly readUpstreamError: (status: number, bodyText: string) => UpstreamProblem
}
