/** Describes the expectation of a schema, in one sentence for people who sent something else. */

const expectation = /^Expected (.+?)(?:, actual .*)?$/s

/**
 * Pattern of names of several words: only objects have such names. A type that is made of another one has it in its
 * name.
 */
const ofObject = /^(?!.*From[A-Z])(?:[A-Z][a-z0-9]+){2,}$/

/** Describes the expectation without the name of a type of ours. */
const plainly = (expected: string): string => {
  if (expected.startsWith("ReadonlyArray<")) return "an array"
  return /^\(?(?:Struct\b|\{)/.test(expected) || ofObject.test(expected) ? "an object" : expected
}

/**
 * Describes the expectation at one place. Every branch of a union reports on its own, so they are joined; the value
 * given is not repeated, for it may be a secret.
 */
export const expectedOf = (messages: ReadonlyArray<string>): string => {
  const plain = messages.find((message) => !expectation.test(message))
  if (plain !== undefined) return plain
  const expected = new Set(messages.map((message) => plainly(expectation.exec(message)?.[1] ?? message)))
  if (expected.size > 1) expected.delete("null")
  return `must be ${[...expected].join(" or ")}`
}
