/** The registry of wires, and translation between two of them. A further wire is one more entry here. */
import * as Either from "effect/Either"
import type { Dialect } from "../contract/domain/Dialect.ts"
import { InvalidRequest } from "../contract/domain/Errors.ts"
import type { WireName } from "../contract/domain/Wire.ts"
import { pairCalls } from "./canonical/tools/CallResults.ts"
import { type DropLog, makeDropLog } from "./canonical/DropLog.ts"
import { makeObserver, startFacts } from "./canonical/Facts.ts"
import type { Conversation, Message } from "./canonical/Conversation.ts"
import type { StreamEvent, UpstreamProblem } from "./canonical/Event.ts"
import type { Response } from "./canonical/Response.ts"
import { forcedTool } from "./canonical/tools/ForcedTools.ts"
import { withPlainContent } from "./canonical/ForeignContent.ts"
import { mediaFromUser } from "./canonical/AssistantMedia.ts"
import { makeForeignBlocks } from "./canonical/ForeignBlocks.ts"
import { makeJsonCalls, offersFreeForm, withJsonCalls } from "./canonical/tools/JsonCalls.ts"
import { withLinksInWords } from "./canonical/Links.ts"
import { type OwnSearch, ownSearchFor } from "./canonical/OwnSearch.ts"
import { isContentFor, isAudio, nothingCarried } from "./canonical/Pictures.ts"
import { withoutWebSearch } from "./canonical/WebSearchAsk.ts"
import { withTrueTypes } from "./canonical/tools/TrueTypes.ts"
import { adaptTools, limitsFor } from "./canonical/tools/ToolAdaptation.ts"
import { makeToolRestorer, restoreTools } from "./canonical/tools/ToolRestoration.ts"
import { chat } from "./chat/Codec.ts"
import { gemini } from "./gemini/Codec.ts"
import { isArray, type JsonObject, saysNothing } from "./json/Json.ts"
import { withInner } from "./json/Inner.ts"
import { messages } from "./messages/Codec.ts"
import { ollama } from "./ollama/Codec.ts"
import { responses } from "./responses/Codec.ts"
import type { EncodeContext, EncodedRequest, EncodeOptions, StreamFacts, WireCodec } from "./WireCodec.ts"

export type { StreamEvent, UpstreamProblem } from "./canonical/Event.ts"
export type * from "./WireCodec.ts"

/** The codec of every wire. */
export const codecs: Readonly<Record<WireName, WireCodec>> = { chat, messages, responses, gemini, ollama }

/** Wires whose content can carry OpenAI's prompt cache breakpoints. */
const knowsBreakpoints: ReadonlySet<WireName> = new Set(["chat", "responses"])

const marksBreakpoint = ({ parts }: Message): boolean =>
  parts.some((part) =>
    part.type === "tool_result" ? part.content.some((inner) => "cacheBreakpoint" in inner) : "cacheBreakpoint" in part
  )

/** A decoded request as the other wires know it: nothing of it is where only its own wire has it. Idempotent. */
export const forOtherWires = (source: WireCodec, conversation: Conversation): Conversation => {
  const own = source.forOthers?.(conversation) ?? conversation
  return source.blockTexts === undefined ? own : withPlainContent(own, source.blockTexts)
}

/** Members that stand for a part of the conversation which is kept elsewhere. */
const referencesIn = ({ references = [] }: WireCodec, { extras }: Conversation): ReadonlyArray<string> =>
  references.filter((name) => !saysNothing(extras[name]))

/** Names of the members that hold the turns of a request. */
const turns = ["messages", "contents", "input"] as const

/** Nothing would be asked: what was said has no place at the target. */
const isEmptied = ({ messages }: Conversation, body: JsonObject): boolean =>
  messages.some(({ parts }) => parts.length > 0) &&
  turns.some((member) => isArray(body[member]) && body[member].length === 0)

/** Lowers the requested output limit to the model's known one: some makers refuse more. */
const withinLimit = (
  conversation: Conversation,
  { maxOutputTokens: most }: EncodeOptions,
  log: DropLog
): Conversation => {
  const { maxOutputTokens: asked } = conversation
  if (most === null || asked === null || asked <= most) return conversation
  log.map("maxOutputTokens")
  return { ...conversation, maxOutputTokens: most }
}

/** The wish to reason under the name of the member that says it. */
const inOwnWords = (name: string, { reasoning, wire }: Conversation): string =>
  wire === "chat" && name === "reasoning_effort" ? (reasoning?.inOwnWords ?? name) : name

/** Wires whose schema of an answer has no description beside it: it is in the schema. */
const describesInSchema: ReadonlySet<WireName> = new Set(["messages", "gemini"])

