/** `/v1/files`: uploads that go to disk as they arrive, and downloads that come from it as the client reads. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { IncomingMessage, ServerResponse } from "node:http"
import { pipeline } from "node:stream"
import type { FileRoute } from "../../contract/EdgeRoutes.ts"
import type { Parameters } from "../../contract/Routes.ts"
import { isProved } from "../../subjects/auth/ActingAs.ts"
import { Gate } from "../../subjects/auth/Gate.ts"
import {
  BodyNotDecoded,
  describe,
  errorView,
  type ErrorView,
  Overloaded,
  ShuttingDown,
  UnsupportedBody
} from "../../contract/domain/Errors.ts"
import { announcedBytes } from "../listening/ContentCodings.ts"
import { listQueryOf, type Problem, rangeOf, viewOf } from "../../subjects/files/rules.ts"
import { type FileNotFound, FileQuotaExceeded, Files, type OpenFile, ownerOf } from "../../subjects/files/service.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { apiKeyIdOf } from "../../plane/request/Exchange.ts"
import { identityHeaders } from "../../plane/request/Headers.ts"
import { StopSignal } from "../../plane/request/StopSignal.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import type { Timers } from "../../platform/Timers.ts"
import * as LoadShedder from "../../plane/resilience/LoadShedder.ts"
import { type Caller, type EndpointCall, type FileAnswers, makeFileAnswers } from "./FileAnswers.ts"
import { quotaExceeded, unknownFile } from "./FileRefusals.ts"
import { type Outcome, type ReceiveProblem, receive } from "./ReceiveUpload.ts"
import { formBytes } from "./UploadForm.ts"

export class FileEndpoint extends Context.Tag("gateway/entry/files/FileEndpoint")<
  FileEndpoint,
  {
    readonly handle: (
      route: FileRoute,
      parameters: Parameters,
      caller: Caller,
      request: IncomingMessage,
      response: ServerResponse
    ) => void
  }
>() {}

const mebibytes = (bytes: number): number => Math.floor(bytes / 1_048_576)

const invalid = ({ message, param }: Problem): ErrorView => errorView(400, message, { param })

const refusalOf = (error: FileNotFound | FileQuotaExceeded): ErrorView =>
  error._tag === "FileNotFound" ? unknownFile(error, "id") : quotaExceeded(error)

/** https://www.rfc-editor.org/rfc/rfc8187 */
const disposition = (filename: string): string =>
  `attachment; filename*=UTF-8''${encodeURIComponent(filename).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)}`

interface Call extends EndpointCall {
  readonly owner: string
}

type Answers = FileAnswers<FileNotFound | FileQuotaExceeded>

const makeUpload = ({ answer, json, refuse }: Answers) =>
  Effect.gen(function* () {
    const { maxUploadBytes: limitBytes } = yield* AppConfig
    const files = yield* Files
    const stop = yield* StopSignal
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())

    const refuseTooLarge = (call: Call): void =>
      refuse(call, errorView(413, `The file is larger than ${mebibytes(limitBytes)} MiB (GATEWAY_MAX_UPLOAD_MB).`))
    const refuseOverQuota = (call: Call): void =>
      refuse(call, refusalOf(new FileQuotaExceeded({ quotaBytes: files.quotaBytes() })))

    const refuseReceived = (call: Call, problem: ReceiveProblem): void => {
      if (problem === "too_large") return refuseTooLarge(call)
      if (problem === "quota") return refuseOverQuota(call)
      if (problem === "stopping") return refuse(call, describe(new ShuttingDown()))
      return refuse(call, problem instanceof BodyNotDecoded ? describe(problem) : invalid(problem))
    }

    const received = (call: Call, outcome: Outcome): void => {
      switch (outcome._tag) {
        case "Gone":
          runFork(outcome.upload.discard)
          return
        case "Refused":
          runFork(outcome.upload.discard)
          return refuseReceived(call, outcome.problem)
        case "Failed":
          return answer(call, Effect.zipRight(outcome.upload.discard, Effect.die(outcome.cause)), () => {})
        case "Received":
          return answer(call, outcome.upload.finish(outcome.about), (row) => json(call, viewOf(row)))
      }
    }

    return (call: Call): void => {
      const { owner, request } = call
      const contentType = request.headers["content-type"] ?? ""
      if (!/^multipart\/form-data\s*(?:;|$)/i.test(contentType)) {
        const message = "Send the file as multipart/form-data, with the parts 'file' and 'purpose'."
        return refuse(call, errorView(415, message, { param: "file" }))
      }
      const announced = announcedBytes(request)
      if (announced > limitBytes + formBytes) return refuseTooLarge(call)
      answer(call, files.room(owner), (roomBytes) => {
        if (announced - formBytes > roomBytes) return refuseOverQuota(call)
        const upload = files.begin(owner, roomBytes)
        receive(request, { contentType, limitBytes, upload, onStop: stop.onStop }, (outcome) => received(call, outcome))
      })
    }
  })

