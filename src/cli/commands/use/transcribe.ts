/** `gateway transcribe`: the words of a recording. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { BadArgument } from "../../Failure.ts"
import * as Client from "../../gateway/Client.ts"
import * as MediaFlags from "../../flags/MediaFlags.ts"
import * as Inference from "../../gateway/Inference.ts"
import { kinds, modelOr } from "../../gateway/MediaModel.ts"
import * as Upload from "../../gateway/Upload.ts"
import * as Output from "../../output/Output.ts"
import { refuseUnwritable, save } from "../../output/SaveFile.ts"

const formats = ["text", "json", "srt", "vtt", "verbose_json"] as const

const options = {
  audio: Args.text({ name: "audio" }).pipe(
    Args.withDescription("A recording: mp3, wav, m4a, ogg, flac or webm; '-' is standard input.")
  ),
  model: MediaFlags.modelOf("A transcription model"),
  format: Options.choice("format", formats).pipe(
    Options.withDescription("text (the default), json, srt, vtt or verbose_json."),
    Options.optional
  ),
  language: Options.text("language").pipe(
    Options.withDescription("Language of the recording, such as en; else the model finds out."),
    Options.optional
  ),
  prompt: Options.text("prompt").pipe(
    Options.withDescription("Words that help the model, such as names."),
    Options.optional
  ),
  out: MediaFlags.outTo("File to write; else standard output."),
  force: MediaFlags.force,
  json: MediaFlags.jsonOf("The same as '--format json'.")
}

/** Providers take the kind of a recording from its name. */
const stdinName = "audio.mp3"

const optional = (name: string, value: Option.Option<string>): ReadonlyArray<readonly [string, string]> =>
  Option.isNone(value) ? [] : [[name, value.value]]

export const transcribeCommand = Command.make("transcribe", { ...options, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const format = Option.getOrElse(given.format, () => (given.json ? "json" : "text"))
    if (given.json && format !== "json" && format !== "verbose_json") {
      return yield* new BadArgument({ message: `--json and '--format ${format}' contradict each other.` })
    }
    const source = given.audio === "-" ? Upload.stdinSource(stdinName) : yield* Upload.fileSource(given.audio)
    const isJson = format === "json" || format === "verbose_json"
    const destination = Option.map(given.out, (path) => ({
      path,
      name: `${source.name}.${isJson ? "json" : format === "text" ? "txt" : format}`,
      force: given.force
    }))
    if (Option.isSome(destination)) yield* refuseUnwritable(destination.value)
    const to = yield* Client.target(given)
    const model = yield* modelOr(given.model, to, kinds.transcriptions)
    const response = yield* Upload.send(to, {
      path: "/v1/audio/transcriptions",
      files: [{ name: "file", source }],
      fields: [
        ["model", model],
        ["response_format", format],
        ...optional("language", given.language),
        ...optional("prompt", given.prompt)
      ],
      hint: "'gateway model list' shows what can be asked."
    })
    const answer = isJson
      ? yield* Inference.jsonOf(to, Schema.Unknown)(response)
      : yield* Inference.textOf(to, response)
    const text = typeof answer === "string" ? answer : JSON.stringify(answer, null, 2)
    if (Option.isSome(destination) && destination.value.path !== "-") {
      const bytes = Buffer.from(text.endsWith("\n") ? text : `${text}\n`)
      const [, written] = yield* save(destination.value, (sink) => sink(bytes))
      return yield* Output.note(`${written ?? ""} is written.`)
    }
    yield* isJson ? Output.json(Schema.Unknown, answer) : Output.print(text.replace(/\n+$/, ""))
  }).pipe(Effect.scoped)
)
