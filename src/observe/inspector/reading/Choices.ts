/** Answers that hold several choices (`n`, `candidateCount`): the codecs read the first one of an answer, so each other is made the first of its own. Pure. */
import { isArray, isObject, type Json, type JsonObject } from "../../../wire/json/Json.ts"

/** More than any provider gives; those beyond it are not read. */
const maxChoices = 128

const indexOf = (choice: Json): number => {
  const index = isObject(choice) ? choice["index"] : undefined
  return typeof index === "number" && Number.isSafeInteger(index) && index > 0 ? index : 0
}

/**
 * Checks whether a text may hold a choice that is not the first one; without it nothing needs to be parsed once more.
 */
export const mayHoldOthers = (text: string): boolean => /"index"\s*:\s*[1-9]/.test(text)

const membersOf = (body: JsonObject): ReadonlyArray<readonly [name: string, choices: ReadonlyArray<Json>]> =>
  ["choices", "candidates"].flatMap((name) => {
    const choices = body[name]
    return isArray(choices) ? [[name, choices] as const] : []
  })

const asFirst = (choice: Json): Json => (isObject(choice) ? { ...choice, index: 0 } : choice)

/** The other choices of a whole answer, each as the first of an answer of its own. */
export const otherChoices = (body: JsonObject): ReadonlyArray<JsonObject> =>
  membersOf(body).flatMap(([name, choices]) => {
    const first = choices.find((choice) => indexOf(choice) === 0)
    return choices
      .filter((choice) => choice !== first)
      .slice(0, maxChoices - 1)
      .map((choice) => Object.assign({}, body, { [name]: [asFirst(choice)] }))
  })

/** The events of each other choice of a stream, as if it were the first one. */
export const otherStreams = (events: ReadonlyArray<Json>): ReadonlyArray<ReadonlyArray<Json>> => {
  const streams = new Map<number, Array<Json>>()
  for (const event of events) {
    if (!isObject(event)) continue
    for (const [name, choices] of membersOf(event)) {
      for (const choice of choices) {
        const index = indexOf(choice)
        const stream = streams.get(index) ?? []
        if (index === 0 || (stream.length === 0 && streams.size >= maxChoices - 1)) continue
        stream.push({ ...event, [name]: [asFirst(choice)] })
        streams.set(index, stream)
      }
    }
  }
  return [...streams].sort(([one], [other]) => one - other).map(([, stream]) => stream)
}