const sendContent = (
  { request, requestId, response }: Call,
  { handle, row: { bytes, filename, sha256 } }: OpenFile,
  refuse: (view: ErrorView) => void
): void => {
  const etag = `"${sha256}"`
  const condition = request.headers["if-range"]
  const wanted = typeof condition === "string" && condition !== etag ? undefined : request.headers.range
  const range = rangeOf(wanted, bytes)
  const headers = identityHeaders(requestId)
  headers.push("Accept-Ranges", "bytes", "ETag", etag, "Content-Disposition", disposition(filename))
  headers.push("Content-Type", "application/octet-stream")
  if (range === "unsatisfiable") {
    void handle.close()
    response.setHeader("Content-Range", `bytes */${bytes}`)
    return refuse(
      errorView(416, `The file has ${bytes} bytes, and the range begins behind them.`, {
        code: "range_not_satisfiable"
      })
    )
  }
  const { first, last } = range ?? { first: 0, last: bytes - 1 }
  headers.push("Content-Length", String(last - first + 1))
  if (range !== null) headers.push("Content-Range", `bytes ${first}-${last}/${bytes}`)
  response.writeHead(range === null ? 200 : 206, headers)
  if (request.method === "HEAD" || bytes === 0) {
    void handle.close()
    response.end()
    return
  }
  // A client that leaves closes the file; a file that cannot be read on cuts the answer.
  pipeline(handle.createReadStream({ start: first, end: last, highWaterMark: 262_144 }), response, () => {})
}

/** Answers about files that are there: lists, one, its bytes, its removal. */
const makeReads = ({ answer, json, refuse }: Answers) =>
  Effect.map(Files, (files) => ({
    download: (call: Call, id: string): void =>
      answer(call, files.open(call.owner, id), (opened) => sendContent(call, opened, (view) => refuse(call, view))),
    list: (call: Call): void => {
      const url = call.request.url ?? "/"
      const query = listQueryOf(new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?") + 1) : ""))
      if ("message" in query) return refuse(call, invalid(query))
      answer(call, files.list(call.owner, query), ({ files: rows, hasMore }) =>
        json(call, {
          object: "list",
          data: rows.map(viewOf),
          has_more: hasMore,
          first_id: rows[0]?.id ?? null,
          last_id: rows.at(-1)?.id ?? null
        })
      )
    },
    show: (call: Call, id: string): void => answer(call, files.find(call.owner, id), (row) => json(call, viewOf(row))),
    remove: (call: Call, id: string): void =>
      answer(call, files.remove(call.owner, id), () => json(call, { id, object: "file", deleted: true }))
  }))

export const make = Effect.gen(function* () {
  const flags = yield* Flags
  const gate = yield* Gate
  const shedder = yield* LoadShedder.LoadShedder
  const answers = yield* makeFileAnswers(refusalOf, "The gateway could not read or write the file. Its log says why.")
  const { refuse } = answers
  const upload = yield* makeUpload(answers)
  const { download, list, remove, show } = yield* makeReads(answers)

  /** A page of another site can send a form without asking first, and while no key is required it would be let in. */
  const isDisguised = ({ headers }: IncomingMessage): boolean =>
    headers.origin !== undefined && !flags.isOn("REQUIRE_API_KEY") && gate.namedOrigin(headers) === null

  return FileEndpoint.of({
    handle: (route, { file = "" }, { identity, requestId }, request, response) => {
      if (identity instanceof Error) return refuse({ request, requestId, response }, describe(identity))
      const call: Call = { request, requestId, response, owner: ownerOf(identity) }
      if (request.method === "POST" && isDisguised(request) && !isProved(identity)) {
        const message = "Pages of other origins may upload files only when CORS_ORIGINS names them, or with an API key."
        return refuse(call, describe(new UnsupportedBody({ message })))
      }
      const entered = shedder.enter(apiKeyIdOf({ principal: identity }))
      if (LoadShedder.isShed(entered)) return refuse(call, describe(new Overloaded(entered)))
      response.once("close", entered)
      switch (route.key) {
        case "inference.createFile":
          return upload(call)
        case "inference.files":
          return list(call)
        case "inference.file":
          return show(call, file)
        case "inference.deleteFile":
          return remove(call, file)
        case "inference.fileContent":
          return download(call, file)
      }
    }
  })
})

export const layer: Layer.Layer<
  FileEndpoint,
  never,
  AppConfig | Files | Flags | Gate | LoadShedder.LoadShedder | StopSignal | Timers
> = Layer.effect(FileEndpoint, make)
