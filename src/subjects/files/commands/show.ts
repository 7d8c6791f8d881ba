/** `gateway files list`, `show` and `rm`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { FileDeleted, FileList, FileObject } from "../../../contract/compat/Files.ts"
import { confirmOnTerminal, yes } from "../../../cli/asking/confirm.ts"
import { taking } from "../../../cli/flags/Forms.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Inference from "../../../cli/gateway/Inference.ts"
import * as Output from "../../../cli/output/Output.ts"
import { columns, fileArg, find, hint, list, page, pathOf } from "./rows.ts"

export const filesList = Command.make(
  "list",
  {
    purpose: Options.text("purpose").pipe(
      Options.withDescription("Only files for this: assistants, batch, fine-tune, vision, user_data or evals."),
      Options.optional
    ),
    limit: Options.integer("limit").pipe(
      taking(Schema.Int.pipe(Schema.between(1, 10_000)), () => "--limit must be a whole number from 1 to 10000."),
      Options.withDescription("How many to show, the newest first. Default: 100."),
      Options.withDefault(100)
    ),
    ...Client.connection
  },
  ({ limit, purpose, ...given }) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const answer = yield* list(to, Option.isNone(purpose) ? { limit } : { limit, purpose: purpose.value })
      yield* Output.list({
        schema: FileList,
        value: answer,
        rows: answer.data,
        columns,
        empty: "There are no files. 'gateway files put <file>' uploads one."
      })
      if (answer.has_more) yield* Output.remark("There are more: give a larger --limit.")
    })
)

export const filesShow = Command.make("show", { file: fileArg, ...Client.connection }, ({ file, ...given }) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const found = yield* find(to, file)
    yield* Output.result({ schema: FileObject, value: found, text: Output.print(page(found)), name: found.id })
  })
)

const filesArg = Args.text({ name: "file" }).pipe(
  Args.withDescription("Names or ids of files, or the beginnings of their ids."),
  Args.atLeast(1)
)

const Removed = Schema.Struct({ files: Schema.Array(FileDeleted) })

export const filesRemove = Command.make("rm", { files: filesArg, yes, ...Client.connection }, ({ files, ...given }) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    // All are found before the first is deleted.
    const found = yield* Effect.forEach(files, (file) => find(to, file))
    const names = found.map(({ filename }) => `'${filename}'`).join(", ")
    yield* confirmOnTerminal(given, `Delete ${names}? What refers to ${found.length === 1 ? "it" : "them"} fails then.`)
    const removed = yield* Effect.forEach(found, ({ filename, id }) =>
      Inference.ask(to, HttpClientRequest.del(`${to.url}${pathOf(id)}`), hint).pipe(
        Effect.flatMap(Inference.jsonOf(to, FileDeleted)),
        Effect.zipLeft(Output.remark(`${filename} (${id}) is deleted.`))
      )
    )
    yield* Output.result({
      schema: Removed,
      value: { files: removed },
      text: Effect.void,
      name: removed.map(({ id }) => id).join("\n")
    })
  })
)
