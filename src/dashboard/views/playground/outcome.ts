/** Reads answers that are no stream: what is shown of them. Everything in them is foreign. */
import { linkOf } from "../../ui/markdown/inline.ts"
import type { Endpoint } from "./endpoints.ts"

/** Bytes that are shown from memory, or a place that is named and not loaded. */
export type Medium = { readonly blob: Blob } | { readonly place: string }

export type Outcome =
  | { readonly _tag: "Text"; readonly text: string }
  | {
      readonly _tag: "Vectors"
      readonly vectors: ReadonlyArray<{
        readonly size: number
        readonly first: ReadonlyArray<number>
        readonly likeness: number
      }>
    }
  | { readonly _tag: "Pictures" | "Sounds"; readonly media: ReadonlyArray<Medium> }
  | { readonly _tag: "Flags"; readonly isFlagged: boolean; readonly scores: ReadonlyArray<readonly [string, number]> }
  | { readonly _tag: "Ranking"; readonly rows: ReadonlyArray<{ readonly index: number; readonly score: number }> }
  | {
      readonly _tag: "Hits"
      readonly hits: ReadonlyArray<{
        readonly title: string
        readonly url: string
        readonly host: string | null
        readonly text: string
      }>
    }
  | { readonly _tag: "Json"; readonly text: string }

type Members = Readonly<Record<string, unknown>>

const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {}
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => (typeof value === "string" ? value : "")
const numberOf = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0)

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => {
  const letters = atob(base64.replace(/^data:[^,]{0,200},/, ""))
  const bytes = new Uint8Array(letters.length)
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at)
  return bytes
}

const signatures: ReadonlyArray<readonly [ReadonlyArray<number>, string]> = [
  [[0x89, 0x50, 0x4e, 0x47], "image/png"],
  [[0xff, 0xd8, 0xff], "image/jpeg"],
  [[0x47, 0x49, 0x46, 0x38], "image/gif"],
  [[0x49, 0x44, 0x33], "audio/mpeg"],
  [[0xff, 0xfb], "audio/mpeg"],
  [[0x4f, 0x67, 0x67, 0x53], "audio/ogg"],
  [[0x66, 0x4c, 0x61, 0x43], "audio/flac"]
]

/** The type of bytes by how they begin: what an answer says of itself is not believed. */
export const typeOf = (bytes: Uint8Array): string => {
  if (bytes[0] === 0x52 && bytes[1] === 0x49) return bytes[8] === 0x57 && bytes[9] === 0x41 ? "audio/wav" : "image/webp"
  return signatures.find(([begin]) => begin.every((byte, at) => bytes[at] === byte))?.[1] ?? "application/octet-stream"
}

const mediumOf = (value: unknown): ReadonlyArray<Medium> => {
  const { b64_json: base64, url } = membersOf(value)
  if (typeof base64 === "string" && base64 !== "") {
    try {
      const bytes = bytesOf(base64)
      return [{ blob: new Blob([bytes], { type: typeOf(bytes) }) }]
    } catch {
      return []
    }
  }
  return typeof url === "string" && url !== "" ? [{ place: url }] : []
}

const mostFirst = 6

const likeness = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  let [dot, left, right] = [0, 0, 0]
  for (const [at, value] of one.entries()) {
    dot += value * (other[at] ?? 0)
    left += value * value
    right += (other[at] ?? 0) ** 2
  }
  return left === 0 || right === 0 ? 0 : dot / Math.sqrt(left * right)
}

const vectorsOf = (answer: Members): Outcome => {
  const vectors = listOf(answer["data"]).map((one) => listOf(membersOf(one)["embedding"]).map(numberOf))
  const [first = []] = vectors
  return {
    _tag: "Vectors",
    vectors: vectors.map((vector) => ({
      size: vector.length,
      first: vector.slice(0, mostFirst),
      likeness: likeness(first, vector)
    }))
  }
}

const flagsOf = (answer: Members): Outcome => {
  const [result] = listOf(answer["results"]).map(membersOf)
  const scores = Object.entries(membersOf(result?.["category_scores"])).map(
    ([name, value]) => [name, numberOf(value)] as const
  )
  return {
    _tag: "Flags",
    isFlagged: result?.["flagged"] === true,
    scores: scores.toSorted(([, one], [, other]) => other - one)
  }
}

const hitsOf = (answer: Members): Outcome => ({
  _tag: "Hits",
  hits: listOf(answer["results"]).map((one) => {
    const { content, snippet, title, url } = membersOf(one)
    const link = linkOf(textOf(url))
    return {
      title: textOf(title),
      url: link?.url ?? textOf(url),
      host: link?.host ?? null,
      text: textOf(snippet) || textOf(content)
    }
  })
})

export const outcomeOf = (endpoint: Endpoint, value: unknown): Outcome => {
  const answer = membersOf(value)
  switch (endpoint) {
    case "embeddings":
      return vectorsOf(answer)
    case "images":
      return { _tag: "Pictures", media: listOf(answer["data"]).flatMap(mediumOf) }
    case "audio":
      return { _tag: "Sounds", media: listOf(answer["data"]).flatMap(mediumOf) }
    case "transcriptions":
      return { _tag: "Text", text: textOf(answer["text"]) }
    case "moderations":
      return flagsOf(answer)
    case "rerank":
      return {
        _tag: "Ranking",
        rows: listOf(answer["results"]).map((one) => ({
          index: numberOf(membersOf(one)["index"]),
          score: numberOf(membersOf(one)["relevance_score"])
        }))
      }
    case "search":
      return hitsOf(answer)
    default:
      return { _tag: "Json", text: JSON.stringify(value, null, 2) }
  }
}

/** Tokens that an answer tells. */
export const usageOf = (value: unknown): { readonly tokensIn: number; readonly tokensOut: number } | null => {
  const {
    completion_tokens: made,
    input_tokens: read,
    output_tokens: told,
    prompt_tokens: given
  } = membersOf(membersOf(value)["usage"])
  if (given === undefined && read === undefined) return null
  return { tokensIn: numberOf(given ?? read), tokensOut: numberOf(made ?? told) }
}
