/** `/v1/batches`, in OpenAI's form: https://platform.openai.com/docs/api-reference/batch */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { BatchRoute } from "../../contract/EdgeRoutes.ts"
import type { Parameters } from "../../contract/Routes.ts"
import { type BatchRequest, batchListOf, batchRequestOf, type Problem, viewOf } from "../../subjects/batches/rules.ts"
import {
  Batches,
  type BatchNotFound,
  type EndpointNotAllowed,
  type NoBatchFile,
  type TooManyBatches,
  type WrongBatchStatus
} from "../../subjects/batches/service.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { BodyNotDecoded, describe, type ErrorView, errorView, Overloaded } from "../../contract/domain/Errors.ts"
import { type FileNotFound, type FileQuotaExceeded, ownerOf } from "../../subjects/files/service.ts"
import { apiKeyIdOf } from "../../plane/request/Exchange.ts"
import type { Timers } from "../../platform/Timers.ts"
import { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import * as LoadShedder from "../../plane/resilience/LoadShedder.ts"
import { readForeignJson, Unreadable } from "../../wire/json/Bounds.ts"
import { isObject } from "../../wire/json/Json.ts"
import { type Caller, type EndpointCall, makeFileAnswers } from "./FileAnswers.ts"
import { quotaExceeded, unknownFile } from "./FileRefusals.ts"
import { queryOf } from "./ListingPages.ts"
import { readBody } from "../listening/RequestBody.ts"

export class BatchEndpoint extends Context.Tag("gateway/entry/files/BatchEndpoint")<
  BatchEndpoint,
  {
    readonly handle: (
      route: BatchRoute,
      parameters: Parameters,
      caller: Caller,
      request: IncomingMessage,
      response: ServerResponse
    ) => void
  }
>() {}

/** Most bytes of a request for a batch: names of a file and an endpoint, and the metadata. */
const maxBodyBytes = 262_144

type Refusal =
  | BatchNotFound
  | EndpointNotAllowed
  | FileNotFound
  | FileQuotaExceeded
  | NoBatchFile
  | TooManyBatches
  | WrongBatchStatus

const refusalOf = (error: Refusal): ErrorView => {
  switch (error._tag) {
    case "BatchNotFound":
      return errorView(404, `There is no batch '${error.id.slice(0, 100)}'.`, { code: "batch_not_found", param: "id" })
    case "EndpointNotAllowed":
      return errorView(403, error.reason, { code: "key_endpoint", param: "endpoint" })
    case "FileNotFound":
      return unknownFile(error, "input_file_id")
    case "FileQuotaExceeded":
      return quotaExceeded(error)
    case "NoBatchFile":
      return errorView(400, `The file was uploaded for '${error.purpose}'. Upload it with the purpose 'batch'.`, {
        code: "invalid_file_purpose",
        param: "input_file_id"
      })
    case "TooManyBatches":
      return errorView(429, `${error.limit} batches of this API key are not over yet. Wait for one, or cancel one.`, {
        code: "too_many_batches"
      })
    case "WrongBatchStatus":
      return errorView(
        409,
        error.asked === "cancel"
          ? `The batch is ${error.status}: only one that is validating or in_progress can be cancelled.`
          : `The batch is ${error.status}: cancel it, or wait until it is over, and delete it then.`,
        { code: "wrong_batch_status" }
      )
  }
}

const invalid = ({ message, param }: Problem): ErrorView => errorView(400, message, { param })

const requestIn = (body: Buffer): Either.Either<BatchRequest, ErrorView> => {
  const value = readForeignJson(body.toString("utf8"))
  if (value instanceof Unreadable) return Either.left(errorView(400, value.message, { param: value.param }))
  return isObject(value)
    ? Either.mapLeft(batchRequestOf(value), invalid)
    : Either.left(errorView(400, "The request body must be a JSON object."))
}

export const make = Effect.gen(function* () {
  const batches = yield* Batches
  const bodies = yield* BodyBudget
  const shedder = yield* LoadShedder.LoadShedder
  const { answer, json, refuse } = yield* makeFileAnswers<Refusal>(
    refusalOf,
    "The gateway could not read or store the batch. Its log says why."
  )

  const create = (call: EndpointCall, principal: Principal): void => {
    const share = bodies.share(apiKeyIdOf({ principal }))
    call.response.once("close", share.release)
    readBody(call.request, maxBodyBytes, share, (body) => {
      if (body === "gone") return
      if (body === "no_room") return refuse(call, describe(bodies.refusal()))
      if (body === "too_large") {
        return refuse(call, errorView(413, `A request for a batch has at most ${maxBodyBytes} bytes.`))
      }
      if (body instanceof BodyNotDecoded) return refuse(call, describe(body))
      const request = requestIn(body)
      if (Either.isLeft(request)) return refuse(call, request.left)
      answer(call, batches.create(principal, request.right), (batch) => json(call, viewOf(batch)))
    })
  }

  const list = (call: EndpointCall, owner: string): void => {
    const query = batchListOf(queryOf(call.request.url ?? "/"))
    if (Either.isLeft(query)) return refuse(call, invalid(query.left))
    answer(call, batches.list(owner, query.right), ({ batches: rows, hasMore }) =>
      json(call, {
        object: "list",
        data: rows.map(viewOf),
        has_more: hasMore,
        first_id: rows[0]?.id ?? null,
        last_id: rows.at(-1)?.id ?? null
      })
    )
  }

  return BatchEndpoint.of({
    handle: (route, { batch: id = "" }, { identity, requestId }, request, response) => {
      const call: EndpointCall = { requestId, request, response }
      if (identity instanceof Error) return refuse(call, describe(identity))
      const entered = shedder.enter(apiKeyIdOf({ principal: identity }))
      if (LoadShedder.isShed(entered)) return refuse(call, describe(new Overloaded(entered)))
      response.once("close", entered)
      const owner = ownerOf(identity)
      switch (route.key) {
        case "inference.createBatch":
          return create(call, identity)
        case "inference.batches":
          return list(call, owner)
        case "inference.batch":
          return answer(call, batches.find(owner, id), (batch) => json(call, viewOf(batch)))
        case "inference.cancelBatch":
          return answer(call, batches.cancel(owner, id), (batch) => json(call, viewOf(batch)))
        case "inference.deleteBatch":
          return answer(call, batches.remove(owner, id), () => json(call, { id, object: "batch", deleted: true }))
      }
    }
  })
})

export const layer: Layer.Layer<BatchEndpoint, never, Batches | BodyBudget | LoadShedder.LoadShedder | Timers> =
  Layer.effect(BatchEndpoint, make)
