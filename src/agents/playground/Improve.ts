/**
 * Requests an improvement of a prompt from a model: a request of the caller's own, with its limits and a usage row; a
 * second one where the first answer cannot be used.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Principal } from "../../subjects/keys/entity.ts"
import { describe } from "../../contract/domain/Errors.ts"
import type { PromptMessage } from "../../subjects/playground/entity.ts"
import type { InnerAnswer, InnerRequests } from "../../plane/InnerRequests.ts"
import { tappedWhereOn, type TrafficTap } from "../../plane/tap/TrafficTap.ts"
import { chat } from "../../wire/chat/Codec.ts"
import { isObject, objectOr, parseJson, stringOr } from "../../wire/json/Json.ts"
import { AskRefused, ImproveFailed } from "./Errors.ts"
import { againMessages, type Improved, metaMessages, readImproved, type ToImprove } from "./MetaPrompt.ts"

export interface ImproveRequest extends ToImprove {
  /** Empty: none was given. */
  readonly model: string
}

export interface ImprovedPrompt extends Improved {
  /** Tokens of all requests for it. */
  readonly tokensIn: number
  readonly tokensOut: number
}

export const improvePath = "/api/playground/improve-prompt"

/** Requests for one prompt. */
const mostAsked = 2

const messageOf = ({ body, status }: InnerAnswer): string =>
  stringOr(objectOr(objectOr(parseJson(body))["error"])["message"]) ?? `The status is ${status}.`

/** Rules of the gateway for its caller; a limit of a provider is a model that fails. */
const refusalOf = ({ error, retryAfterMs }: InnerAnswer): AskRefused | null => {
  if (error === null) return null
  const { code, message, status } = describe(error)
  const refused = (as: AskRefused["status"]): AskRefused => new AskRefused({ status: as, code, message, retryAfterMs })
  switch (error._tag) {
    case "KeyRejected":
      return refused(status === 401 ? 401 : 403)
    case "QuotaNotAllocated":
      return refused(403)
    case "LimitReached":
    case "QuotaShareUsed":
      return refused(429)
    case "TargetsUnavailable":
      return error.isKeyLimit ? refused(429) : null
    case "GuardrailBlocked":
      return refused(400)
    default:
      return null
  }
}

/** Null where it is none that can be read. */
const textOf = (body: string): string | null => {
  const parsed = parseJson(body)
  const response = isObject(parsed) ? Either.getOrNull(Either.mapLeft(chat.decodeResponse(parsed), () => null)) : null
  return response === null ? null : response.parts.map((part) => (part.type === "text" ? part.text : "")).join("")
}

export interface ImproveServices {
  readonly inner: Pick<typeof InnerRequests.Service, "ask">
  readonly tap: Pick<typeof TrafficTap.Service, "isOn" | "tapped">
}

export const makeImprove = ({ inner, tap }: ImproveServices) => {
  const ask = (model: string, messages: ReadonlyArray<PromptMessage>, principal: Principal) =>
    inner.ask({
      behalf: { principal, madeFor: "client", category: "chat" },
      path: improvePath,
      body: { model, messages: messages.map((message) => ({ ...message })) },
      prepared: (exchange) => tappedWhereOn(tap, exchange, "http")
    })

  return Effect.fn("Playground.improve")(function* (request: ImproveRequest, principal: Principal) {
    const { model } = request
    if (model.trim() === "") return yield* new ImproveFailed({ message: "No model was given to improve the prompt." })
    const messages = [...metaMessages(request)]
    let tokensIn = 0
    let tokensOut = 0
    let problem = ""
    for (let asked = 0; asked < mostAsked; asked += 1) {
      const answer = yield* ask(model, messages, principal)
      const refusal = refusalOf(answer)
      if (refusal !== null) return yield* refusal
      const text = answer.status === 200 ? textOf(answer.body) : null
      if (text === null) {
        const why = answer.status === 200 ? "Its answer cannot be read." : messageOf(answer)
        return yield* new ImproveFailed({ message: `The model could not be asked to improve the prompt. ${why}` })
      }
      tokensIn += answer.tokens?.in ?? 0
      tokensOut += answer.tokens?.out ?? 0
      const read = readImproved(request, text)
      if (Either.isRight(read)) {
        const improved: ImprovedPrompt = { ...read.right, tokensIn, tokensOut }
        return improved
      }
      problem = read.left
      messages.push(...againMessages(text, problem))
    }
    return yield* new ImproveFailed({
      message: `The model was asked twice, and neither answer can be used. ${problem} Try another model.`
    })
  })
}

export type Improve = ReturnType<typeof makeImprove>
