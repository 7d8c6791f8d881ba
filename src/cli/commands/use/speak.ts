/** `gateway speak`: a text as sound, written as it comes. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { extname } from "node:path"
import { readInput } from "../../asking/input.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../../Failure.ts"
import * as Client from "../../gateway/Client.ts"
import * as MediaFlags from "../../flags/MediaFlags.ts"
import * as Inference from "../../gateway/Inference.ts"
import { kinds, modelOr } from "../../gateway/MediaModel.ts"
import { withProgress } from "../../output/Progress.ts"
import { saved } from "../../gateway/Saved.ts"
import { save, type Sink } from "../../output/SaveFile.ts"
import { Stdout } from "../../output/Stdout.ts"

const maxInputBytes = 1_048_576

const formats = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const
type Format = (typeof formats)[number]

/** The format that a file's name asks for; null when it asks for none. */
export const formatOf = (path: string): Format | null => {
  const ending = extname(path).slice(1).toLowerCase()
  return ending === "ogg" ? "opus" : (formats.find((format) => format === ending) ?? null)
}

const textFrom = (words: ReadonlyArray<string>): Effect.Effect<string, BadArgument> =>
  words.length > 0 && words[0] !== "-"
    ? Effect.succeed(words.join(" "))
    : process.stdin.isTTY && words[0] !== "-"
      ? Effect.succeed("")
      : Effect.map(readInput(maxInputBytes), (bytes) => bytes.toString("utf8").trim())

const options = {
  text: Args.text({ name: "text" }).pipe(
    Args.withDescription("What is spoken; without it, or for '-', standard input."),
    Args.repeated
  ),
  model: MediaFlags.modelOf("A speech model"),
  out: MediaFlags.outTo("File to write; '-' is standard output, the default in a pipe."),
  voice: Options.text("voice").pipe(
    Options.withDescription("Name of a voice of the model. Default: alloy."),
    Options.withDefault("alloy")
  ),
  format: Options.choice("format", formats).pipe(
    Options.withDescription("mp3, opus, aac, flac, wav or pcm. Default: by the file's name, else mp3."),
    Options.optional
  ),
  force: MediaFlags.force,
  json: MediaFlags.jsonOf("Print the file, what served it and its cost as JSON.")
}

export const speakCommand = Command.make("speak", { ...options, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const stdout = yield* Stdout
    const path = Option.getOrElse(given.out, () => (stdout.isTerminal() || given.json ? null : "-"))
    if (path === null) {
      return yield* new BadArgument({
        message: "Sound is not for a terminal.",
        hint: "Name a file: -o speech.mp3. Or pipe it into a player."
      })
    }
    if (path === "-" && given.json) {
      return yield* new BadArgument({ message: "--json and '-o -' both write to standard output." })
    }
    const input = yield* textFrom(given.text)
    if (input === "") {
      return yield* new BadArgument({ message: "There is nothing to speak.", hint: "Give a text, or pipe one in." })
    }
    const format = Option.getOrElse(given.format, () => formatOf(path) ?? "mp3")
    const to = yield* Client.target(given)
    const name = `speech.${format}`
    const speak = (sink: Sink): Effect.Effect<readonly [Inference.ServedBy, number], CliFailure> =>
      withProgress(path === "-" ? name : path, null, (report) =>
        Effect.gen(function* () {
          const model = yield* modelOr(given.model, to, kinds.speech)
          const request = HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${to.url}/v1/audio/speech`), {
            model,
            input,
            voice: given.voice,
            response_format: format
          })
          const response = yield* Inference.ask(to, request)
          let bytes = 0
          yield* Stream.runForEach(response.stream, (piece) => {
            bytes += piece.length
            report(bytes)
            return sink(piece)
          }).pipe(
            Effect.catchTag(
              "ResponseError",
              () =>
                new CommandFailed({ message: "The sound broke off before its end.", hint: "Run the command again." })
            )
          )
          return [Inference.servedBy(response), bytes] as const
        })
      )
    const [[servedBy, bytes], written] = yield* save({ path, name, force: given.force }, speak)
    if (written !== null) yield* saved([{ path: written, bytes }], servedBy, given.json)
  })
)
