/**
 * Makes the bytes that are sent to a decided target: wire, path, headers and body. The client's own wire is used
 * whenever the upstream knows it, so that the request can pass through untouched.
 */
import * as Either from "effect/Either"
import { ownerOf } from "../../subjects/proxies/entity.ts"
import type { Dialect, WireRule } from "../../contract/domain/Dialect.ts"
import { isForPicturesOnly, isForSearchesOnly } from "../../contract/domain/Provider.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { headerOf } from "../../subjects/auth/Credentials.ts"
import type { BodySource } from "../../net/egress/BodySource.ts"
import type { UpstreamRequest } from "../../net/egress/Upstream.ts"
import type { ModelFacts } from "../providers/Catalog.ts"
import { type UpstreamEndpoint, withQuery } from "../providers/Endpoints.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"
import { takesSystemBetween } from "../../wire/canonical/ModelFamily.ts"
import { codecs, encodeConversation, forOtherWires } from "../../wire/Codec.ts"
import { reasoningMember, wantsReasoningBack } from "../../wire/canonical/ReasoningHistory.ts"
import type { Response } from "../../wire/canonical/Response.ts"
import { madeUpMark } from "../../wire/responses/Ids.ts"
import type { CallIds, ToolNames } from "../../wire/canonical/tools/ToolAdaptation.ts"
import { isRefusedBy } from "../../wire/chat/Refusals.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { outlineOf } from "../../wire/json/outline/Outline.ts"
import { slicedFromBytes } from "../../wire/json/LargeBodies.ts"
import { bytesOfJson } from "../../wire/json/Utf8.ts"
import { withoutThinking } from "../../wire/NoThinking.ts"
import type { EncodedRequest, WireCodec } from "../../wire/WireCodec.ts"
import { type AttemptFailure, ownFailure } from "./AttemptResult.ts"
import { bytesOf } from "../request/BodyBytes.ts"
import { callHeaders } from "../request/CallHeaders.ts"
import { toolHeaders } from "../request/CodingTool.ts"
import { apiKeyIdOf, type Work } from "../request/Exchange.ts"
import { bodyWith, carriedTo, conversationWith } from "../request/AddedSystem.ts"
import { hasOwnSearch, searchesItself, searchWire } from "../request/SearchPlan.ts"
import { withThinking } from "../request/Thinking.ts"
import type { OpaqueState, Origin } from "../state/kept/OpaqueState.ts"
import { proofsIn, withoutForeignProofs } from "../state/kept/Proofs.ts"
import { lacksReasoning } from "../state/kept/ReasoningReplay.ts"
import { markedFor } from "./PromptCache.ts"
import { uploadBody } from "./UploadBody.ts"

type State = typeof OpaqueState.Service

export interface UpstreamCall {
  readonly request: UpstreamRequest
  /** Body, where it is still to be written. */
  readonly unwritten?: JsonObject
  readonly wire: WireName
  readonly codec: WireCodec
  /** The answer is relayed byte for byte. */
  readonly sameWire: boolean
  /** We asked for usage on our own account: the client must not see it. */
  readonly hideUsage: boolean
  /** Members of the request after this one, of a job that begins with an upload. */
  readonly next?: JsonObject
  readonly dropped: ReadonlyArray<string>
  /** Fields that were bent to what the target takes; absent for the client's own bytes. */
  readonly mapped?: ReadonlyArray<string>
  /** Dialect of the target. */
  readonly dialect: Dialect
  /** Names of tools that had to be changed for this target; null when the client's own were sent. */
  readonly toolNames: ToolNames | null
  /** Ids of calls that had to be changed for this target. */
  readonly callIds: CallIds | null
  /** Checks whether an answer holds all that was asked for; absent: one that can be decoded does. */
  readonly isComplete?: (response: Response) => boolean
}

/** The client's wire when the account speaks it, else the account's first one. */
const chooseWire = (work: Work, target: Target, offered: ReadonlyArray<WireName>): WireName | null => {
  const { exchange } = work
  const ruled = exchange.codec.peer === undefined ? wireByModel(work, target, offered) : null
  const searches =
    ruled !== null || work.webSearch === undefined ? null : searchWire(work.webSearch, target, offered, exchange.wire)
  return ruled ?? searches ?? (offered.includes(exchange.wire) ? exchange.wire : (offered[0] ?? null))
}

/**
 * Returns the request to a target where the client wants a web search: the client's own for a target that searches, or the one that leaves searches
 * to the gateway.
 */
export const searchedBy = (work: Work, target: Target): Work => {
  const { exchange, webSearch: plan } = work
  if (plan === undefined) return work
  const wire = chooseWire(work, target, target.account.wires)
  if (wire !== null && searchesItself(plan, target, wire, exchange.wire)) {
    plan.passed(target, wire !== exchange.wire && target.account.spec.dialect.webSearch === null)
    return work
  }
  return plan.left(work, target)
}

