/** Texts of an event or a whole answer, by their places. Each wire has a reader (`wires/`). */
import type { Path, ValueEdit } from "../../../../wire/json/DeepSplice.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../../../wire/json/Json.ts"

/** Text, or a JSON text of which only the strings are texts. */
export type Form = "text" | "arguments"

/** A piece of text. */
export interface Piece {
  /**
   * `<lane>/<name>`: pieces of one channel follow each other, and a client joins them. Within a lane (an answer among several, a block) one
   * channel speaks after the other. Null: the text is in no channel.
   */
  readonly channel: string | null
  readonly path: Path
  readonly text: string
  readonly form: Form
  /** Edits made when the text is changed, of the same in another form (log probabilities). */
  readonly beside?: ReadonlyArray<ValueEdit>
}

/** A value that is replaced once its channel has been changed. */
export interface Dependent extends ValueEdit {
  readonly channel: string
}

export interface ToolCall {
  /** The client's name of the tool. */
  readonly name: string
  /** The item of a list that holds nothing but the call; null where it cannot be taken out. */
  readonly path: Path | null
}

export interface Reading {
  readonly pieces: ReadonlyArray<Piece>
  /** Texts that its channel has had before, from the beginning. */
  readonly repeats: ReadonlyArray<Piece>
  readonly dependents: ReadonlyArray<Dependent>
  /** Channels, or lanes, that say no more. */
  readonly ends: ReadonlyArray<string>
  /** Tools that are called from here on. */
  readonly calls: ReadonlyArray<ToolCall>
}

/** The reader of a wire. `event` and `answer` get what came, whatever it is. */
export interface AnswerReader {
  readonly event: (event: JsonObject) => Reading
  readonly answer: (body: JsonObject) => Reading
}

/** A reading that is being made. */
export interface Draft {
  readonly pieces: Array<Piece>
  readonly repeats: Array<Piece>
  readonly dependents: Array<Dependent>
  readonly ends: Array<string>
  readonly calls: Array<ToolCall>
}

export const draft = (): Draft => ({ pieces: [], repeats: [], dependents: [], ends: [], calls: [] })

export const saysSomething = (value: Json | undefined): value is string => typeof value === "string" && value !== ""

/** Adds `value` where it is text that says something. */
export const add = (
  to: Array<Piece>,
  channel: string | null,
  path: Path,
  value: Json | undefined,
  form: Form = "text"
): void => {
  if (saysSomething(value)) to.push({ channel, path, text: value, form })
}

/** Adds the same with what is edited when it is changed. */
export const addWith = (
  to: Array<Piece>,
  channel: string | null,
  path: Path,
  value: Json | undefined,
  beside: ReadonlyArray<ValueEdit>
): void => {
  if (saysSomething(value)) to.push({ channel, path, text: value, form: "text", beside })
}

/** Adds each string below `value` as a text of its own; with `names` only those that are members of these names. */
export const addLeaves = (
  to: Array<Piece>,
  path: Path,
  value: Json | undefined,
  names: ReadonlySet<string> | null = null
): void => {
  if (isArray(value)) {
    value.forEach((item, index) => {
      if (typeof item === "string" && names === null) add(to, null, [...path, index], item)
      else addLeaves(to, [...path, index], item, names)
    })
    return
  }
  if (!isObject(value)) return
  for (const name of Object.keys(value)) {
    const member = value[name]
    if (typeof member !== "string") addLeaves(to, [...path, name], member, names)
    else if (names === null || names.has(name)) add(to, null, [...path, name], member)
  }
}

/** Members of results of a provider's own tools that hold text; the others are ids, addresses, signatures and files. */
export const resultTexts: ReadonlySet<string> = new Set([
  "text",
  "content",
  "cited_text",
  "title",
  "output",
  "logs",
  "stdout",
  "stderr",
  "code",
  "query"
])
