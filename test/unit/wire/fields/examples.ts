/** The examples of all wires together, by row. */
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import type { AnswerFieldId } from "../../../../src/wire/fields/AnswerFields.ts"
import { tabledWires } from "../../../../src/wire/fields/Render.ts"
import type { RequestFieldId } from "../../../../src/wire/fields/RequestFields.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { chatBody, messagesBody } from "../support.ts"
import { geminiBody } from "../gemini/support.ts"
import { ollamaBody } from "../ollama/support.ts"
import { answerExamples } from "./answers.ts"
import { geminiAnswers } from "./geminiAnswers.ts"
import { geminiRequests } from "./geminiRequests.ts"
import { requestExamples } from "./requests.ts"
import { responsesAnswers } from "./responsesAnswers.ts"
import { responsesRequests } from "./responsesRequests.ts"

/** A plain request of each wire with these members more. */
export const bodies: Readonly<Record<WireName, (more: JsonObject) => JsonObject>> = {
  chat: chatBody,
  messages: messagesBody,
  ollama: ollamaBody,
  responses: (more) => ({ model: "m", input: "Hi", ...more }),
  gemini: geminiBody
}

/** All directed pairs of different wires. */
export const pairs = tabledWires.flatMap((source) =>
  tabledWires.flatMap((target) => (source === target ? [] : [{ source, target }]))
)

type ByWire = Partial<Readonly<Record<WireName, JsonObject>>>

const together = (
  { read: _read, ...examples }: ByWire & { readonly read: unknown },
  responses: JsonObject | undefined,
  gemini: JsonObject | undefined
): ByWire => ({
  ...examples,
  ...(responses === undefined ? {} : { responses }),
  ...(gemini === undefined ? {} : { gemini })
})

export const requestsOf = (id: RequestFieldId): ByWire =>
  together(requestExamples[id], responsesRequests[id], geminiRequests[id])

export const answersOf = (id: AnswerFieldId): ByWire =>
  together(answerExamples[id], responsesAnswers[id], geminiAnswers[id])