/**
 * Chooses the wire that the provider documents for this model: some of its endpoints do not take every model, or not
 * every request for it.
 */
const wireByModel = (
  { envelope, parsed }: Work,
  { account, model, suppressReasoning }: Target,
  offered: ReadonlyArray<WireName>
): WireName | null => {
  const off = suppressReasoning || parsed["reasoning_effort"] === "none"
  const fits = ({ models, when, wire }: WireRule): boolean =>
    offered.includes(wire) &&
    models.test(model) &&
    (when === "always" || (envelope.hasTools && !off && (when === "tools_unless_off" || envelope.wantsReasoning)))
  return account.spec.dialect.wireRules.find(fits)?.wire ?? null
}

/** Names the answering model, for content that is bound to its maker. */
export const originOf = ({ account, model }: Target, wire: WireName): Origin => ({
  wire,
  provider: account.spec.id,
  connectionId: account.connection.id,
  model
})

/** Route to a target: its wire, and whether the client's own bytes can go there. */
export interface Way {
  readonly target: Target
  readonly endpoint: UpstreamEndpoint
  readonly codec: WireCodec
  readonly sameWire: boolean
  /** The request goes as the client wrote it. */
  readonly relays: boolean
  /** The upstream wants its reasoning back, and its own wire's clients leave it out. */
  readonly replays: boolean
}

/** The beta that lets system messages are between turns of a model that nothing is known of. */
const systemBeta = "mid-conversation-system"

/**
 * Beta with which a budget spans the thinking of a whole turn
 * (https://platform.claude.com/docs/en/build-with-claude/extended-thinking).
 */
const interleavedBeta = "interleaved-thinking"

const asksForBeta = ({ exchange }: Work, beta: string): boolean =>
  exchange.wire === "messages" && headerOf(exchange.headers, "anthropic-beta")?.includes(beta) === true

/**
 * Checks whether a messages upstream may be sent system messages between turns, by its model or by the betas that its
 * own client asked for.
 */
const keepsSystemBetween = (work: Work, { model }: Target): boolean =>
  takesSystemBetween(model) ?? asksForBeta(work, systemBeta)

/** No candidate: what such a client says of itself is not said for another. */
const notClaudeCode = (name: string): Either.Either<never, AttemptFailure> =>
  Either.left(
    ownFailure(
      400,
      "not_offered",
      `${name} takes only Claude Code's own requests, and only while the flag ENABLE_CC_COMPATIBLE_PROVIDER is on.`
    )
  )

export const wayTo = (work: Work, target: Target, state: State): Either.Either<Way, AttemptFailure> => {
  const { envelope, exchange, owner } = work
  const { account, model } = target
  const { endpoint: kind, name: ownWire, needsOwnEndpoint, peer } = exchange.codec
  if (account.spec.onlyFor !== undefined && work.ofClaudeCode !== true) return notClaudeCode(account.spec.name)
  const service = kind === undefined ? undefined : account.spec.media[kind]
  const atOwnEndpoint = needsOwnEndpoint?.(work.parsed) === true
  const codecFor = (offered: WireName): WireCodec | null =>
    atOwnEndpoint && offered === ownWire
      ? exchange.codec
      : peer === undefined
        ? codecs[offered]
        : peer(service?.wire ?? offered, work.parsed, service?.adapter ?? null)
  const wires = peer === undefined ? account.wires : account.wires.filter((offered) => codecFor(offered) !== null)
  const wire = chooseWire(work, target, wires)
  const endpoint = wire === null ? undefined : account.endpoints[wire]
  const codec = wire === null ? null : codecFor(wire)
  const isOfOtherKind =
    (kind !== "search" && isForSearchesOnly(account.spec)) ||
    (kind !== "images" && isForPicturesOnly(account.spec) && service === undefined)
  if (wire === null || endpoint === undefined || codec === null || isOfOtherKind) {
    return Either.left(
      account.wires.length === 0
        ? ownFailure(502, "no_common_wire", `${account.spec.name} speaks no wire this gateway can translate to.`)
        : ownFailure(400, "not_offered", `${account.spec.name} has no endpoint for this kind of request.`)
    )
  }
  // A wire may have a second dialect with another codec: it is translated like any other.
  const sameWire = codec === exchange.codec
  const { dialect } = account.spec
  const replays = wire === "chat" && wantsReasoningBack(model, dialect)
  const rewritten =
    envelope.needsRewrite ||
    work.thinking !== undefined ||
    (envelope.systemBetween === true && !keepsSystemBetween(work, target)) ||
    (wire === "chat" && isRefusedBy(dialect, outlineOf(work.parsed))) ||
    (envelope.budgetAboveLimit === true && !asksForBeta(work, interleavedBeta)) ||
    (work.outputCap !== null && (envelope.maxOutputTokens ?? Number.POSITIVE_INFINITY) > work.outputCap) ||
    (replays && lacksReasoning(work.parsed)) ||
    (wire === "responses" && work.parsed !== work.asked && work.body.includes(madeUpMark)) ||
    (state.holdsProofs() &&
      proofsIn(wire, work.body).some((proof) => state.isForeign(owner, originOf(target, wire), proof)))
  return Either.right({ target, endpoint, codec, sameWire, relays: sameWire && !rewritten, replays })
}

