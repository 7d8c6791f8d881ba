/**
 * The prompt of a request as the list of its parts, in the order in which providers cache it: tools, system prompt, messages
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching, https://developers.openai.com/api/docs/guides/prompt-caching).
 * Marks and parameters are no text of the prompt and are beside it. Pure.
 */
import { hash } from "node:crypto"
import { isArray, isObject, type Json, type JsonObject } from "../../../wire/json/Json.ts"

export type SegmentKind = "tools" | "system" | "message"

/** A tool, a block of the system prompt, a block of a message: what is cached as a whole. */
export interface Segment {
  readonly kind: SegmentKind
  /** Path in the body: `tools[3]`, `system[0]`, `messages[7].content[1]`. */
  readonly path: string
  /** Value without marks. A single text is written as the list of one block it is equal to. */
  readonly value: Json
  /** True when `value` is a block and the body has its text only: paths inside of it then name no member. */
  readonly isText: boolean
  /** Null for tools. */
  readonly role: string | null
  /** Index of the message, counted over the list of messages; null elsewhere. */
  readonly message: number | null
  /** JSON of `value`, members in the order of the body, as the order is part of what the provider reads. */
  readonly text: string
  /** UTF-8 bytes of `text`. */
  readonly bytes: number
  /** Names the content and the role, wherever it is. */
  readonly hash: string
}

/** Earlier reasoning of the model. Providers and clients drop it from old turns, so it is kept apart from the segments. */
export interface Reasoning {
  /** Segments before it. */
  readonly before: number
  readonly hash: string
}

/** The end of a part that is to be cached (`cache_control`). */
export interface Mark {
  /** Segments up to its end. */
  readonly after: number
  readonly path: string
  readonly ttlMs: number
}

/** A member of the request that is no text of the prompt and still decides whether a cached prompt fits. */
export interface Parameter {
  readonly path: string
  /** JSON of its value. */
  readonly text: string
}

export interface Prompt {
  readonly segments: ReadonlyArray<Segment>
  readonly reasoning: ReadonlyArray<Reasoning>
  readonly marks: ReadonlyArray<Mark>
  readonly parameters: ReadonlyArray<Parameter>
  /** Segments up to the end of the last turn a user wrote, results of tools excluded. */
  readonly lastUser: number
  /** UTF-8 bytes of all segments. */
  readonly bytes: number
  /** The prompt begins with something the provider keeps (an earlier answer, a named cache) and the body only names. */
  readonly isContinued: boolean
  /** True when it has more segments than are looked at. */
  readonly isCut: boolean
}

/** Segments that are looked at; what comes after them is left out. */
export const maxSegments = 16_384

/** Marks that are looked at; providers refuse more than four. */
const maxMarks = 64

export const hashOf = (text: string): string => hash("sha256", text, "base64url").slice(0, 22)

const minuteMs = 60_000
export const shortTtlMs = 5 * minuteMs
export const hourTtlMs = 60 * minuteMs

/** Time a mark asks for: five minutes unless it says an hour. */
const ttlOf = (mark: JsonObject): number => (mark["ttl"] === "1h" ? hourTtlMs : shortTtlMs)

/** The block without its mark and without marks of the blocks inside; the same object where it has none. */
const withoutMarks = (value: Json): Json => {
  if (!isObject(value)) return value
  const { content } = value
  const isMarkedInside =
    isArray(content) && content.some((inner) => isObject(inner) && inner["cache_control"] !== undefined)
  if (value["cache_control"] === undefined && !isMarkedInside) return value
  const { cache_control: _mark, ...rest } = value
  return isMarkedInside ? { ...rest, content: content.map(withoutMarks) } : rest
}

const marksIn = (value: Json): ReadonlyArray<JsonObject> => {
  if (!isObject(value)) return []
  const { cache_control: mark, content } = value
  const inner = isArray(content) ? content.flatMap(marksIn) : []
  return isObject(mark) ? [...inner, mark] : inner
}

export interface Place {
  readonly kind: SegmentKind
  readonly path: string
  readonly role?: string
  readonly message?: number
  readonly isText?: true
}

/** Collects a prompt part by part. */
export class PromptParts {
  readonly #segments: Array<Segment> = []
  readonly #reasoning: Array<Reasoning> = []
  readonly #marks: Array<Mark> = []
  readonly #parameters: Array<Parameter> = []
  #lastUser = 0
  #bytes = 0
  #isContinued = false
  #isCut = false

  add(value: Json, { isText, kind, message, path, role }: Place): void {
    if (this.#segments.length >= maxSegments) {
      this.#isCut = true
      return
    }
    const plain = withoutMarks(value)
    const text = JSON.stringify(plain)
    const bytes = Buffer.byteLength(text)
    this.#bytes += bytes
    this.#segments.push({
      kind,
      path,
      value: plain,
      isText: isText === true,
      role: role ?? null,
      message: message ?? null,
      text,
      bytes,
      hash: hashOf(`${kind} ${role ?? ""}\n${text}`)
    })
    if (plain !== value) for (const mark of marksIn(value)) this.#mark(path, ttlOf(mark))
  }

  /** A text that stands alone. */
  addText(text: string, place: Place): void {
    this.add({ type: "text", text }, { ...place, isText: true })
  }

  addReasoning(value: Json): void {
    if (this.#isCut) return
    this.#reasoning.push({ before: this.#segments.length, hash: hashOf(JSON.stringify(value)) })
  }

  /** A mark for all that was added so far. */
  addMark(mark: Json | undefined, path: string): void {
    if (isObject(mark)) this.#mark(path, ttlOf(mark))
  }

  addParameter(path: string, value: Json | undefined): void {
    if (value !== undefined && value !== null) this.#parameters.push({ path, text: JSON.stringify(value) })
  }

  /** Marks the last added part as written by a user. */
  userWrote(): void {
    this.#lastUser = this.#segments.length
  }

  isContinued(): void {
    this.#isContinued = true
  }

  done(): Prompt {
    return {
      segments: this.#segments,
      reasoning: this.#reasoning,
      marks: this.#marks,
      parameters: this.#parameters,
      lastUser: this.#lastUser,
      bytes: this.#bytes,
      isContinued: this.#isContinued,
      isCut: this.#isCut
    }
  }

  #mark(path: string, ttlMs: number): void {
    const after = this.#segments.length
    if (after > 0 && this.#marks.length < maxMarks)
      this.#marks.push({ after, path: path === "" ? "cache_control" : `${path}.cache_control`, ttlMs })
  }
}
