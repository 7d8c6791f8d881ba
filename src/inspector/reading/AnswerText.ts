/** An answer of any wire as text for people, piece by piece where its stream can be read so. */
import type { ApiKind } from "../../domain/TrafficRecord.ts"
import { readAnswer } from "./Answer.ts"
import { codecOf } from "./Format.ts"
import type { StreamEvent } from "../../wire/canonical/Event.ts"
import { makePartCollector } from "../../wire/canonical/PartCollector.ts"
import type { AnswerPart } from "../../wire/canonical/Response.ts"

export interface AnswerReader {
  /** Text that has come with these bytes. */
  readonly push: (chunk: Uint8Array) => string
  /** The rest of it. */
  readonly end: () => string
  /** Tool calls, a line each; once it has ended. */
  readonly beside: () => ReadonlyArray<string>
  /** Why the answer is not whole; null: it is. */
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

const callsIn = (parts: ReadonlyArray<AnswerPart>): ReadonlyArray<string> =>
  parts.flatMap((part) => (part.type === "tool_call" ? [`→ ${part.name} ${part.args}`] : []))

const textIn = (parts: ReadonlyArray<AnswerPart>): string =>
  parts.flatMap((part) => (part.type === "text" || part.type === "refusal" ? [part.text] : [])).join("\n")

const flowing: ReadonlySet<ApiKind> = new Set<ApiKind>(["chat", "messages", "responses", "gemini", "ollama"])

const makeFlowing = (kind: ApiKind, path: string): AnswerReader => {
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
    push: (chunk) => take(decoder.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))),
    end: () => take(decoder.end()),
    beside: () => callsIn(collector.parts() ?? []),
    problem: () => problem
  }
}

const makeGathered = ({ kind, path, type }: Answering): AnswerReader => {
  const pieces: Array<Uint8Array> = []
  const decoder = new TextDecoder()
  let size = 0
  let calls: ReadonlyArray<string> = []
  const gathered = (): string => Buffer.concat(pieces).toString()
  return {
    push: (chunk) => {
      if (size > maxGatheredBytes) return decoder.decode(chunk, { stream: true })
      size += chunk.length
      pieces.push(chunk)
      if (size <= maxGatheredBytes) return ""
      const first = decoder.decode(Buffer.concat(pieces), { stream: true })
      pieces.length = 0
      return first
    },
    end: () => {
      if (size > maxGatheredBytes) return decoder.decode()
      const text = gathered()
      const answer =
        kind === null ? null : readAnswer({ apiKind: kind, codec: codecOf(kind, path), body: {} }, text, type)
      calls = callsIn(answer?.parts ?? [])
      const said = textIn(answer?.parts ?? [])
      return said === "" && calls.length === 0 ? text : said
    },
    beside: () => calls,
    problem: () => null
  }
}

export const makeAnswerReader = (answering: Answering): AnswerReader => {
  const { kind, path, type } = answering
  return kind !== null && flowing.has(kind) && /event-stream|ndjson/i.test(type)
    ? makeFlowing(kind, path)
    : makeGathered(answering)
}