/** The path of the endpoint that the codec is for: a wire's second one is beside its first. */
const pathFor = ({ name, upstreamPath }: WireCodec, path: string): string => {
  const { upstreamPath: first } = codecs[name]
  return upstreamPath !== first && path.endsWith(first) ? path.slice(0, -first.length) + upstreamPath : path
}

const requestTo = (
  work: Work,
  { codec, endpoint, sameWire, target }: Way,
  body: Buffer | string | BodySource,
  { method = "POST", place: ownPlace }: Pick<EncodedRequest, "method" | "place"> = {},
  contentType = codec.requestContentType
): UpstreamRequest => {
  const { stream } = work.envelope
  const { headers: clientHeaders, wire } = work.exchange
  // They speak about a body in the tool's own wire.
  const own = sameWire ? toolHeaders(work.codingTool ?? null, target.account.spec) : null
  const headers = callHeaders(endpoint.headers, clientHeaders, sameWire ? wire : null, own)
  const isGet = method === "GET"
  if (!isGet) headers.push("content-type", contentType)
  headers.push(
    "accept",
    // Of the wire itself: a client's dialect of it may have another form of a stream.
    stream && codec.answersWhole !== true
      ? codecs[codec.name].streamContentType
      : codec.relaysMedia === true
        ? "*/*"
        : "application/json",
    // Answers are watched as they pass: compressed ones would have to be unpacked first.
    "accept-encoding",
    "identity"
  )
  const { model } = target
  const place = codec.endpoint === undefined ? null : endpoint.media(codec.endpoint, { model, ...ownPlace?.values })
  return {
    origin: place?.origin ?? endpoint.origin,
    path: withQuery(place?.path ?? pathFor(codec, endpoint.path(model, stream)), ownPlace?.query ?? ""),
    method,
    headers,
    body: isGet ? null : body,
    secrets: endpoint.secrets,
    owner: ownerOf(target.account.connection, apiKeyIdOf(work.exchange))
  }
}

/** Returns the request for this target: the client's, or the same without the wish to reason. */
const questionFor = (work: Work, { target }: Way): Pick<Work, "parsed" | "body" | "conversation"> => {
  if (!target.suppressReasoning) return work
  const parsed = withoutThinking(work.exchange.wire, work.parsed, target.model)
  return {
    parsed,
    body: bytesOf(work.exchange, parsed),
    conversation: () => work.exchange.codec.decodeRequest(parsed)
  }
}

/** The request as the client wrote it, with what the conversation takes along, and marks for the prompt cache. */
const relayedQuestion = (work: Work, way: Way): Pick<Work, "parsed" | "body"> => {
  const question = questionFor(work, way)
  const carried = carriedTo(work, way.target)
  const complete = carried === null ? question.parsed : bodyWith(way.codec.name, question.parsed, carried)
  const parsed = markedFor(work, way.target, way.codec, complete)
  return parsed === question.parsed ? question : { parsed, body: bytesOf(work.exchange, parsed) }
}

/** The client's own bytes. */
export const relayedCall = (work: Work, way: Way): UpstreamCall => {
  const { body, parsed } = relayedQuestion(work, way)
  const { dialect } = way.target.account.spec
  const relay = way.codec.relayRequest(body, parsed, way.target.model, work.envelope, dialect)
  return {
    request: requestTo(work, way, relay.body),
    wire: way.codec.name,
    codec: way.codec,
    sameWire: true,
    hideUsage: relay.hideUsage,
    dropped: [],
    dialect,
    toolNames: null,
    callIds: null
  }
}

const capped = (conversation: Conversation, cap: number | null): Conversation =>
  cap === null ? conversation : { ...conversation, maxOutputTokens: Math.min(conversation.maxOutputTokens ?? cap, cap) }

/** Chat servers have one member for it, or none. */
const takesOwnReasoning = ({ codec, target }: Way): boolean =>
  codec.name !== "chat" || reasoningMember(target.model, target.account.spec.dialect) !== null

