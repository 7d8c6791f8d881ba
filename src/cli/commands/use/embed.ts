/** `gateway embed`: vectors of texts. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { EmbeddingsAnswer } from "../../../contract/compat/Chat.ts"
import { readInput } from "../../asking/input.ts"
import { BadArgument } from "../../Failure.ts"
import { taking } from "../../flags/Forms.ts"
import * as Client from "../../gateway/Client.ts"
import * as MediaFlags from "../../flags/MediaFlags.ts"
import * as Inference from "../../gateway/Inference.ts"
import { kinds, modelOr } from "../../gateway/MediaModel.ts"
import * as Column from "../../output/Column.ts"
import * as Output from "../../output/Output.ts"

const maxInputBytes = 16 * 1_048_576

interface Row {
  readonly text: string
  readonly vector: ReadonlyArray<number>
}

const columns: ReadonlyArray<Column.Column<Row>> = [
  Column.prose("TEXT", ({ text }) => text),
  Column.number("DIMENSIONS", ({ vector }) => vector.length),
  Column.text(
    "VALUES",
    ({ vector }) =>
      `${vector
        .slice(0, 3)
        .map((value) => value.toFixed(4))
        .join(" ")}${vector.length > 3 ? " …" : ""}`
  )
]

const nothing = new BadArgument({
  message: "There is nothing to embed.",
  hint: "Give texts, or pipe in one per line."
})

const textsFrom = (words: ReadonlyArray<string>) =>
  words.length > 0
    ? Effect.succeed(words.filter((word) => word.trim() !== ""))
    : process.stdin.isTTY
      ? Effect.fail(nothing)
      : Effect.map(readInput(maxInputBytes), (bytes) =>
          bytes
            .toString("utf8")
            .split(/\r?\n/)
            .filter((line) => line.trim() !== "")
        )

export const embedCommand = Command.make(
  "embed",
  {
    texts: Args.text({ name: "text" }).pipe(
      Args.withDescription("Texts; without any, the lines of standard input."),
      Args.repeated
    ),
    model: MediaFlags.modelOf("An embedding model"),
    dimensions: Options.integer("dimensions").pipe(
      taking(Schema.Int.pipe(Schema.positive()), () => "--dimensions must be a whole number above 0."),
      Options.withDescription("Length of the vectors, where the model can choose."),
      Options.optional
    ),
    ...Client.connection
  },
  ({ dimensions, model: given, texts: words, ...flags }) =>
    Effect.gen(function* () {
      const texts = yield* textsFrom(words)
      if (texts.length === 0) return yield* nothing
      const to = yield* Client.target(flags)
      const model = yield* modelOr(given, to, kinds.embeddings)
      const request = HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${to.url}/v1/embeddings`), {
        model,
        input: texts,
        encoding_format: "float",
        ...(Option.isNone(dimensions) ? {} : { dimensions: dimensions.value })
      })
      const response = yield* Inference.ask(to, request)
      const answer = yield* Inference.jsonOf(to, EmbeddingsAnswer)(response)
      const vectors = new Map(answer.data.map(({ embedding, index }) => [index, embedding]))
      const rows = texts.map((text, index): Row => {
        const vector = vectors.get(index)
        return { text, vector: typeof vector === "string" || vector === undefined ? [] : vector }
      })
      yield* Output.list({ schema: EmbeddingsAnswer, value: answer, rows, columns, empty: "" })
    })
)
