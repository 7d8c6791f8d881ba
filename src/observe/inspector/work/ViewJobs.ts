/** Views of records: computed from their bodies when they are asked for. Pure. */
import type { WireName } from "../../../contract/domain/Wire.ts"
import { isObject, type JsonObject } from "../../../wire/json/Json.ts"
import { type AnswerDiff, type ComparedAnswer, diffAnswers } from "../diff/Answers.ts"
import { type BodyDiff, diffBodies, type DiffedRequest } from "../diff/Diff.ts"
import { type Anatomy, anatomyOf } from "../reading/Anatomy.ts"
import { parsePerhapsCut } from "../reading/Answer.ts"
import { conversationOf, type ConversationView, type ReadableExchange } from "../reading/Conversation.ts"
import { formatOf } from "../reading/Format.ts"

/** The request of a record, without the notice that it was cut. */
export interface ShownRequest {
  readonly path: string
  readonly text: string
  readonly isCut: boolean
  readonly model: string | null
}

export type ViewJob =
  | { readonly view: "conversation"; readonly exchange: ReadableExchange }
  | { readonly view: "anatomy"; readonly request: ShownRequest }
  | { readonly view: "diff"; readonly one: ShownRequest; readonly other: ShownRequest }
  | { readonly view: "answers"; readonly one: ComparedAnswer; readonly other: ComparedAnswer }

/** Each is null where a body is no JSON object. */
export type View =
  | { readonly view: "conversation"; readonly of: ConversationView }
  | { readonly view: "anatomy"; readonly of: Anatomy | null }
  | { readonly view: "diff"; readonly of: BodyDiff | null }
  | { readonly view: "answers"; readonly of: AnswerDiff }

export const bytesOfView = (job: ViewJob): number => {
  switch (job.view) {
    case "conversation":
      return 2 * lengthOf(job.exchange)
    case "anatomy":
      return 2 * job.request.text.length
    case "diff":
      return 2 * (job.one.text.length + job.other.text.length)
    case "answers":
      return 2 * [job.one, job.other].reduce((sum, { exchange }) => sum + lengthOf(exchange), 0)
  }
}

const lengthOf = ({ request, response }: ReadableExchange): number =>
  (request?.text.length ?? 0) + (response?.text.length ?? 0)

const bodyOf = ({ isCut, text }: ShownRequest): JsonObject | null => {
  const parsed = parsePerhapsCut(text, isCut)
  return isObject(parsed) ? parsed : null
}

const wires: Readonly<Record<string, WireName>> = {
  messages: "messages",
  responses: "responses",
  gemini: "gemini",
  ollama: "ollama"
}

/** Bodies that are no prompts are compared as those of the commonest wire. */
const diffed = (request: ShownRequest): DiffedRequest | null => {
  const body = bodyOf(request)
  if (body === null) return null
  const wire = wires[formatOf(request.path, body)?.apiKind ?? "chat"] ?? "chat"
  return { wire, model: request.model ?? "", body }
}

export const viewOf = (job: ViewJob): View => {
  switch (job.view) {
    case "conversation":
      return { view: "conversation", of: conversationOf(job.exchange) }
    case "anatomy": {
      const body = bodyOf(job.request)
      return { view: "anatomy", of: body === null ? null : anatomyOf(body, Buffer.byteLength(job.request.text)) }
    }
    case "diff": {
      const [one, other] = [diffed(job.one), diffed(job.other)]
      return { view: "diff", of: one === null || other === null ? null : diffBodies(one, other) }
    }
    case "answers":
      return { view: "answers", of: diffAnswers(job.one, job.other) }
  }
}
