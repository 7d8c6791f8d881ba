/**
 * The first steps of a request: read the body, check it, resolve the model id, decide. Plain functions on ready state; a request either becomes
 * `Work`, is answered at once, or is refused.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { Mutable } from "effect/Types"
import { headerOf } from "../../subjects/auth/Credentials.ts"
import { isTiedToModels } from "../../subjects/auth/KeyPolicy.ts"
import {
  type InferenceError,
  InvalidRequest,
  NoTarget,
  PreviousResponseNotFound
} from "../../contract/domain/Errors.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { maxModelChars } from "../../contract/domain/Provider.ts"
import type { Resolution } from "../routing/resolve/ModelResolver.ts"
import * as Resolutions from "../routing/resolve/Resolutions.ts"
import * as Engine from "../routing/decide/Engine.ts"
import { permitted } from "../routing/decide/Refusals.ts"
import { startsPrompt } from "../routing/decide/SessionAffinity.ts"
import { sessionIdOf, sessionKeyOf } from "../routing/decide/SessionKey.ts"
import { tagsHeader, tagsIn, tagsOfBody, tagsOnFile, withTags } from "../../contract/domain/Tags.ts"
import { invalidField } from "../../wire/json/FieldReader.ts"
import { type Json, type JsonObject } from "../../wire/json/Json.ts"
import { itemsIn, makeReadOutlined, outlineOf, type ReadOutlined } from "../../wire/json/outline/Outline.ts"
import { inOwnForm, type OwnForm } from "../../wire/ClientForm.ts"
import { codecs } from "../../wire/Codec.ts"
import type { Envelope } from "../../wire/WireCodec.ts"
import type { Commitment } from "../ledger/Commitment.ts"
import type { Admitted } from "../ledger/KeyLimits.ts"
import { Later } from "../../kernel/Later.ts"
import * as IdGen from "../../platform/IdGen.ts"
import { Admission } from "./Admission.ts"
import { isBackground } from "./Background.ts"
import { bytesOf } from "./BodyBytes.ts"
import { apiKeyIdOf, type Exchange, type Work } from "./Exchange.ts"
import { codingToolOf, isClaudeCode } from "./CodingTool.ts"
import { Decoding } from "./Decoding.ts"
import { promptAround } from "./AddedSystem.ts"
import { readRequest } from "./ReadBody.ts"
import { backgroundFor, resolveFor } from "./RequestedModel.ts"
import { featuresOf } from "./RequestFeatures.ts"
import { mayRepeatModel, withOneModel } from "./NamedModels.ts"
import { FixedPrices } from "./FixedPrices.ts"
import { Trail } from "./Trail.ts"
import * as ResponseStore from "../state/kept/ResponseStore.ts"

/** An answer that needs no model. */
export interface Ready {
  readonly _tag: "Ready"
  readonly body: JsonObject
}

/** A request that only asks for its number of tokens. */
export interface Count {
  readonly _tag: "Count"
  readonly exchange: Exchange
  readonly parsed: JsonObject
}

/** A request that was read and checked, and asks a model. */
export interface Read {
  readonly exchange: Exchange
  /** Fields that were taken out of the body. */
  readonly leftOut: ReadonlyArray<string>
  /** Body, with the members that its wire has in the path. */
  readonly parsed: JsonObject
  readonly envelope: Envelope
}

/** Outcome of opening a request. */
export type Opened = Work | InferenceError | Ready | Count

export class Opening extends Context.Tag("gateway/plane/request/Opening")<
  Opening,
  {
    /** Hot: opens a request: `enter` of its reading. */
    readonly open: (asked: Exchange) => Opened | Later<Opened>
    /** Hot: reads and checks its body. */
    readonly read: (asked: Exchange) => Read | InferenceError | Ready | Count
    /** Reserves from the key's limits, where that has to be known before the request is decided. */
    readonly admit: (read: Read) => Admitted | Later<Admitted>
    /** Hot: resolves, decides and admits. Draws the turn of its strategy, where it goes on. */
    readonly enter: (read: Read) => Work | InferenceError | Later<Opened>
    /** The same for a request that was admitted before. */
    readonly decide: (read: Read, admitted: Commitment | null) => Work | InferenceError
  }
