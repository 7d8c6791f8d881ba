/**
 * Puts tool results where strict targets require them: each result once, right after the turn that made the call. Messages between
 * them are moved after the results. Pure and linear.
 */
import type { Conversation, Message, Part, ToolCallPart, ToolResultPart } from "../Conversation.ts"

/** The result of a call that has none. */
export const noResult = "No result was given for this call."

export interface PairedCalls {
  readonly conversation: Conversation
  /** A result came a second time with other content; only the first is kept. */
  readonly repeated: boolean
  /** The history has calls without a result: they got `noResult`. */
  readonly unanswered: boolean
}

/** Consecutive assistant messages, with their calls and the results in the order they came. */
interface Turn {
  readonly first: number
  /** Index after its last message. */
  end: number
  readonly calls: Array<ToolCallPart>
  readonly answers: Array<ToolResultPart>
}

/** Calls of one id that have no result yet. Ids may repeat in later turns. */
interface Waiting {
  readonly turn: Turn
  open: number
  last: ToolResultPart | null
}

const sameResult = (one: ToolResultPart | null, other: ToolResultPart): boolean =>
  one?.isError === other.isError && JSON.stringify(one.content) === JSON.stringify(other.content)

interface Reading {
  readonly turns: ReadonlyArray<Turn>
  /** Results that repeat an earlier one. */
  readonly again: ReadonlySet<Part>
  readonly repeated: boolean
}

const readTurns = (messages: ReadonlyArray<Message>): Reading => {
  const turns: Array<Turn> = []
  const waiting = new Map<string, Waiting>()
  const again = new Set<Part>()
  let repeated = false
  let turn: Turn | null = null

  const call = (part: ToolCallPart, own: Turn): void => {
    own.calls.push(part)
    const known = waiting.get(part.id)
    if (known?.turn === own) known.open += 1
    else waiting.set(part.id, { turn: own, open: 1, last: null })
  }

  const answer = (part: ToolResultPart): void => {
    const known = waiting.get(part.callId)
    // There is no such call: the result stays where it is.
    if (known === undefined) return
    if (known.open > 0) {
      known.open -= 1
      known.last = part
      known.turn.answers.push(part)
      return
    }
    again.add(part)
    repeated ||= !sameResult(known.last, part)
  }

  for (const [index, { parts, role }] of messages.entries()) {
    if (role === "assistant") {
      turn ??= { first: index, end: index, calls: [], answers: [] }
      turn.end = index + 1
      if (turns.at(-1) !== turn) turns.push(turn)
    } else turn = null
    for (const part of parts) {
      if (part.type === "tool_call" && turn !== null) call(part, turn)
      else if (part.type === "tool_result") answer(part)
    }
  }
  return { turns, again, repeated }
}

const unansweredResult = ({ id }: ToolCallPart): ToolResultPart => ({
  type: "tool_result",
  callId: id,
  content: [{ type: "text", text: noResult }],
  isError: false
})

const missing = ({ answers, calls }: Turn): ReadonlyArray<ToolResultPart> => {
  const answered = new Set(answers.map(({ callId }) => callId))
  return calls.flatMap((call) => (answered.has(call.id) ? [] : unansweredResult(call)))
}

/** Checks whether all calls of the turn are in its last message. */
const callsLast = (messages: ReadonlyArray<Message>, { calls, end }: Turn): boolean =>
  messages[end - 1]?.parts.filter(({ type }) => type === "tool_call").length === calls.length

/** Checks whether the results of the turn's calls come right after it. */
const isPaired = (messages: ReadonlyArray<Message>, turn: Turn): boolean => {
  const { answers, calls, end } = turn
  if (calls.length === 0) return true
  if (!callsLast(messages, turn)) return false
  const behind = new Set<Part>(messages[end]?.parts)
  return answers.every((result) => behind.has(result)) && (answers.length === 0 || messages[end]?.role === "tool")
}

const withoutParts = (message: Message, moved: ReadonlySet<Part>): ReadonlyArray<Message> => {
  if (!message.parts.some((part) => moved.has(part))) return [message]
  const parts = message.parts.filter((part) => !moved.has(part))
  return parts.length === 0 ? [] : [{ ...message, parts }]
}

/** `fills`: the target refuses a call without a result, and the client's own provider does not. */
export const pairCalls = (conversation: Conversation, fills: boolean): PairedCalls => {
  const { messages } = conversation
  const { again, repeated, turns } = readTurns(messages)
  const gaps = new Map(fills ? turns.map((turn) => [turn, missing(turn)] as const) : [])
  const unanswered = [...gaps.values()].some((gap) => gap.length > 0)
  if (again.size === 0 && !unanswered && turns.every((turn) => isPaired(messages, turn))) {
    return { conversation, repeated, unanswered }
  }
  const moved = new Set<Part>(again)
  for (const { answers } of turns) for (const answer of answers) moved.add(answer)
  const paired: Array<Message> = []
  let at = 0
  for (const turn of turns) {
    for (const between of messages.slice(at, turn.first)) paired.push(...withoutParts(between, moved))
    const said = messages.slice(turn.first, turn.end)
    const [head] = said
    if (head === undefined || turn.calls.length === 0 || callsLast(messages, turn)) paired.push(...said)
    else paired.push({ ...head, parts: said.flatMap(({ parts }) => parts) })
    const results = [...turn.answers, ...(gaps.get(turn) ?? [])]
    if (results.length > 0) paired.push({ role: "tool", parts: results })
    at = turn.end
  }
  for (const rest of messages.slice(at)) paired.push(...withoutParts(rest, moved))
  return { conversation: { ...conversation, messages: paired }, repeated, unanswered }
}
