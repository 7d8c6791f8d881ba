/** `gateway batches create`: makes a batch of a file of lines, which it uploads first. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import { BatchObject } from "../../../contract/compat/Batches.ts"
import { FileObject } from "../../../contract/compat/Files.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Inference from "../../../cli/gateway/Inference.ts"
import * as Upload from "../../../cli/gateway/Upload.ts"
import * as Output from "../../../cli/output/Output.ts"
import { page } from "./rows.ts"
import { watch } from "./watch.ts"

const options = {
  endpoint: Options.text("endpoint").pipe(
    Options.withDescription("What the lines ask; default: /v1/chat/completions."),
    Options.withDefault("/v1/chat/completions")
  ),
  metadata: Options.keyValueMap("metadata").pipe(
    Options.withDescription("Texts of yours that the batch keeps: --metadata job=nightly."),
    Options.optional
  ),
  watch: Options.boolean("watch").pipe(Options.withDescription("Show how it goes on, until it is over."))
}

const inputArg = Args.text({ name: "file" }).pipe(
  Args.withDescription("A JSONL file of this machine, '-' for standard input, or the id of an uploaded file.")
)

const uploaded = (to: Client.Target, path: string) =>
  Effect.gen(function* () {
    const source = path === "-" ? Upload.stdinSource("stdin.jsonl") : yield* Upload.fileSource(path)
    const response = yield* Upload.send(to, {
      path: "/v1/files",
      files: [{ name: "file", source }],
      fields: [["purpose", "batch"]],
      hint: null
    })
    return (yield* Inference.jsonOf(to, FileObject)(response)).id
  }).pipe(Effect.scoped)

export const batchesCreate = Command.make("create", { file: inputArg, ...options, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const inputFileId = /^file-[\da-f]{32}$/.test(given.file) ? given.file : yield* uploaded(to, given.file)
    const metadata = given.metadata._tag === "Some" ? { metadata: Object.fromEntries(given.metadata.value) } : {}
    const request = HttpClientRequest.post(`${to.url}/v1/batches`).pipe(
      HttpClientRequest.bodyUnsafeJson({
        input_file_id: inputFileId,
        endpoint: given.endpoint,
        completion_window: "24h",
        ...metadata
      })
    )
    const batch = yield* Effect.flatMap(Inference.ask(to, request, null), Inference.jsonOf(to, BatchObject))
    if (given.watch) return yield* watch(to, batch)
    yield* Output.result({ schema: BatchObject, value: batch, text: Output.print(page(batch)), name: batch.id })
    yield* Output.remark(`'gateway batches watch ${batch.id}' shows how it goes on.`)
  })
)