>() {}

const nothing: ReadonlyArray<string> = []

/** A header that holds a number: a longer one is a mistake. */
const maxNumberChars = 256

const wrongBudget = (header: string | null): InvalidRequest | null =>
  header === null || header.length <= maxNumberChars
    ? null
    : invalidField("X-Gateway-Budget", `longer than ${maxNumberChars} characters, the limit of a number in a header`)

const wrongTags = (header: string | null): InvalidRequest | null => {
  const found = header === null ? null : tagsIn(header)
  return found !== null && "problem" in found ? invalidField("X-Gateway-Tags", found.problem) : null
}

/** No provider has names of such length, and a name is in every record of a request. */
const longModel = (model: Json | undefined): InvalidRequest | null =>
  typeof model !== "string" || model.length <= maxModelChars
    ? null
    : invalidField("model", `longer than ${maxModelChars} characters, the limit`)

/**
 * The body with the whole conversation in it where an earlier answer, or items of one, are referred to. An id that is not known here may be the
 * upstream's own; one that speaks another wire has none.
 */
const continuation = (
  responses: typeof ResponseStore.ResponseStore.Service,
  owner: string,
  parsed: JsonObject,
  { targets }: Resolution
): JsonObject | PreviousResponseNotFound => {
  const referred = responses.referred(owner, parsed)
  const expanded = responses.expand(owner, referred)
  if (expanded !== "unknown") return expanded
  return targets.some(({ account }) => account.wires.includes("responses"))
    ? referred
    : new PreviousResponseNotFound({ responseId: String(parsed["previous_response_id"]) })
}

/** The request of a key that may use some models only: `model` is all that is said of models. */
const restricted = (
  exchange: Exchange,
  said: JsonObject
): Pick<Read, "exchange" | "leftOut"> & { readonly read: JsonObject } => {
  const { body: read, dropped } = withOneModel(said, exchange.fromPath?.["model"] !== undefined)
  const isWritten = dropped.length > 0 || mayRepeatModel(exchange.body)
  const body = isWritten ? Buffer.from(JSON.stringify(read)) : exchange.body
  return { exchange: { ...exchange, body }, leftOut: dropped, read }
}

/** Marks of the client are left as they are; a conversation is the only request that has any. */
const mayBeMarked = ({ body, codec, wire }: Exchange): boolean =>
  codec === codecs[wire] && !body.includes('"cache_control"') && !body.includes('"prompt_cache_breakpoint"')

const gone = "the connection that its job was submitted to is no longer one of its targets"

/** A job that was accepted is gone on with where it is; null when that is no longer a target. */
const atConnectionOf = ({ job }: Exchange, resolution: Resolution): Resolution | null => {
  const accepted = job?.accepted ?? null
  if (accepted === null) return resolution
  const at = resolution.targets.findIndex(
    ({ account, model }) => account.connection.id === accepted.connectionId && model === accepted.model
  )
  const target = resolution.targets[at]
  return target === undefined
    ? null
    : { ...resolution, strategy: "priority", targets: [target], weights: [1], steps: [0] }
}

const services = Effect.all({
  admission: Admission,
  engine: Engine.Engine,
  flags: Flags,
  ids: IdGen.IdGen,
  gatewaySettings: GatewaySettings,
  resolutions: Resolutions.Resolutions,
  responses: ResponseStore.ResponseStore
})
type Deps = Effect.Effect.Success<typeof services>

const read = (readOutlined: ReadOutlined, asked: Exchange): Read | InferenceError | Ready | Count => {
  const said = readRequest(asked.body, asked.codec, readOutlined)
  if (said instanceof InvalidRequest) return said
  if (asked.principal._tag !== "Key" || !isTiedToModels(asked.principal.key)) return checked(asked, nothing, said)
  const { exchange, leftOut, read: own } = restricted(asked, said)
  return checked(exchange, leftOut, own)
}

/** Returns the body in its endpoint's own form: the same one where its outline shows that it is in it. */
const formOf = ({ codec }: Exchange, body: JsonObject): Either.Either<OwnForm, InvalidRequest> => {
  const outline = outlineOf(body)
  if (outline === body) return inOwnForm(codec, body)
  const form = inOwnForm(codec, outline)
  return Either.isRight(form) && form.right.body === outline
    ? Either.right({ body, dropped: form.right.dropped })
    : inOwnForm(codec, body)
}