/** The conversation as this target may see it: with what it said itself and the client could not carry, without others' proofs. */
export const conversationFor = (work: Work, way: Way, state: State): Either.Either<Conversation, AttemptFailure> => {
  const origin = originOf(way.target, way.codec.name)
  return Either.mapBoth(questionFor(work, way).conversation(), {
    onLeft: (invalid) => ownFailure(400, "request_not_translatable", invalid.message),
    onRight: (decoded) => {
      const client = work.exchange.codec
      const conversation = way.codec.name === client.name ? decoded : forOtherWires(client, decoded)
      const whole = takesOwnReasoning(way) ? state.attach(work.owner, origin, conversation) : conversation
      const own = capped(whole, work.outputCap)
      const carried = carriedTo(work, way.target)
      const complete = carried === null ? own : conversationWith(own, carried)
      return state.holdsProofs()
        ? withoutForeignProofs(complete, (proof) => state.isForeign(work.owner, origin, proof))
        : complete
    }
  })
}

const suppressed = ({ codec, target }: Way, body: JsonObject): JsonObject =>
  target.suppressReasoning ? withoutThinking(codec.name, body, target.model) : body

/** Other endpoints than the maker's own refuse the role whatever the model; there its own client decides. */
const takesSystem = (work: Work, { codec, sameWire, target }: Way): boolean =>
  codec.name === "messages" && (sameWire || target.account.spec.systemBetween) && keepsSystemBetween(work, target)

const thinkingAs = (
  { thinking }: Work,
  { target }: Way,
  conversation: Conversation,
  { reasoning }: ModelFacts
): Conversation =>
  thinking === undefined || target.suppressReasoning ? conversation : withThinking(thinking, conversation, reasoning)

const noFile = ownFailure(400, "request_not_translatable", "The request names a file that did not come with it.")

/**
 * Makes the boundary of a form. Its first bytes are drawn by the gateway when the request comes: the client's content
 * cannot hold it.
 */
const boundaryOf = ({ exchange }: Work): string => `gateway-${exchange.requestId}`

/** Checks whether the steps of a request have to be taken one by one, because each takes its time. */
export const isLarge = ({ body }: Pick<Work, "body">): boolean => body.length >= slicedFromBytes

/** Builds the request to send, with the files that go with it. */
const encodedRequest = (
  work: Work,
  way: Way,
  encoded: EncodedRequest
): Either.Either<Pick<UpstreamCall, "request" | "unwritten">, AttemptFailure> => {
  const { body, payload } = encoded
  // A wire may reason by default unless the request turns that off.
  if (payload === undefined) {
    const asked = markedFor(work, way.target, way.codec, suppressed(way, body))
    // A large one is written later, in slices.
    const text = isLarge(work) ? "" : bytesOfJson(asked)
    return Either.right({
      request: requestTo(work, way, text, encoded),
      ...(isLarge(work) ? { unwritten: asked } : {})
    })
  }
  const made = uploadBody(payload, work.exchange.uploads ?? [], boundaryOf(work))
  return made === null
    ? Either.left(noFile)
    : Either.right({ request: requestTo(work, way, made.body, encoded, made.contentType) })
}

const completeFor = ({ isComplete }: WireCodec, conversation: Conversation): Pick<UpstreamCall, "isComplete"> =>
  isComplete === undefined ? {} : { isComplete: (response) => isComplete(response, conversation) }

/** The conversation in the words of the target. */
export const translatedCall = (
  work: Work,
  way: Way,
  conversation: Conversation,
  facts: ModelFacts
): Either.Either<UpstreamCall, AttemptFailure> =>
  encodeConversation(work.exchange.codec, way.codec, thinkingAs(work, way, conversation, facts), {
    model: way.target.model,
    stream: work.envelope.stream,
    ...(way.target.account.spec.openAiTools ? { openAiTools: true } : {}),
    ...(takesSystem(work, way) ? { systemBetween: true } : {}),
    ...(work.webSearch !== undefined && hasOwnSearch(work.webSearch, way.target, way.codec.name)
      ? { ownSearch: true }
      : {}),
    dialect: way.target.account.spec.dialect,
    unique: work.exchange.requestId,
    ...facts
  }).pipe(
    Either.mapLeft((invalid) => ownFailure(400, "request_not_translatable", invalid.message)),
    Either.flatMap((encoded) =>
      Either.map(encodedRequest(work, way, encoded), (sent) => ({
        ...sent,
        wire: way.codec.name,
        codec: way.codec,
        sameWire: way.sameWire,
        hideUsage: !work.envelope.wantsUsage,
        dropped: encoded.dropped,
        mapped: encoded.mapped,
        ...(encoded.next === undefined ? {} : { next: encoded.next }),
        dialect: way.target.account.spec.dialect,
        toolNames: encoded.toolNames ?? null,
        callIds: encoded.callIds ?? null,
        ...completeFor(way.codec, conversation)
      }))
    )
  )
