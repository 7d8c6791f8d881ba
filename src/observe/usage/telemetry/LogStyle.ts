/** Format of log lines: text for people or JSON for programs, and the colours of text. */
import type { LogFormat } from "../../../platform/AppConfig.ts"

export interface LogStyle {
  readonly format: LogFormat
  /** True only at a terminal, and only for text. */
  readonly colours: boolean
}

export const jsonStyle: LogStyle = { format: "json", colours: false }

/** `chosen` null: text at a terminal, else JSON. Any `NO_COLOR` but an empty one turns colours off (https://no-color.org). */
export const styleOf = (
  chosen: LogFormat | null,
  isTerminal: boolean,
  environment: ReadonlyMap<string, string>
): LogStyle => {
  const format = chosen ?? (isTerminal ? "text" : "json")
  const isPlain = (environment.get("NO_COLOR") ?? "") !== "" || environment.get("TERM") === "dumb"
  return { format, colours: format === "text" && isTerminal && !isPlain }
}

const codes = { dim: 2, red: 31, green: 32, yellow: 33 } as const
export type Colour = keyof typeof codes

export type Paint = (colour: Colour, text: string) => string

const plain: Paint = (_, text) => text
const coloured: Paint = (colour, text) => `\u001b[${codes[colour]}m${text}\u001b[0m`

/** Colours a text that holds no control characters. */
export const painter = ({ colours }: LogStyle): Paint => (colours ? coloured : plain)