/** Checks the outline; an error is made from the whole body, which knows places. */
const envelopeOf = ({ codec }: Exchange, body: JsonObject): Either.Either<Envelope, InvalidRequest> => {
  const outline = outlineOf(body)
  const envelope = codec.checkEnvelope(outline)
  if (outline === body) return envelope
  if (Either.isLeft(envelope)) return codec.checkEnvelope(body)
  const messageCount = codec.outline === undefined ? null : itemsIn(body, codec.outline.list)
  return messageCount === null ? envelope : Either.right({ ...envelope.right, messageCount })
}

const checked = (
  exchange: Exchange,
  leftOut: ReadonlyArray<string>,
  own: JsonObject
): Read | InferenceError | Ready | Count => {
  // `own` was made here; a copy of a body of many members costs more than to read it.
  const parsed: JsonObject = exchange.fromPath === null ? own : Object.assign(own, exchange.fromPath)
  const { headers } = exchange
  const beyond =
    longModel(parsed["model"]) ??
    wrongBudget(headerOf(headers, "x-gateway-budget")) ??
    wrongTags(headerOf(headers, tagsHeader))
  if (beyond !== null) return beyond
  const ready = exchange.atOnce === null ? null : exchange.atOnce(parsed)
  if (ready === "count") return { _tag: "Count", exchange, parsed }
  if (ready instanceof Error) return ready
  if (ready !== null) return { _tag: "Ready", body: ready }
  const form = formOf(exchange, parsed)
  if (Either.isLeft(form)) return form.left
  const { body, dropped } = form.right
  const envelope = envelopeOf(exchange, body)
  if (Either.isLeft(envelope)) return envelope.left
  if (body === parsed) return { exchange, leftOut, parsed, envelope: envelope.right }
  return {
    exchange: { ...exchange, body: bytesOf(exchange, body) },
    leftOut: [...leftOut, ...dropped],
    parsed: body,
    envelope: envelope.right
  }
}

const admit = ({ admission }: Deps, { exchange, parsed }: Read): Admitted | Later<Admitted> =>
  admission.admit(exchange, sessionIdOf(exchange.headers, parsed))

/** The operator's model for what agents ask by themselves, where a client's conversation is that; else null. */
const backgroundModelOf = ({ flags, gatewaySettings }: Deps, { envelope, exchange, parsed }: Read): string | null => {
  const { backgroundModel } = gatewaySettings.current()
  if (backgroundModel === null || !flags.isOn("GATEWAY_ENABLE_RUNTIME_BACKGROUND_TASKS")) return null
  if (exchange.madeFor !== "client" || exchange.codec !== codecs[exchange.wire]) return null
  const conversation = () => exchange.codec.decodeRequest(parsed)
  return isBackground(exchange.headers, envelope.hasTools, conversation) ? backgroundModel : null
}

const resolved = (deps: Deps, read: Read): ReturnType<typeof resolveFor> => {
  const { resolutions } = deps
  const found = resolveFor(resolutions, read.exchange, read.envelope.model)
  const model = backgroundModelOf(deps, read)
  return model === null ? found : backgroundFor(resolutions, read.exchange, model, found)
}

