/** An answer of any wire as text for people, piece by piece where its stream can be read so. */
import type { ApiKind } from "../../../contract/domain/TrafficRecord.ts"
import { type ReadAnswer, readAnswer } from "./Answer.ts"
import { mayHoldOthers } from "./Choices.ts"
import { codecOf } from "./Format.ts"
import type { StreamEvent } from "../../../wire/canonical/Event.ts"
import { makePartCollector } from "../../../wire/canonical/PartCollector.ts"
import type { AnswerPart } from "../../../wire/canonical/Response.ts"

export interface AnswerReader {
  /** Text that has come with these bytes. */
  readonly push: (chunk: Uint8Array) => string
  /** The rest of it. */
  readonly end: () => string
  /** Tool calls, a line each; once it has ended. */
  readonly beside: () => ReadonlyArray<string>
  /** Returns the reason for which the answer is not whole; null: it is. */
  readonly problem: () => string | null
}

export interface Answering {
  /** The format of the request; null: it is not known. */
  readonly kind: ApiKind | null
  readonly path: string
  /** The content type of the answer. */
  readonly type: string
}

/** Longer answers that cannot be read piece by piece are shown as they come. */
const maxGatheredBytes = 16 * 1_048_576

/** Bytes up to the limit; the bytes beyond it are returned, with all that came before. */
const gatherBytes = () => {
  let pieces: Array<Uint8Array> = []
  let size = 0
  return {
    add: (chunk: Uint8Array): Uint8Array | null => {
      if (size > maxGatheredBytes) return chunk
      size += chunk.length
      pieces.push(chunk)
      if (size <= maxGatheredBytes) return null
      const all = Buffer.concat(pieces)
      pieces = []
      return all
    },
    /** Null: there was more than the limit. */
    text: (): string | null => (size > maxGatheredBytes ? null : Buffer.concat(pieces).toString())
  }
}

const answerIn = ({ kind, path, type }: Answering, text: string): ReadAnswer | null =>
  kind === null ? null : readAnswer({ apiKind: kind, codec: codecOf(kind, path), body: {} }, text, type)

const callsIn = (parts: ReadonlyArray<AnswerPart>): ReadonlyArray<string> =>
  parts.flatMap((part) => (part.type === "tool_call" ? [`→ ${part.name} ${part.args}`] : []))

const textIn = (parts: ReadonlyArray<AnswerPart>): string =>
  parts.flatMap((part) => (part.type === "text" || part.type === "refusal" ? [part.text] : [])).join("\n")

const flowing: ReadonlySet<ApiKind> = new Set<ApiKind>(["chat", "messages", "responses", "gemini", "ollama"])

/** The first choice as it is, each further one below its number. */
const textOfChoices = (choices: ReadonlyArray<ReadonlyArray<AnswerPart>>): string =>
  choices.map((parts, at) => (at === 0 ? textIn(parts) : `\n\n(choice ${at + 1})\n${textIn(parts)}`)).join("")

const makeFlowing = ({ kind, path, type }: Answering & { readonly kind: ApiKind }): AnswerReader => {
  const gathered = gatherBytes()
  let others: ReadonlyArray<ReadonlyArray<AnswerPart>> = []
  const decoder = codecOf(kind, path).makeStreamDecoder()
  const collector = makePartCollector()
  const texts = new Set<number>()
  let problem: string | null = null
  const take = (events: ReadonlyArray<StreamEvent>): string => {
    let text = ""
    for (const event of events) {
      collector.add(event)
      if (event.type === "block_start" && (event.block.type === "text" || event.block.type === "refusal")) {
        texts.add(event.index)
      } else if (event.type === "delta" && event.delta.type === "text" && texts.has(event.index)) {
        text += event.delta.text
      } else if (event.type === "error") problem = event.problem.message
    }
    return text
  }
  return {
    push: (chunk) => {
      gathered.add(chunk)
      return take(decoder.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)))
    },
    end: () => {
      const rest = take(decoder.end())
      const text = gathered.text()
      // Further choices come between the pieces of the first one: they are written below it.
      if (text !== null && mayHoldOthers(text)) others = answerIn({ kind, path, type }, text)?.others ?? []
      return rest + textOfChoices([[], ...others])
    },
    beside: () => callsIn([collector.parts() ?? [], ...others].flat()),
    problem: () => problem
  }
}

const makeGathered = (answering: Answering): AnswerReader => {
  const gathered = gatherBytes()
  const decoder = new TextDecoder()
  let calls: ReadonlyArray<string> = []
  return {
    push: (chunk) => {
      const overflow = gathered.add(chunk)
      return overflow === null ? "" : decoder.decode(overflow, { stream: true })
    },
    end: () => {
      const text = gathered.text()
      if (text === null) return decoder.decode()
      const answer = answerIn(answering, text)
      const choices = answer === null ? [] : [answer.parts, ...answer.others]
      calls = callsIn(choices.flat())
      const said = textOfChoices(choices)
      return said === "" && calls.length === 0 ? text : said
    },
    beside: () => calls,
    problem: () => null
  }
}

export const makeAnswerReader = (answering: Answering): AnswerReader => {
  const { kind, path, type } = answering
  return kind !== null && flowing.has(kind) && /event-stream|ndjson/i.test(type)
    ? makeFlowing({ kind, path, type })
    : makeGathered(answering)
}
