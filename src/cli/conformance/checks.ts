/** Checks that cases put together: each gives what is wrong, as sentences without their ends. */
import { type Answer, at, isCount, isObject, jsonOf } from "./Answer.ts"

export type Problems = ReadonlyArray<string>

/** One sentence where the condition does not hold. */
export const unless = (holds: boolean, problem: string): Problems => (holds ? [] : [problem])

/** The value as a sentence shows it. */
const shown = (value: unknown): string =>
  value === undefined ? "nothing" : (JSON.stringify(value) ?? "nothing").slice(0, 80)

export const isJson = ({ contentType, json }: Answer): Problems => [
  ...unless(contentType.startsWith("application/json"), `the type is ${shown(contentType)}, not application/json`),
  ...unless(isObject(json), "the body is no JSON object")
]

export const isStreamOfEvents = ({ contentType, events }: Answer): Problems => [
  ...unless(contentType.startsWith("text/event-stream"), `the type is ${shown(contentType)}, not text/event-stream`),
  ...unless(events.length > 0, "there are no events")
]

export const hasText = (value: unknown, what: string): Problems =>
  unless(typeof value === "string" && value !== "", `${what} is ${shown(value)}, not a text`)

export const is = (value: unknown, wanted: string | number | boolean, what: string): Problems =>
  unless(value === wanted, `${what} is ${shown(value)}, not ${shown(wanted)}`)

export const isOneOf = (value: unknown, wanted: ReadonlyArray<string>, what: string): Problems =>
  unless(
    typeof value === "string" && wanted.includes(value),
    `${what} is ${shown(value)}, none of ${wanted.join(", ")}`
  )

export const hasCount = (value: unknown, what: string): Problems =>
  unless(isCount(value), `${what} is ${shown(value)}, not a whole number`)

/** Counts of tokens; `sum` null: the wire has none. */
export const hasUsage = (usage: unknown, parts: readonly [string, string], sum: string | null): Problems => {
  const [one, other] = parts.map((name) => at(usage, name))
  const problems = [...hasCount(one, `usage's ${parts[0]}`), ...hasCount(other, `usage's ${parts[1]}`)]
  if (sum === null || problems.length > 0) return problems
  const total = at(usage, sum)
  // A total may hold more than both, such as tokens of thoughts that are counted apart.
  return unless(
    isCount(total) && total >= Number(one) + Number(other),
    `usage's ${sum} is ${shown(total)}, less than its parts`
  )
}

/** The arguments of a call, as the text of a JSON object. */
export const hasArguments = (text: unknown): Problems =>
  unless(
    typeof text === "string" && isObject(jsonOf(text)),
    `the arguments are ${shown(text)}, not the text of an object`
  )

/** An error in the shape that a wire documents, with a status in the range. */
export const isErrorOf =
  (statuses: ReadonlyArray<number>, shape: (body: unknown) => Problems) =>
  (answer: Answer): Problems => [
    ...unless(statuses.includes(answer.status), `the status is ${answer.status}, none of ${statuses.join(", ")}`),
    ...isJson(answer),
    ...shape(answer.json)
  ]

/** `{"error": {"message", "type"}}` https://platform.openai.com/docs/guides/error-codes */
export const openAiError = (body: unknown): Problems => [
  ...hasText(at(body, "error", "message"), "error.message"),
  ...hasText(at(body, "error", "type"), "error.type")
]

/** Exactly one of the values is there. */
export const exactlyOne = (values: ReadonlyArray<unknown>, what: string): Problems =>
  unless(values.length === 1, `there are ${values.length} ${what}, and one is due`)

export const weather = {
  name: "get_weather",
  description: "Gets the weather of a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"]
  }
} as const

export const weatherQuestion = "What is the weather in Paris? Use the tool."

/** Long enough an answer for a limit of a few tokens to cut it. */
export const longQuestion = "Count from 1 to 200, one number a line."

/** A model that no server has. */
export const noModel = "no-such-model-of-any-server"

export const malformed = '{"model": "x", "messages": ['