const withDescription = (conversation: Conversation, target: WireName, log: DropLog): Conversation => {
  const { outputFormat: format } = conversation
  if (format?.type !== "json_schema" || format.description === undefined || !describesInSchema.has(target))
    return conversation
  log.map("outputFormat")
  const { description, schema, ...rest } = format
  return { ...conversation, outputFormat: { ...rest, schema: { description, ...schema } } }
}

/** One wire takes links back as they are; to the others they are told in words. */
const withLinks = (conversation: Conversation, target: WireName, log: DropLog): Conversation =>
  withLinksInWords(
    conversation,
    () => target === "responses",
    () => log.map("citations")
  )

const encodeAdapted = (
  source: WireCodec,
  target: WireCodec,
  decoded: Conversation,
  options: EncodeOptions
): EncodedRequest => {
  const sameWire = source.name === target.name
  const log = makeDropLog(source.name)
  const conversation = sameWire
    ? decoded
    : withDescription(
        withinLimit(
          withTrueTypes(mediaFromUser(withLinks(forOtherWires(source, decoded), target.name, log), target.name)),
          options,
          log
        ),
        target.name,
        log
      )
  const paired = sameWire
    ? null
    : pairCalls(conversation, target.toolLimits.wantsResults && !source.toolLimits.wantsResults)
  if (paired?.repeated === true) log.drop("toolResult")
  if (paired?.unanswered === true) log.map("toolResult")
  if (!sameWire) for (const name of conversation.nested ?? []) log.dropField(name)
  if (!sameWire && !knowsBreakpoints.has(target.name) && conversation.messages.some(marksBreakpoint)) {
    log.dropField("messages.content.prompt_cache_breakpoint")
  }
  const adapted = adaptTools(
    paired?.conversation ?? conversation,
    limitsFor(target.toolLimits, options.dialect),
    sameWire,
    options.openAiTools ?? null
  )
  const encoded = target.encodeRequest(adapted.conversation, options)
  return {
    ...encoded,
    body: sameWire ? withInner(encoded.body, conversation.inner) : encoded.body,
    lost: [
      ...new Set([
        ...(source.references === target.references ? [] : referencesIn(source, conversation)),
        ...(encoded.lost ?? [])
      ])
    ],
    dropped: [
      ...new Set([
        ...(conversation.leftOut ?? []),
        ...log.dropped,
        ...encoded.dropped.map((name) => inOwnWords(name, conversation))
      ])
    ],
    mapped: [
      ...new Set([
        ...(conversation.bent ?? []),
        ...log.mapped,
        ...encoded.mapped.map((name) => inOwnWords(name, conversation)),
        ...adapted.mapped
      ])
    ],
    ...(adapted.toolNames === null ? {} : { toolNames: adapted.toolNames }),
    ...(adapted.callIds === null ? {} : { callIds: adapted.callIds })
  }
}

const cannot = (field: string, what: string): Either.Either<never, InvalidRequest> => {
  const message = `${field}: ${what}`
  return Either.left(new InvalidRequest({ message, param: field, details: [{ field, message }] }))
}

const turnsOf: Readonly<Record<WireName, string>> = {
  chat: "messages",
  messages: "messages",
  responses: "input",
  gemini: "contents",
  ollama: "messages"
}

/**
 * Reason for refusing a request whose content the target wire has no place for. The content of a conversation is never
 * left out.
 */
const noPlace = ({ name }: WireCodec): string =>
  `the chosen model's provider has no place for it, and what a conversation holds is not left out. ` +
  `A model of a provider that speaks the ${name} wire may take it; else send it as text.`

const withSearch = (encoded: EncodedRequest, { complete, dropped, mapped }: OwnSearch): EncodedRequest => ({
  ...encoded,
  body: complete(encoded.body),
  dropped: [...new Set([...encoded.dropped, ...dropped])],
  mapped: [...new Set([...encoded.mapped, ...mapped])]
})

/** Encodes a decoded request for a target. Left when it asks for more answers than the target can give, or forces a tool it cannot run. */
export const encodeConversation = (
  source: WireCodec,
  target: WireCodec,
  conversation: Conversation,
  options: EncodeOptions
): Either.Either<EncodedRequest, InvalidRequest> => {
  const sameWire = source.name === target.name
  // A translated answer has one candidate.
  const most = sameWire ? target.maxCandidates : 1
  if (conversation.candidates > most) {
    const field = source.name === "gemini" ? "generationConfig.candidateCount" : "n"
    return cannot(
      field,
      `${conversation.candidates} answers in one request cannot be had from the chosen model; ask for one.`
    )
  }
  const search =
    options.ownSearch === true
      ? ownSearchFor(conversation, target.name, (options.dialect?.webSearch ?? null) !== null)
      : null
  const asked = search?.conversation ?? conversation
  const forced = sameWire ? null : forcedTool(search === null ? conversation : withoutWebSearch(asked))
  if (forced !== null) {
    return cannot(
      forced.field,
      `the tool '${forced.tool}' is the provider's own, and the provider of the chosen model does not have it. ` +
        `Ask for a model of a provider that speaks this wire, or do not force the tool.`
    )
  }
  const adapted = encodeAdapted(source, target, asked, options)
  const encoded = search === null ? adapted : withSearch(adapted, search)
  const [lost] = encoded.lost ?? []
  if (lost !== undefined) return cannot(lost, noPlace(source))
  return !sameWire && isEmptied(asked, encoded.body)
    ? cannot(turnsOf[source.name], noPlace(source))
    : Either.right(encoded)
}

