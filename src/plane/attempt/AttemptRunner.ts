/** One upstream call: from a target to a result, in plain callbacks or as an effect whose interruption aborts the call. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { mayKeepContent } from "../../contract/domain/ContentPermission.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import { maxDecodedTokens, type NotDecodable } from "../tokens/Tokeniser.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { type AttemptResult, failed, ownFailure } from "./AttemptResult.ts"
import { type Attempting, attemptEffect, known } from "./Attempting.ts"
import { type Attempt, attemptServices, type AttemptServices, cancelledResult } from "./AttemptServices.ts"
import { called, runOn } from "./CalledTarget.ts"
import { inParts, notFetched, written } from "./CompletedAnswer.ts"
import { unlessDisconnected } from "../request/ClientDisconnect.ts"
import type { Work } from "../request/Exchange.ts"
import { needsFetch } from "../media/MediaNeeds.ts"
import * as StopSignal from "../request/StopSignal.ts"
import {
  conversationFor,
  isLarge,
  relayedCall,
  searchedBy,
  translatedCall,
  type UpstreamCall,
  wayTo
} from "./UpstreamCall.ts"

export class AttemptRunner extends Context.Tag("gateway/plane/attempt/AttemptRunner")<
  AttemptRunner,
  {
    /** Hot: asks the target. `lastChance`: no other is left, so an empty but well-formed answer is the answer. */
    readonly begin: (work: Work, target: Target, lastChance: boolean) => Attempting
  }
>() {}

/**
 * Bytes of files that the makers document to take in one request: https://developers.openai.com/api/docs/guides/pdf-files (50 MB),
 * https://platform.claude.com/docs/en/api/errors#request-size-limits (32 MB with all else, in base64),
 * https://ai.google.dev/gemini-api/docs/file-input-methods (100 MB, in base64).
 */
const mostFileBytes: Readonly<Record<WireName, number>> = {
  chat: 50 * 1_048_576,
  responses: 50 * 1_048_576,
  messages: 24 * 1_048_576,
  gemini: 75 * 1_048_576,
  ollama: Number.POSITIVE_INFINITY
}

const filesTooLarge = (most: number) =>
  ownFailure(
    400,
    "request_not_translatable",
    `The files of the request have more than ${Math.floor(most / 1_048_576)} MiB together, which is what the chosen model's provider takes in one request.`
  )

const notDecoded = {
  unknown: ownFailure(
    400,
    "request_not_translatable",
    "input: the chosen model takes texts, and these token ids are none of cl100k_base. Send the texts themselves."
  ),
  too_many: ownFailure(
    400,
    "request_not_translatable",
    `input: the chosen model takes texts, and at most ${maxDecodedTokens} token ids are read as such. Send fewer, or the texts themselves.`
  ),
  busy: ownFailure(503, "tokens_not_decoded", "The token ids could not be read in time. Send the texts themselves.")
} as const satisfies Record<NotDecodable["reason"], unknown>

const translated = (services: AttemptServices, attempt: Attempt, conversation: Conversation): Attempting => {
  const { catalog, continuation } = services
  const { way, work } = attempt
  const { account, model } = way.target
  const { join, linked } = work.exchange.codec
  const facts = catalog.factsOf(account, model)
  const parts = join === undefined ? null : (way.codec.partsOf?.(conversation) ?? null)
  if (parts !== null || linked !== undefined) {
    const asked = (parts ?? [conversation]).map((part) => () => translatedCall(work, way, part, facts))
    return inParts(services, attempt, asked)
  }
  const call = translatedCall(work, way, conversation, facts)
  if (Either.isLeft(call)) return known(failed(call.left))
  const { resumption } = work
  const begun = (whole: UpstreamCall): Attempting =>
    resumption === undefined || continuation === null
      ? called(services, attempt, whole)
      : runOn(services, continuation, attempt, resumption, whole)
  if (call.right.unwritten === undefined) return begun(call.right)
  return {
    _tag: "Effect",
    attempt: Effect.flatMap(written(services, call.right), (whole) => attemptEffect(begun(whole)))
  }
}