/** Decides a request that is still to be admitted. */
const decided = (deps: Deps, read: Read): Mutable<Work> | InferenceError => {
  const { engine, flags, gatewaySettings, ids, responses } = deps
  const { envelope, exchange, leftOut, parsed } = read
  const found = resolved(deps, read)
  if ("_tag" in found) return found
  const resolution = atConnectionOf(exchange, found)
  if (resolution === null) return new NoTarget({ model: envelope.model, reason: gone, retryAfterMs: null })
  const apiKeyId = apiKeyIdOf(exchange)
  const owner = apiKeyId ?? ""
  const expanded = exchange.wire === "responses" ? continuation(responses, owner, parsed, resolution) : parsed
  if (expanded instanceof PreviousResponseNotFound) return expanded
  const prompt = gatewaySettings.access.promptAround()
  const continued = prompt === null ? expanded : promptAround(exchange.wire, expanded, prompt)
  const thinking = exchange.codec === codecs[exchange.wire] ? gatewaySettings.access.thinking() : null
  const decoding = new Decoding(exchange.codec, continued)
  const conversation = () => decoding.conversation()
  const sessionId = sessionIdOf(exchange.headers, parsed)
  const sessionKey = sessionId === null ? null : sessionKeyOf(owner, envelope.model, sessionId)
  const question: Engine.Question = {
    model: envelope.model,
    resolution,
    features: () => {
      const plain = exchange.codec.plainPrompt?.(continued) ?? null
      return featuresOf(exchange, envelope, { parsed: continued, conversation, plain }, sessionKey)
    },
    sessionKey,
    startsPrompt: () => startsPrompt(exchange.wire, continued),
    modeHeader: headerOf(exchange.headers, "x-gateway-mode"),
    budgetHeader: headerOf(exchange.headers, "x-gateway-budget"),
    seed: ids.seed(),
    nowMs: exchange.receivedMs
  }
  const refusals = engine.shares.refusals(resolution, apiKeyId, exchange.receivedMs, envelope.model)
  const { decision, refusal } = permitted(engine.decide(question), refusals, exchange.receivedMs)
  if (refusal !== null) return refusal
  // Members that most requests have not are added: spreading objects that are mostly empty costs more than all the rest of it.
  const work: Mutable<Work> = {
    exchange,
    leftOut,
    owner,
    asked: parsed,
    parsed: continued,
    body: continued === parsed ? exchange.body : bytesOf(exchange, continued),
    conversation,
    decoding,
    envelope,
    outputCap: null,
    resolution,
    question,
    decision,
    sessionId,
    commitment: null,
    prices: new FixedPrices(exchange.job?.accepted),
    trail: new Trail()
  }
  if (continued !== expanded) work.remembered = expanded
  const { tagsFrom } = gatewaySettings.current()
  if (tagsFrom.length > 0) {
    work.tags = withTags(tagsOnFile(headerOf(exchange.headers, tagsHeader)), tagsOfBody(parsed, tagsFrom))
  }
  if (thinking !== null) work.thinking = thinking
  if (flags.isOn("ENABLE_CC_COMPATIBLE_PROVIDER") && isClaudeCode(exchange)) work.ofClaudeCode = true
  const tool = flags.isOn("CLI_COMPAT_ALL") ? codingToolOf(exchange) : null
  if (tool !== null) work.codingTool = tool
  if (gatewaySettings.current().promptCache === "auto" && mayBeMarked(exchange)) work.cacheMarks = true
  return work
}

const begun = ({ engine }: Deps, work: Mutable<Work>, admitted: Admitted): Work | InferenceError => {
  if (admitted instanceof Error) return admitted
  engine.commit(work.question, work.decision)
  work.commitment = admitted
  return work
}

const decide = (deps: Deps, read: Read, admitted: Commitment | null): Work | InferenceError => {
  const work = decided(deps, read)
  return "_tag" in work ? work : begun(deps, work, admitted)
}

const enter = (deps: Deps, read: Read): Work | InferenceError | Later<Opened> => {
  const work = decided(deps, read)
  if ("_tag" in work) return work
  const admitted = deps.admission.admit(work.exchange, work.sessionId)
  return admitted instanceof Later
    ? admitted.map<Opened>((known) => begun(deps, work, known))
    : begun(deps, work, admitted)
}

const seedBits = 32n

export const make = Effect.map(services, (deps) => {
  const { ids } = deps
  const readOutlined = makeReadOutlined(() => (BigInt(ids.seed()) << seedBits) | BigInt(ids.seed()))
  const readOf = (asked: Exchange) => read(readOutlined, asked)
  return Opening.of({
    open: (asked) => {
      const made = readOf(asked)
      return "_tag" in made ? made : enter(deps, made)
    },
    read: readOf,
    admit: (read) => admit(deps, read),
    enter: (read) => enter(deps, read),
    decide: (read, admitted) => decide(deps, read, admitted)
  })
})

export const layer: Layer.Layer<Opening, never, Effect.Effect.Context<typeof services>> = Layer.effect(Opening, make)
