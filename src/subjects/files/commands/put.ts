/** `gateway files put`: uploads files as they are read. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { FileObject } from "../../../contract/compat/Files.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { taking } from "../../../cli/flags/Forms.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Inference from "../../../cli/gateway/Inference.ts"
import * as Upload from "../../../cli/gateway/Upload.ts"
import * as Output from "../../../cli/output/Output.ts"
import { columns } from "./rows.ts"
import { durationMs } from "../../usage/commands/logs/times.ts"

const Uploaded = Schema.Struct({ files: Schema.Array(FileObject) })

const Seconds = Schema.transform(Schema.String, Schema.NullOr(Schema.Number), {
  strict: true,
  decode: (text) => {
    const ms = durationMs(text)
    return ms === null ? null : ms / 1000
  },
  encode: (seconds) => `${seconds ?? ""}s`
}).pipe(Schema.filter((seconds) => seconds !== null))

const options = {
  purpose: Options.text("purpose").pipe(
    Options.withDescription("What it is for: user_data (the default), batch, fine-tune, assistants, vision or evals."),
    Options.withDefault("user_data")
  ),
  expiresAfter: Options.text("expires-after").pipe(
    taking(Seconds, (text) => `--expires-after: '${text}' is no time such as 12h, 7d or 3600s.`),
    Options.withDescription("Delete it after this time: 12h, 7d, 3600s; from an hour to 30 days. Else it is kept."),
    Options.optional
  ),
  name: Options.text("name").pipe(
    Options.withDescription("Its name at the gateway. Default: that of the file; for standard input 'stdin'."),
    Options.optional
  )
}

const filesArg = Args.text({ name: "path" }).pipe(
  Args.withDescription("Files of this machine; '-' is standard input."),
  Args.atLeast(1)
)

export const filesPut = Command.make("put", { files: filesArg, ...options, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const name = Option.getOrUndefined(given.name)
    if (name !== undefined && given.files.length > 1) {
      return yield* new BadArgument({ message: "--name is for one file." })
    }
    const to = yield* Client.target(given)
    const seconds = Option.getOrNull(given.expiresAfter)
    const fields: ReadonlyArray<readonly [string, string]> = [
      ["purpose", given.purpose],
      ...(seconds === null
        ? []
        : ([
            ["expires_after[anchor]", "created_at"],
            ["expires_after[seconds]", String(seconds)]
          ] as const))
    ]
    const files = yield* Effect.forEach(given.files, (path) =>
      Effect.gen(function* () {
        const source = path === "-" ? Upload.stdinSource(name ?? "stdin") : yield* Upload.fileSource(path, name)
        const response = yield* Upload.send(to, {
          path: "/v1/files",
          files: [{ name: "file", source }],
          fields,
          hint: null
        })
        const file = yield* Inference.jsonOf(to, FileObject)(response)
        yield* Output.remark(`${source.name} is uploaded.`)
        return file
      }).pipe(Effect.scoped)
    )
    yield* Output.list({ schema: Uploaded, value: { files }, rows: files, columns, empty: "" })
  })
)
