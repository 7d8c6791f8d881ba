/** What a schema expected, in one sentence for the person who sent something else. */

const expectation = /^Expected (.+?)(?:, actual .*)?$/s

/** Of several words: only objects have such names. What is made of something else has it in its name. */
const ofObject = /^(?!.*From[A-Z])(?:[A-Z][a-z0-9]+){2,}$/

/** What was expected, without the name of a type of ours. */
const plainly = (expected: string): string => {
  if (expected.startsWith("ReadonlyArray<")) return "an array"
  return /^\(?(?:Struct\b|\{)/.test(expected) || ofObject.test(expected) ? "an object" : expected
}

/**
 * What was expected at one place. Every branch of a union reports on its own, so they are put together; what was given
 * is not repeated, for it may be a secret.
 */
export const expectedOf = (messages: ReadonlyArray<string>): string => {
  const plain = messages.find((message) => !expectation.test(message))
  if (plain !== undefined) return plain
  const expected = new Set(messages.map((message) => plainly(expectation.exec(message)?.[1] ?? message)))
  if (expected.size > 1) expected.delete("null")
  return `must be ${[...expected].join(" or ")}`
}
