/** `gateway image`: pictures of a description, or changed ones. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { statSync } from "node:fs"
import { BadArgument, type CliFailure, CommandFailed } from "../../../Failure.ts"
import { taking } from "../../../flags/Forms.ts"
import * as Client from "../../../gateway/Client.ts"
import * as MediaFlags from "../../../flags/MediaFlags.ts"
import * as Inference from "../../../gateway/Inference.ts"
import { kinds, modelOr } from "../../../gateway/MediaModel.ts"
import { fetchFrom } from "../../../gateway/PublicUrl.ts"
import * as Output from "../../../output/Output.ts"
import { saved } from "../../../gateway/Saved.ts"
import { refuseUnwritable, save } from "../../../output/SaveFile.ts"
import { withSpinner } from "../../../output/spinner.ts"
import { Stdout } from "../../../output/Stdout.ts"
import { imageTypeOf } from "../../../flags/ImageType.ts"
import { changed, drawn } from "./asking.ts"
import { numbered } from "./Names.ts"

const Answer = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      b64_json: Schema.optional(Schema.NullOr(Schema.String)),
      url: Schema.optional(Schema.NullOr(Schema.String)),
      revised_prompt: Schema.optional(Schema.NullOr(Schema.String))
    })
  )
})
type Picture = (typeof Answer.Type)["data"][number]

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

const options = {
  prompt: Args.text({ name: "prompt" }).pipe(
    Args.withDescription("What the picture shows, or how it is changed."),
    Args.atLeast(1)
  ),
  model: MediaFlags.modelOf("An image model"),
  out: MediaFlags.outTo("File or folder; of several pictures each gets a number. Default: image.png here, or a pipe."),
  size: text("size", "Such as 1024x1024; what there is depends on the model."),
  quality: text("quality", "Such as low, high or hd; what there is depends on the model."),
  n: Options.integer("count").pipe(
    Options.withAlias("n"),
    taking(Schema.Int.pipe(Schema.between(1, 10)), () => "--count must be a whole number from 1 to 10."),
    Options.withDescription("How many pictures, 1 to 10. Default: 1."),
    Options.withDefault(1)
  ),
  edit: Options.text("edit").pipe(
    Options.withDescription("A picture to change: PNG, JPEG, GIF or WebP. Several times: pictures to make one of."),
    Options.repeated
  ),
  mask: text("mask", "A PNG of the same size whose transparent part is drawn anew; with --edit."),
  force: MediaFlags.force,
  json: MediaFlags.jsonOf("Print the files, what served them and the cost as JSON.")
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/** Checks whether the person has named the file, and not left its name to the picture's type. */
const named = (out: string | null): out is string => out !== null && !isFolder(out)

/** Endings of a file whose name is left to the picture. */
const endings = ["png", "jpg", "gif", "webp"]

const placeOf = (out: string | null, ending: string, index: number, count: number) => {
  const name = numbered(`image.${ending}`, index, count)
  return { name, path: out === null ? name : out === "-" || !named(out) ? out : numbered(out, index, count) }
}

const inBase64 = /^data:[^,]{0,200};base64,/i

/** The bytes of a picture, which providers send or keep at an address of theirs. */
const bytesOf = ({ b64_json: encoded, url }: Picture): Effect.Effect<Buffer, CliFailure> => {
  if (typeof encoded === "string") return Effect.succeed(Buffer.from(encoded, "base64"))
  if (typeof url !== "string") return new CommandFailed({ message: "The answer has no picture." })
  const head = inBase64.exec(url.slice(0, 256))
  return head === null
    ? fetchFrom(url, "The picture")
    : Effect.succeed(Buffer.from(url.slice(head[0].length), "base64"))
}

export const imageCommand = Command.make("image", { ...options, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const stdout = yield* Stdout
    const out = Option.getOrElse(given.out, () => (stdout.isTerminal() || given.json ? null : "-"))
    if (out === "-" && (given.json || given.n > 1)) {
      return yield* new BadArgument({
        message: "Standard output has room for one picture and nothing else.",
        hint: "Name a file with -o."
      })
    }
    const [first, ...others] = given.edit
    if (first === undefined && Option.isSome(given.mask)) {
      return yield* new BadArgument({ message: "--mask is for a picture to change.", hint: "Name it with --edit." })
    }
    yield* Effect.forEach(Array.from({ length: given.n }), (_, index) =>
      Effect.forEach(named(out) ? [""] : endings, (ending) =>
        refuseUnwritable({ ...placeOf(out, ending, index, given.n), force: given.force })
      )
    )
    const to = yield* Client.target(given)
    const wanted = {
      model: yield* modelOr(given.model, to, kinds.images),
      prompt: given.prompt.join(" "),
      n: given.n,
      ...(Option.isNone(given.size) ? {} : { size: given.size.value }),
      ...(Option.isNone(given.quality) ? {} : { quality: given.quality.value })
    }
    const response = yield* first === undefined
      ? drawn(to, wanted)
      : changed(to, wanted, { pictures: [first, ...others], mask: Option.getOrNull(given.mask) })
    const servedBy = Inference.servedBy(response)
    const { data } = yield* withSpinner("Waiting for the picture …")(Inference.jsonOf(to, Answer)(response))
    if (data.length === 0) return yield* new CommandFailed({ message: "The answer has no picture." })
    const files = yield* Effect.forEach(data, (picture, index) =>
      Effect.gen(function* () {
        const bytes = yield* withSpinner("Fetching the picture …")(bytesOf(picture))
        const ending = imageTypeOf(bytes)?.replace("jpeg", "jpg") ?? "png"
        const place = placeOf(out, ending, index, data.length)
        const [, written] = yield* save({ ...place, force: given.force }, (sink) => sink(bytes))
        return { path: written, bytes: bytes.length }
      })
    )
    const inFiles = files.flatMap(({ bytes, path }) => (path === null ? [] : [{ path, bytes }]))
    if (inFiles.length > 0) yield* saved(inFiles, servedBy, given.json)
    const [revised] = data.flatMap(({ revised_prompt: prompt }) => prompt ?? [])
    if (revised !== undefined && !given.json) yield* Output.note(`It was drawn as: ${revised}`)
  }).pipe(Effect.scoped)
)
