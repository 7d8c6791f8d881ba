/** A list to choose from: typing narrows it, arrows move, Enter takes. */
import * as Prompt from "@effect/cli/Prompt"
import * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { harmless } from "../../kernel/text/TerminalText.ts"

export interface Choice<A> {
  readonly title: string
  /** Text that is shown behind the title and searched too. */
  readonly detail: string
  readonly value: A
}

interface State {
  readonly typed: string
  readonly index: number
}

const mostShown = 10
const mostTyped = 80

/** The choices that have the text in them, those that begin with it first. */
export const matching = <A>(choices: ReadonlyArray<Choice<A>>, typed: string): ReadonlyArray<Choice<A>> => {
  const text = typed.trim().toLowerCase()
  if (text === "") return choices
  const found = choices.filter(({ detail, title }) => `${title} ${detail}`.toLowerCase().includes(text))
  const begins = ({ detail, title }: Choice<A>) =>
    title.toLowerCase().startsWith(text) || detail.toLowerCase().startsWith(text)
  return [...found.filter(begins), ...found.filter((choice) => !begins(choice))]
}

/** The part of a list that is shown so that `index` is in it. */
export const windowOf = (length: number, index: number, size: number): readonly [from: number, to: number] => {
  const from = Math.max(0, Math.min(index - Math.floor(size / 2), length - size))
  return [from, Math.min(length, from + size)]
}

const cut = (text: string, columns: number): string => {
  const letters = [...harmless(text)]
  return letters.length < columns ? letters.join("") : `${letters.slice(0, Math.max(1, columns - 2)).join("")}…`
}

const linesOf = <A>(
  message: string,
  choices: ReadonlyArray<Choice<A>>,
  { index, typed }: State,
  columns: number
): ReadonlyArray<string> => {
  const found = matching(choices, typed)
  const [from, to] = windowOf(found.length, index, mostShown)
  const shown = found.slice(from, to).map(({ detail, title }, offset) => {
    const pointer = from + offset === index ? "❯" : " "
    return `${pointer} ${title}${detail === "" ? "" : `  (${detail})`}`
  })
  const rest =
    found.length === 0
      ? ["  Nothing has this text in it."]
      : found.length > shown.length
        ? [`  ${found.length - shown.length} more; type to search`]
        : []
  return [`? ${message} › ${typed}`, ...shown, ...rest].map((line) => cut(line, columns))
}

const defaultColumns = 80

/** Asks for one of the choices. Fails with `QuitException` on Ctrl-C. */
export const choose = <A>(message: string, choices: ReadonlyArray<Choice<A>>): Prompt.Prompt<A> => {
  const columnsOf = Effect.flatMap(Terminal.Terminal, (terminal) =>
    Effect.map(terminal.columns, (columns) => columns || defaultColumns)
  )
  /** Erases a frame, whose cursor is at the end of the last line. */
  const erase = (lines: number): string => `\r${lines > 1 ? `\u001b[${lines - 1}A` : ""}\u001b[J`

  return Prompt.custom<State, A>(
    { typed: "", index: 0 },
    {
      render: (state, action) =>
        Effect.map(columnsOf, (columns) => {
          switch (action._tag) {
            case "Beep":
              return "\u0007"
            case "NextFrame":
              return linesOf(message, choices, action.state, columns).join("\n")
            case "Submit": {
              const taken = matching(choices, state.typed)[state.index]
              return `${cut(`? ${message} › ${taken?.title ?? ""}`, columns)}\n`
            }
          }
        }),
      clear: (state) => Effect.map(columnsOf, (columns) => erase(linesOf(message, choices, state, columns).length)),
      process: ({ input, key }, state) =>
        Effect.sync((): Prompt.Prompt.Action<State, A> => {
          const found = matching(choices, state.typed)
          const next = (changed: Partial<State>): Prompt.Prompt.Action<State, A> => ({
            _tag: "NextFrame",
            state: { ...state, ...changed }
          })
          const move = (by: number) =>
            found.length === 0 ? next({}) : next({ index: (state.index + by + found.length) % found.length })
          switch (key.name) {
            case "up":
              return move(-1)
            case "down":
            case "tab":
              return move(1)
            case "enter":
            case "return": {
              const taken = found[state.index]
              return taken === undefined ? { _tag: "Beep" } : { _tag: "Submit", value: taken.value }
            }
            case "backspace":
              return next({ typed: state.typed.slice(0, -1), index: 0 })
          }
          const letter = Option.getOrElse(input, () => "")
          if (key.ctrl || key.meta || !/^[\x20-\x7e]+$/.test(letter) || state.typed.length >= mostTyped) return next({})
          return next({ typed: state.typed + letter, index: 0 })
        })
    }
  )
}
