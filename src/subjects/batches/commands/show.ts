/** `gateway batches list`, `show` and `cancel`. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { BatchList, BatchObject } from "../../../contract/compat/Batches.ts"
import { taking } from "../../../cli/flags/Forms.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Inference from "../../../cli/gateway/Inference.ts"
import * as Output from "../../../cli/output/Output.ts"
import { batchArg, columns, find, hint, list, page, pathOf } from "./rows.ts"

export const batchesList = Command.make(
  "list",
  {
    limit: Options.integer("limit").pipe(
      taking(Schema.Int.pipe(Schema.between(1, 100)), () => "--limit must be a whole number from 1 to 100."),
      Options.withDescription("How many to show, the newest first. Default: 20."),
      Options.withDefault(20)
    ),
    ...Client.connection
  },
  ({ limit, ...given }) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const answer = yield* list(to, limit)
      yield* Output.list({
        schema: BatchList,
        value: answer,
        rows: answer.data,
        columns,
        empty: "There are no batches. 'gateway batches create <file>' makes one."
      })
      if (answer.has_more) yield* Output.remark("There are more: give a larger --limit.")
    })
)

export const batchesShow = Command.make("show", { batch: batchArg, ...Client.connection }, ({ batch, ...given }) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const found = yield* find(to, batch)
    yield* Output.result({ schema: BatchObject, value: found, text: Output.print(page(found)), name: found.id })
  })
)

export const batchesCancel = Command.make("cancel", { batch: batchArg, ...Client.connection }, ({ batch, ...given }) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { id } = yield* find(to, batch)
    const request = HttpClientRequest.post(`${to.url}${pathOf(id)}/cancel`)
    const value = yield* Effect.flatMap(Inference.ask(to, request, hint), Inference.jsonOf(to, BatchObject))
    const text = Output.print(`${id} is ${value.status}. What was answered stays: 'gateway batches show ${id}'.`)
    yield* Output.result({ schema: BatchObject, value, text, name: id })
  })
)
