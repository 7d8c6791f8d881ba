/**
 * Decides how much of each answer the judge gets: all of it, or as much as fits its context window, with a mark where
 * it was cut. Pure.
 */
import type { Conversation, Part } from "../../../wire/canonical/Conversation.ts"

/** Cautious: most texts have more. */
const charsPerToken = 3

/** Characters for a judge whose window is not known. */
const usualBudget = 400_000

/** Part of its window that is kept for its own answer where the client set no limit. */
const answerPart = 0.25

/** Part of its window that the sources get however long the conversation is. */
const sourcesPart = 0.25

const charsOf = (part: Part): number => {
  switch (part.type) {
    case "text":
    case "refusal":
    case "reasoning":
      return part.text.length
    case "tool_call":
      return part.name.length + part.args.length
    case "tool_result":
      return part.content.reduce((sum, inner) => sum + charsOf(inner), 0)
    default:
      // Media are counted in other ways than by the length of what carries them.
      return 0
  }
}

const conversationChars = ({ messages, tools }: Conversation): number => {
  let chars = JSON.stringify(tools).length
  for (const { parts } of messages) for (const part of parts) chars += charsOf(part)
  return chars
}

/** Characters that all sources together may have. `contextLength`: tokens of the judge's window; null when unknown. */
export const sourceBudget = (conversation: Conversation, contextLength: number | null): number => {
  if (contextLength === null) return usualBudget
  const window = contextLength * charsPerToken
  const answer = Math.min((conversation.maxOutputTokens ?? Infinity) * charsPerToken, window * answerPart)
  return Math.floor(Math.max(window - conversationChars(conversation) - answer, window * sourcesPart))
}

/** Characters that are shown of each answer: what short answers do not need goes to the long ones. */
const shares = (lengths: ReadonlyArray<number>, room: number): ReadonlyArray<number> => {
  const shortest = lengths.map((length, index) => ({ length, index })).toSorted((a, b) => a.length - b.length)
  const shown = lengths.map(() => 0)
  let left = room
  for (const [place, { index, length }] of shortest.entries()) {
    const share = Math.min(length, Math.floor(left / (shortest.length - place)))
    shown[index] = share
    left -= share
  }
  return shown
}

/** Cuts a text to a length, never within a surrogate pair. */
const head = (text: string, length: number): string =>
  text.slice(0, (text.charCodeAt(length - 1) & 0xfc00) === 0xd800 ? length - 1 : length)

/** The answers as the judge is shown them; what is cut says so. */
export const fitted = (answers: ReadonlyArray<string>, room: number): ReadonlyArray<string> => {
  const shown = shares(
    answers.map(({ length }) => length),
    room
  )
  return answers.map((answer, index) => {
    const kept = head(answer, shown[index] ?? 0)
    const cut = answer.length - kept.length
    return cut === 0 ? answer : `${kept}\n[This source is longer: its last ${cut} characters are left out here.]`
  })
}
