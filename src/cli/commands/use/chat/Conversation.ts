/** A conversation at the terminal as a state machine: what is typed comes in, what is to be done comes out. Pure. */
import { harmlessLines } from "../../../../kernel/text/TerminalText.ts"
import type { Content } from "./Content.ts"

export interface Turn {
  readonly role: "user" | "assistant"
  readonly content: Content
}

export interface Conversation {
  readonly model: string
  readonly system: string | null
  readonly turns: ReadonlyArray<Turn>
  /** Lines of a message that is not finished. */
  readonly lines: ReadonlyArray<string>
  /** True between two lines of `"""`. */
  readonly isBlock: boolean
  /** Ctrl-C came last: another one leaves. */
  readonly isInterrupted: boolean
}

export type Input =
  | { readonly _tag: "Line"; readonly text: string }
  /** Ctrl-C; `hadText` when it took back what was typed. */
  | { readonly _tag: "Interrupt"; readonly hadText: boolean }
  /** Ctrl-D. */
  | { readonly _tag: "End" }

export type Action =
  | { readonly _tag: "Wait" }
  | { readonly _tag: "Say"; readonly text: string }
  | { readonly _tag: "Ask"; readonly text: string }
  | { readonly _tag: "Save"; readonly path: string }
  | { readonly _tag: "Leave"; readonly byInterrupt: boolean }

export interface Step {
  readonly state: Conversation
  readonly action: Action
}

export const started = (model: string, system: string | null): Conversation => ({
  model,
  system,
  turns: [],
  lines: [],
  isBlock: false,
  isInterrupted: false
})

export const help = [
  "/model [id]   show or change the model",
  "/clear        begin anew",
  "/save <file>  write the conversation to a new file, as Markdown or (.json) as messages",
  "/help         show this",
  "/quit         leave, as Ctrl-D does",
  "",
  "@path puts in a file, \\ at the end of a line goes on with the next, and so do lines between two lines of",
  '""". Ctrl-C stops an answer; twice, it leaves.'
].join("\n")

const wait: Action = { _tag: "Wait" }
const say = (text: string): Action => ({ _tag: "Say", text })

const quotes = '"""'

const commanded = (state: Conversation, line: string): Step => {
  const [word = "", ...others] = line.split(/\s+/)
  const rest = others.join(" ")
  switch (word) {
    case "/help":
    case "/?":
      return { state, action: say(help) }
    case "/model":
      return rest === ""
        ? { state, action: say(`The model is ${state.model}.`) }
        : { state: { ...state, model: rest }, action: say(`The model is ${rest} from now on.`) }
    case "/clear":
    case "/new":
      return { state: { ...state, turns: [] }, action: say("The conversation begins anew.") }
    case "/save":
      if (rest === "") return { state, action: say("Give the name of a file: /save talk.md") }
      return state.turns.length === 0
        ? { state, action: say("There is nothing to save yet.") }
        : { state, action: { _tag: "Save", path: rest } }
    case "/quit":
    case "/exit":
    case "/bye":
      return { state, action: { _tag: "Leave", byInterrupt: false } }
    default:
      return {
        state,
        action: say(`There is no ${word}. /help lists what there is; a space in front makes it a question.`)
      }
  }
}

const asked = (state: Conversation, text: string): Step => ({
  state: { ...state, lines: [], isBlock: false },
  action: text.trim() === "" ? wait : { _tag: "Ask", text }
})

const withLine = (state: Conversation, text: string): Step => {
  const more = (lines: ReadonlyArray<string>, isBlock: boolean): Step => ({
    state: { ...state, lines, isBlock },
    action: wait
  })
  const soFar = [...state.lines, text]
  if (state.isBlock) {
    return text.trimEnd() === quotes ? asked(state, state.lines.join("\n")) : more(soFar, true)
  }
  if (state.lines.length === 0 && text.trimEnd() === quotes) return more([], true)
  if (text.endsWith("\\")) return more([...state.lines, text.slice(0, -1)], false)
  // What was pasted has several lines, and is no command.
  if (state.lines.length === 0 && /^\/\S+[^\n]*$/.test(text)) return commanded(state, text.trim())
  return asked(state, soFar.join("\n"))
}

/** The state after an input, and what is to be done. */
export const next = (state: Conversation, input: Input): Step => {
  switch (input._tag) {
    case "Line":
      return withLine({ ...state, isInterrupted: false }, input.text)
    case "Interrupt": {
      if (state.isInterrupted && !input.hadText) return { state, action: { _tag: "Leave", byInterrupt: true } }
      const dropped = { ...state, lines: [], isBlock: false }
      return input.hadText || state.lines.length > 0 || state.isBlock
        ? { state: { ...dropped, isInterrupted: false }, action: wait }
        : { state: { ...dropped, isInterrupted: true }, action: say("Ctrl-C again leaves, and so does Ctrl-D.") }
    }
    case "End":
      return { state, action: { _tag: "Leave", byInterrupt: false } }
  }
}

/** Result of a question. */
export interface Outcome {
  readonly text: string
  readonly isWhole: boolean
  /** Ctrl-C stopped it. */
  readonly isStopped: boolean
}

/**
 * Adds a question and its answer. A stopped answer stays as far as it was shown. A question that failed without any answer is not kept, so
 * that the next one is not sent behind it.
 */
export const answered = (
  state: Conversation,
  question: Content,
  { isStopped, isWhole, text }: Outcome
): Conversation => {
  const turns =
    text === "" && !isWhole
      ? state.turns
      : [...state.turns, { role: "user" as const, content: question }, { role: "assistant" as const, content: text }]
  return { ...state, turns, isInterrupted: isStopped }
}

/** Builds the messages to send: the system text, the turns so far, and the question. */
export const messagesOf = ({ system, turns }: Pick<Conversation, "system" | "turns">, question: Content) => [
  ...(system === null ? [] : [{ role: "system" as const, content: system }]),
  ...turns,
  { role: "user" as const, content: question }
]

const plain = (content: Content): string =>
  typeof content === "string"
    ? content
    : content.map((part) => (part.type === "text" ? part.text : "(an image)")).join("\n")

/** The conversation as a file: messages for `.json`, else Markdown. */
export const savedAs = ({ model, system, turns }: Conversation, path: string): string => {
  if (path.endsWith(".json")) {
    const messages = [...(system === null ? [] : [{ role: "system", content: system }]), ...turns]
    return `${JSON.stringify({ model, messages }, null, 2)}\n`
  }
  const parts = [
    ...(system === null ? [] : [["System", system]]),
    ...turns.map(({ content, role }) => [role === "user" ? "You" : "Model", plain(content)])
  ]
  return `${[`# Conversation with ${model}`, ...parts.map(([who = "", text = ""]) => `## ${who}\n\n${harmlessLines(text)}`)].join("\n\n")}\n`
}
