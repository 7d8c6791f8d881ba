/**
 * Answers of the playground, as the contract has them. Its classes are not imported: they would be loaded with the
 * management plane.
 */
import * as Effect from "effect/Effect"
import {
  BadRequest,
  Conflict,
  Forbidden,
  NotFound,
  TooManyRequests,
  Unauthorized,
  UpstreamFailed
} from "../../contract/Errors.ts"
import type { PresetBody, PresetView } from "./routes.ts"
import type { Preset, PresetFields } from "./entity.ts"
import type {
  AskRefused,
  ImproveFailed,
  InvalidPlaygroundInput,
  NotAPreset,
  PresetNotFound,
  PresetOfOther,
  TooManyPresets
} from "../../agents/playground/Errors.ts"
import { answered, badField } from "../../entry/handling/Answers.ts"
import { iso } from "../../entry/handling/Views.ts"

export const presetBody = ({ endpoint, model, name, paramsJson, system }: PresetFields): PresetBody => ({
  name,
  endpoint,
  model,
  system,
  params_json: paramsJson
})

export const presetView = (preset: Preset): PresetView => ({
  id: preset.id,
  ...presetBody(preset),
  created_at: iso(preset.createdAtMs)
})

export const noPreset = ({ reason }: NotAPreset): Conflict =>
  reason === "not_llm"
    ? new Conflict({ code: "not_llm", message: "This is no request that the playground can make again." })
    : new Conflict({ code: "body_truncated", message: "Not all of the body of this request is left." })

type PlaygroundError =
  | AskRefused
  | ImproveFailed
  | InvalidPlaygroundInput
  | PresetNotFound
  | PresetOfOther
  | TooManyPresets

interface AnswerOf {
  readonly AskRefused: BadRequest | Forbidden | TooManyRequests | Unauthorized
  readonly ImproveFailed: UpstreamFailed
  readonly InvalidPlaygroundInput: BadRequest
  readonly PresetNotFound: NotFound
  readonly PresetOfOther: Forbidden
  readonly TooManyPresets: Conflict
}

const refused = ({ code, message, retryAfterMs, status }: AskRefused): AnswerOf["AskRefused"] => {
  switch (status) {
    case 400:
      return new BadRequest({ code, message })
    case 401:
      return new Unauthorized({ code, message })
    case 403:
      return new Forbidden({ code, message })
    case 429:
      return new TooManyRequests({ code, message, ...(retryAfterMs === null ? {} : { retryAfterMs }) })
  }
}

const answers: {
  readonly [Tag in keyof AnswerOf]: (error: Extract<PlaygroundError, { _tag: Tag }>) => AnswerOf[Tag]
} = {
  AskRefused: refused,
  ImproveFailed: ({ message }) => new UpstreamFailed({ code: "improve_failed", message }),
  InvalidPlaygroundInput: ({ field, message }) => badField(field, message),
  PresetNotFound: ({ id }) => new NotFound({ message: `There is no preset '${id.slice(0, 100)}'.`, param: "id" }),
  PresetOfOther: () =>
    new Forbidden({
      code: "preset_of_other",
      message: "This preset was made by another caller, who alone may change or remove it. Make one of your own."
    }),
  TooManyPresets: ({ limit }) =>
    new Conflict({
      code: "too_many_presets",
      message: `You have ${limit} presets, the most that are kept of one caller. Remove one.`
    })
}

type Answered<E> = E extends PlaygroundError ? AnswerOf[E["_tag"]] : E

const isOurs = (error: unknown): error is PlaygroundError =>
  typeof error === "object" && error !== null && "_tag" in error && Object.hasOwn(answers, String(error._tag))

/** The tag chooses the entry of its own error, which the type of the table alone does not say. */
const answerTo = (error: PlaygroundError): AnswerOf[keyof AnswerOf] =>
  (answers[error._tag] as (error: PlaygroundError) => AnswerOf[keyof AnswerOf])(error)

/** Refusals of the playground and of the database as answers of the contract. */
export const playgroundAnswered = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  answered(
    Effect.catchAll(effect, (error): Effect.Effect<never, Answered<E>> =>
      Effect.fail((isOurs(error) ? answerTo(error) : error) as Answered<E>)
    )
  )
