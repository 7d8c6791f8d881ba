/** Findings of a check of a connection that is not stored, as they are told: its models, and the answer to a person's first question. */
import type { OperatorSpending } from "./OperatorSpending.ts"
import type { AnsweredCall, QuestionResult, ValidationResult } from "../../plane/providers/ProviderCalls.ts"
import { codecs } from "../../wire/Codec.ts"
import { isObject, parseJson } from "../../wire/json/Json.ts"

/** Models that are told one by one. */
const mostTold = 1_000
const mostTextChars = 8_000

type Prices = Pick<typeof OperatorSpending.Service, "costOf" | "isPriced">

export interface ListedModels {
  readonly count: number
  /** Of them, those without a known price. */
  readonly unpriced: number
  readonly ids: ReadonlyArray<string>
}

export interface FirstAnswer {
  readonly model: string
  readonly text: string | null
  readonly latencyMs: number
  readonly costUsd: number | null
  readonly error: string | null
}

export interface ValidationFindings extends Pick<ValidationResult, "valid" | "status" | "error" | "latencyMs"> {
  /** Null: the provider lists none. */
  readonly models: ListedModels | null
  /** Null: nothing was asked. */
  readonly answer: FirstAnswer | null
}

export const modelsOf = (
  { listed }: Pick<ValidationResult, "listed">,
  provider: string,
  { isPriced }: Prices
): ListedModels | null =>
  listed === null
    ? null
    : {
        count: listed.length,
        unpriced: listed.filter((model) => !isPriced(provider, model)).length,
        ids: listed.slice(0, mostTold)
      }

const textOf = ({ body, spec, wire }: AnsweredCall): string | null => {
  const answer = parseJson(body.toString("utf8"))
  if (!isObject(answer)) return null
  const decoded = codecs[wire].decodeResponse(answer, spec.dialect)
  if (decoded._tag === "Left") return null
  const text = decoded.right.parts.map((part) => (part.type === "text" ? part.text : "")).join("")
  return text.slice(0, mostTextChars)
}

export const answerOf = (
  model: string,
  { answered, error, latencyMs }: QuestionResult,
  { costOf }: Prices
): FirstAnswer => ({
  model,
  text: answered === null ? null : textOf(answered),
  latencyMs,
  costUsd: answered === null ? null : costOf(answered),
  error
})
