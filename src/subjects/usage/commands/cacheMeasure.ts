/** `gateway cache measure`: what an embedding model would do as the judge of the semantic cache. */
import * as Command from "@effect/cli/Command"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { EmbeddingsAnswer } from "../../../contract/compat/Chat.ts"
import { CommandFailed } from "../../../cli/Failure.ts"
import { loadModule } from "../../../cli/lazy.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Inference from "../../../cli/gateway/Inference.ts"
import { kinds, modelOr } from "../../../cli/gateway/MediaModel.ts"
import * as MediaFlags from "../../../cli/flags/MediaFlags.ts"
import * as Column from "../../../cli/output/Column.ts"
import { percent } from "../../../cli/output/money.ts"
import * as Output from "../../../cli/output/Output.ts"

const noVectors = new CommandFailed({
  message: "The model has answered with no vectors.",
  hint: "Give an embedding model with -m; 'gateway model list' shows what can be asked."
})

const Row = Schema.Struct({
  threshold: Schema.Number,
  hits: Schema.Number,
  wrongHits: Schema.Number,
  vectorHits: Schema.Number,
  wrongVectorHits: Schema.Number
})

const Result = Schema.Struct({
  model: Schema.String,
  samePairs: Schema.Number,
  otherPairs: Schema.Number,
  rows: Schema.Array(Row),
  threshold: Schema.NullOr(Schema.Number)
})

const columns: ReadonlyArray<Column.Column<typeof Row.Type>> = [
  Column.number("THRESHOLD", ({ threshold }) => threshold),
  Column.text("HITS", ({ hits }) => percent(hits)),
  Column.text("WRONG HITS", ({ wrongHits }) => percent(wrongHits)),
  Column.text("BY VECTOR ALONE", ({ vectorHits }) => percent(vectorHits)),
  Column.text("WRONG", ({ wrongVectorHits }) => percent(wrongVectorHits))
]

const textsAtOnce = 100

/** The vectors of the texts, by the text. */
const vectorsOf = Effect.fnUntraced(function* (to: Client.Target, model: string, texts: ReadonlyArray<string>) {
  const vectors = new Map<string, ReadonlyArray<number>>()
  for (let at = 0; at < texts.length; at += textsAtOnce) {
    yield* Output.remark(`${at} of ${texts.length} texts have a vector`)
    const input = texts.slice(at, at + textsAtOnce)
    const body = { model, input, encoding_format: "float" }
    const request = HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${to.url}/v1/embeddings`), body)
    const answer = yield* Effect.flatMap(Inference.ask(to, request), Inference.jsonOf(to, EmbeddingsAnswer))
    for (const { embedding, index } of answer.data) {
      const text = input[index]
      if (text !== undefined && typeof embedding !== "string" && embedding.length > 0) vectors.set(text, embedding)
    }
  }
  return vectors
})

const unitLength = (vector: ReadonlyArray<number>): Float32Array => {
  const length = Math.hypot(...vector)
  return Float32Array.from(vector, (value) => (length === 0 ? 0 : value / length))
}

const adviceOf = (threshold: number | null): string =>
  threshold === null
    ? "No threshold of these is without wrong hits: the model should not judge the semantic cache."
    : `Without wrong hits from ${threshold} on: gateway settings set cache.semantic.threshold=${threshold}`

export const cacheMeasure = Command.make(
  "measure",
  { model: MediaFlags.modelOf("An embedding model"), ...Client.connection },
  ({ model: given, ...flags }) =>
    Effect.gen(function* () {
      const { laterTopics, pairsOf, topics } = yield* loadModule(
        () => import("../../../plane/cache/semantic/Paraphrases.ts")
      )
      const { measured } = yield* loadModule(() => import("../../../plane/cache/semantic/Measurement.ts"))
      const to = yield* Client.target(flags)
      const model = yield* modelOr(given, to, kinds.embeddings)
      const all = [...topics, ...laterTopics]
      const vectors = yield* vectorsOf(to, model, [...new Set(all.flat(2))])
      const units = new Map(Array.from(vectors, ([text, vector]) => [text, unitLength(vector)]))
      const found = measured(pairsOf(all), (text) => units.get(text) ?? null)
      if (found.samePairs + found.otherPairs === 0) return yield* noVectors
      yield* Output.remark(
        `${found.samePairs} pairs of one question in other words, ${found.otherPairs} pairs of two similar questions`
      )
      yield* Output.list({ schema: Result, value: { model, ...found }, rows: found.rows, columns, empty: "" })
      yield* Output.remark(adviceOf(found.threshold))
    })
)
