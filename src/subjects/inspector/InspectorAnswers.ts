/** HTTP answers to the refusals of the traffic inspector. Its classes are not imported: they would be loaded with the management plane. */
import * as Effect from "effect/Effect"
import {
  BadRequest,
  Conflict,
  NotFound,
  TooLarge,
  Unavailable,
  Unprocessable,
  UpstreamFailed
} from "../../contract/Errors.ts"
import type { AddressBlocked, ConnectionElsewhere, NoDirectAnswer } from "../../agents/bridge/DirectReplay.ts"
import type { CredentialNeeded, DirectNotPossible } from "../../agents/bridge/DirectRequest.ts"
import type { BodyTruncated, NoAnswer, ReplayNotLlm } from "../../agents/bridge/Replay.ts"
import type { InvalidHar } from "../../observe/inspector/exports/HarImport.ts"
import type { InvalidCursor, RecordNotFound } from "../../observe/inspector/Inspector.ts"
import type { SessionNotFound, SessionNotRecording, SessionRecording } from "../../observe/inspector/Sessions.ts"
import type { BodyGone, NotComparable, TooMuchWork } from "../../observe/inspector/Views.ts"
import { answered, badField } from "../../entry/handling/Answers.ts"

type InspectorError =
  | AddressBlocked
  | ConnectionElsewhere
  | CredentialNeeded
  | DirectNotPossible
  | NoDirectAnswer
  | BodyGone
  | BodyTruncated
  | InvalidCursor
  | InvalidHar
  | NoAnswer
  | NotComparable
  | RecordNotFound
  | ReplayNotLlm
  | SessionNotFound
  | SessionNotRecording
  | SessionRecording
  | TooMuchWork

interface AnswerOf {
  readonly AddressBlocked: Unprocessable
  readonly ConnectionElsewhere: Unprocessable
  readonly CredentialNeeded: Unprocessable
  readonly DirectNotPossible: Unprocessable
  readonly NoDirectAnswer: UpstreamFailed
  readonly BodyGone: Conflict
  readonly BodyTruncated: Conflict
  readonly InvalidCursor: BadRequest
  readonly InvalidHar: BadRequest | TooLarge
  readonly NoAnswer: UpstreamFailed
  readonly NotComparable: Conflict
  readonly RecordNotFound: NotFound
  readonly ReplayNotLlm: Unprocessable
  readonly SessionNotFound: NotFound
  readonly SessionNotRecording: Conflict
  readonly SessionRecording: Conflict
  readonly TooMuchWork: Unavailable
}

const notDirect: Readonly<Record<DirectNotPossible["reason"], string>> = {
  gateway: "This request was served by the gateway itself. Ask it again without its own server: replay it.",
  scheme: "Only requests of HTTP can be sent again, not sockets.",
  method: "The method must be GET, HEAD, POST, PUT, PATCH or DELETE.",
  address: "The address of this request cannot be called.",
  binary: "The body of this request is no text. Send the body to ask with.",
  model: "The request has no model in its path, and no JSON body that names one."
}

const answers: { readonly [Tag in keyof AnswerOf]: (error: Extract<InspectorError, { _tag: Tag }>) => AnswerOf[Tag] } =
  {
    AddressBlocked: ({ reason }) =>
      new Unprocessable({
        code: "address_blocked",
        message: `The server of this request may not be called (${reason}): docs/security.md says which addresses may.`
      }),
    ConnectionElsewhere: ({ origin }) =>
      new Unprocessable({
        code: "connection_elsewhere",
        message: `There is no such active connection with the address ${origin}; its credential is sent nowhere else.`,
        param: "connectionId"
      }),
    CredentialNeeded: ({ names }) =>
      new Unprocessable({
        code: "credential_needed",
        message: `What was masked cannot be sent, and no connection has this address: give ${names.join(", ")}, or an empty value to leave it out.`,
        param: "headers"
      }),
    DirectNotPossible: ({ reason }) => new Unprocessable({ code: "replay_not_direct", message: notDirect[reason] }),
    NoDirectAnswer: ({ message }) => new UpstreamFailed({ message }),
    BodyGone: () =>
      new Conflict({ code: "body_evicted", message: "The bodies of this request made room for newer ones." }),
    BodyTruncated: () =>
      new Conflict({
        code: "body_truncated",
        message: "Not all of this request's body was kept. Send the body to ask with."
      }),
    InvalidCursor: () => badField("cursor", "is not one that this list gave out"),
    InvalidHar: ({ message, reason }) =>
      reason === "too_large" ? new TooLarge({ message }) : new BadRequest({ code: "invalid_har", message }),
    NoAnswer: () => new UpstreamFailed({ message: "The connection broke before there was an answer." }),
    NotComparable: () =>
      new Conflict({ code: "not_comparable", message: "The body of one of the requests is no JSON object." }),
    RecordNotFound: () => new NotFound({ message: "There is no such request, or it was rotated out.", param: "id" }),
    ReplayNotLlm: () =>
      new Unprocessable({
        code: "replay_not_llm",
        message: "Only requests to models can be asked again, in a format that this gateway serves."
      }),
    SessionNotFound: () => new NotFound({ message: "There is no such session.", param: "id" }),
    SessionNotRecording: () => new Conflict({ code: "not_recording", message: "This session does not record." }),
    SessionRecording: () =>
      new Conflict({ code: "recording", message: "Another session records. Stop it first; one records at a time." }),
    TooMuchWork: () =>
      new Unavailable({ message: "The inspector has too much to read now. Try again.", retryAfterMs: 1_000 })
  }

type Answered<E> = E extends InspectorError ? AnswerOf[E["_tag"]] : E

const isOurs = (error: unknown): error is InspectorError =>
  typeof error === "object" && error !== null && "_tag" in error && Object.hasOwn(answers, String(error._tag))

/** The tag chooses the entry of its own error, which the type of the table alone does not say. */
const answerTo = (error: InspectorError): AnswerOf[keyof AnswerOf] =>
  (answers[error._tag] as (error: InspectorError) => AnswerOf[keyof AnswerOf])(error)

/** Refusals of the inspector and of the database as answers of the contract. */
export const inspectorAnswered = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  answered(
    Effect.catchAll(effect, (error): Effect.Effect<never, Answered<E>> =>
      Effect.fail((isOurs(error) ? answerTo(error) : error) as Answered<E>)
    )
  )
