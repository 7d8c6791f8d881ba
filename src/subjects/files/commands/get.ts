/** `gateway files get`: downloads a file, goes on where a connection broke, and checks what has come. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { FileObject } from "../../../contract/compat/Files.ts"
import { safeName } from "../../../kernel/text/FileName.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as MediaFlags from "../../../cli/flags/MediaFlags.ts"
import * as Inference from "../../../cli/gateway/Inference.ts"
import * as Output from "../../../cli/output/Output.ts"
import { withProgress } from "../../../cli/output/Progress.ts"
import { save, type Sink } from "../../../cli/output/SaveFile.ts"
import { sizeText } from "../../../cli/output/Size.ts"
import { Stdout } from "../../../cli/output/Stdout.ts"
import { type File, fileArg, find, hint, pathOf } from "./rows.ts"

/** Connections in a row that break before anything has come. */
const mostStuck = 3

/** Receives the whole file, over as many connections as it takes. */
const receive = (to: Client.Target, file: File, sink: Sink): Effect.Effect<void, CliFailure> =>
  withProgress(file.filename, file.bytes, (report) =>
    Effect.gen(function* () {
      const hash = createHash("sha256")
      let etag: string | undefined
      let done = 0
      let stuck = 0
      while (true) {
        const before = done
        const part: Readonly<Record<string, string>> =
          done === 0 || etag === undefined ? {} : { range: `bytes=${done}-`, "if-range": etag }
        const request = HttpClientRequest.setHeaders(HttpClientRequest.get(`${to.url}${pathOf(file.id)}/content`), part)
        const response = yield* Inference.ask(to, request, hint)
        etag ??= response.headers["etag"]
        if (done > 0 && response.status !== 206) {
          return yield* new CommandFailed({ message: "The file is another one now.", hint: "Run the command again." })
        }
        const failure = yield* Stream.runForEach(response.stream, (piece) => {
          hash.update(piece)
          done += piece.length
          report(done)
          return sink(piece)
        }).pipe(
          Effect.as(null),
          Effect.catchAll((error) => Effect.succeed(error))
        )
        if (failure !== null && failure._tag !== "ResponseError") return yield* failure
        if (done === file.bytes) break
        stuck = done === before ? stuck + 1 : 0
        if (stuck >= mostStuck || etag === undefined) {
          return yield* new CommandFailed({
            message: `The download broke off after ${sizeText(done)} of ${sizeText(file.bytes)}.`,
            hint: "Run the command again."
          })
        }
      }
      if (etag !== undefined && /^"[\da-f]{64}"$/.test(etag) && etag !== `"${hash.digest("hex")}"`) {
        return yield* new CommandFailed({
          message: "What has come is not what was uploaded: its SHA-256 differs.",
          hint: "Run the command again."
        })
      }
    })
  )

const options = {
  to: Args.text({ name: "to" }).pipe(
    Args.withDescription("A file or a folder; '-' is standard output. Default: the file's name here, or a pipe."),
    Args.optional
  ),
  out: MediaFlags.outTo("The same as <to>."),
  force: MediaFlags.force,
  json: MediaFlags.jsonOf("Print the file's object as JSON.")
}

export const filesGet = Command.make("get", { file: fileArg, ...options, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    if (Option.isSome(given.to) && Option.isSome(given.out)) {
      return yield* new BadArgument({ message: "<to> and --out are the same: give one of them." })
    }
    const stdout = yield* Stdout
    const named = Option.getOrNull(Option.orElse(given.to, () => given.out))
    if (given.json && named === "-") {
      return yield* new BadArgument({ message: "--json and '-' both write to standard output." })
    }
    const to = yield* Client.target(given)
    const file = yield* find(to, given.file)
    const safe = safeName(file.filename)
    const name = safe === "-" ? "file" : safe
    const path = named ?? (given.json || stdout.isTerminal() ? name : "-")
    const [, written] = yield* save({ path, name, force: given.force }, (sink) => receive(to, file, sink))
    if (given.json) yield* Output.json(FileObject, file)
    else if (written !== null) yield* Output.note(`${written}: ${sizeText(file.bytes)}.`)
  })
)