/** The conversation with its pictures and files, where the target cannot fetch them. */
const fetched = (services: AttemptServices, attempt: Attempt, conversation: Conversation): Attempting => {
  const { way, work } = attempt
  const { principal, reply } = work.exchange
  const inlined = services.media.inlineMedia(conversation, way.codec.name, work.owner, mayKeepContent(principal))
  const made = Effect.matchEffect(StopSignal.unlessStopped(services.stop, unlessDisconnected(reply, inlined)), {
    onFailure: (failure): Effect.Effect<AttemptResult> => Effect.succeed(notFetched(failure)),
    onSuccess: (whole) => attemptEffect(translated(services, attempt, whole))
  })
  return { _tag: "Effect", attempt: made }
}

/** Token ids as the texts that they stand for, for a target that takes no ids. */
const inTexts = (
  services: AttemptServices,
  attempt: Attempt,
  conversation: Conversation,
  tokens: ReadonlyArray<ReadonlyArray<number>>
): Attempting => {
  const { stop, tokeniser } = services
  const { way, work } = attempt
  const decoding = StopSignal.unlessStopped(stop, unlessDisconnected(work.exchange.reply, tokeniser.decode(tokens)))
  const made = Effect.matchEffect(decoding, {
    onFailure: (failure): Effect.Effect<AttemptResult> =>
      Effect.succeed(failure._tag === "NotDecodable" ? failed(notDecoded[failure.reason]) : cancelledResult(failure)),
    onSuccess: (texts) =>
      attemptEffect(translated(services, attempt, way.codec.inTexts?.withTexts(conversation, texts) ?? conversation))
  })
  return { _tag: "Effect", attempt: made }
}

/** A step of a large request: what else is ready is done before it. */
const inTurn = ({ slices }: AttemptServices, step: () => Attempting): Attempting => ({
  _tag: "Effect",
  attempt: Effect.flatMap(slices.turn, () => attemptEffect(step()))
})

/** Runs an attempt whose request has to be translated. */
const inOtherWords = (services: AttemptServices, attempt: Attempt): Attempting => {
  const { continuation, state } = services
  const { way, work } = attempt
  const { resumption } = work
  const asked = conversationFor(work, way, state)
  if (Either.isLeft(asked)) return known(failed(asked.left))
  const conversation =
    resumption === undefined || continuation === null
      ? asked.right
      : continuation.conversation(asked.right, resumption, way.codec.name, way.target.model)
  const go = (): Attempting => {
    const tokens = way.codec.inTexts?.tokensOf(conversation) ?? null
    if (tokens !== null) return inTexts(services, attempt, conversation, tokens)
    return needsFetch(conversation, way.codec.name)
      ? fetched(services, attempt, conversation)
      : translated(services, attempt, conversation)
  }
  return isLarge(work) ? inTurn(services, go) : go()
}

const begin = (services: AttemptServices, asked: Work, target: Target, lastChance: boolean): Attempting => {
  const work = asked.webSearch === undefined ? asked : searchedBy(asked, target)
  const found = wayTo(work, target, services.state)
  if (Either.isLeft(found)) return known(failed(found.left))
  const way = found.right
  const { putInBytes = 0, resumption } = work
  const most = mostFileBytes[way.codec.name]
  if (putInBytes > most) return known(failed(filesTooLarge(most)))
  const attempt = { work, way, lastChance }
  if (way.relays && resumption === undefined) {
    const call = relayedCall(work, way)
    if (work.exchange.codec.linked === undefined) return called(services, attempt, call)
    return inParts(services, attempt, [() => Either.right(call)])
  }
  if (!isLarge(work)) return inOtherWords(services, attempt)
  return inTurn(services, () => inOtherWords(services, attempt))
}

export const make = Effect.map(attemptServices, (services) =>
  AttemptRunner.of({ begin: (work, target, lastChance) => begin(services, work, target, lastChance) })
)

export const layer: Layer.Layer<AttemptRunner, never, Effect.Effect.Context<typeof attemptServices>> = Layer.effect(
  AttemptRunner,
  make
)