/** Translates a request to another wire. Left when it is malformed, or asks for more than the target can give. */
export const translateRequest = (
  source: WireCodec,
  target: WireCodec,
  body: JsonObject,
  options: EncodeOptions
): Either.Either<EncodedRequest, InvalidRequest> =>
  Either.flatMap(source.decodeRequest(body), (conversation) =>
    encodeConversation(source, target, conversation, options)
  )

/** Encodes a complete answer for the client, with the client's own tools. */
export const encodeAnswer = (client: WireCodec, response: Response, context: EncodeContext): JsonObject =>
  client.encodeResponse(
    withJsonCalls(restoreTools(response, context), offersFreeForm(client.name, context.request)),
    context
  )

/** Translates a stream from the upstream's wire to the client's. */
export interface StreamTranslator {
  readonly facts: StreamFacts
  /** Text for the client; empty when the chunk produced none yet. */
  readonly push: (chunk: Buffer) => string
  /** Call when the upstream's stream has ended. Success only when `facts.terminated` and `facts.stop` are set afterwards. */
  readonly end: () => string
  /** Names of the blocks of the answer that the client does not get, as far as they have come. */
  readonly lost: () => ReadonlyArray<string>
}

/** Encoders buffer what their wire sends in one piece (arguments, the output repeated at the end); no model writes more. */
export const maxAnswerChars = 32 * 1_048_576

const tooLong: UpstreamProblem = {
  status: 502,
  message: `The upstream's answer is longer than ${maxAnswerChars} characters.`,
  type: null,
  code: "answer_too_large"
}

/** Characters of an event that may be buffered. */
const sizeOf = (event: StreamEvent): number => {
  if (event.type === "block_start") {
    // Sound is passed on or left out as it comes.
    return event.block.type === "opaque" && !isAudio(event.block.part) ? JSON.stringify(event.block).length : 1
  }
  if (event.type !== "delta") return 0
  const { delta } = event
  return "text" in delta ? delta.text.length : JSON.stringify(delta).length
}

/**
 * Decoder → encoder. A failure is not written here: it is in `facts.problem`, and the relay renders it with the source wire's
 * `renderStreamError`, so that the client gets the error that is recorded. `listen` gets every event too, with the client's own tools.
 */
export const makeStreamTranslator = (
  client: WireCodec,
  upstream: WireCodec,
  context: EncodeContext,
  listen: ((event: StreamEvent) => void) | null = null,
  dialect?: Dialect
): StreamTranslator => {
  const decoder = upstream.makeStreamDecoder(dialect)
  const encoder = client.makeStreamEncoder(context)
  const facts = startFacts()
  // What the client's wire cannot carry does not count as content: the answer may still fail as a whole.
  const observe = makeObserver(facts, isContentFor(client.name, client.carriesPicture, client.carriesSearch))
  const blocks = makeForeignBlocks(client.name, client.carriesPicture)
  const restore = makeToolRestorer(context)
  const asJson = makeJsonCalls(offersFreeForm(client.name, context.request))
  let chars = 0

  const emit = (restored: StreamEvent): string => {
    let text = ""
    for (const event of asJson(restored)) {
      listen?.(event)
      text += encoder.encode(event)
    }
    return text
  }

  const write = (events: ReadonlyArray<StreamEvent>): string => {
    let text = ""
    for (const source of events) {
      if (facts.terminated || facts.problem !== null) break
      chars += sizeOf(source)
      if (chars > maxAnswerChars) facts.problem = tooLong
      const left = source.type === "finish" ? blocks.nothingLeft() : null
      if (facts.problem === null && left !== null) facts.problem = nothingCarried(left, client.name)
      if (facts.problem !== null) break
      for (const event of blocks.pass(source)) {
        observe(event)
        // Progress that the client's wire cannot express.
        if (event.type === "ping" && source.type !== "ping") continue
        if (restore === null) text += emit(event)
        else for (const restored of restore(event)) text += emit(restored)
      }
    }
    return text
  }
  const push = (chunk: Buffer): string => {
    const text = write(decoder.push(chunk))
    if (decoder.stopRead?.() === true) facts.stopRead = true
    return text
  }
  return { facts, push, end: () => write(decoder.end()), lost: blocks.lost }
}
