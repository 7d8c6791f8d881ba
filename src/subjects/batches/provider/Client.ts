/** Calls of a provider's interface for batches, in OpenAI's form. A failure says whether the same call may succeed later. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { createReadStream, createWriteStream } from "node:fs"
import { stat } from "node:fs/promises"
import { ownerOf } from "../../proxies/entity.ts"
import type { BodySource } from "../../../net/egress/BodySource.ts"
import type { RequestError, Upstream, UpstreamRequest } from "../../../net/egress/Upstream.ts"
import type { Account } from "../../../plane/providers/Catalog.ts"
import { failureText, parse, reasonOf } from "../../../plane/providers/UpstreamAnswer.ts"
import { StoreError } from "../../../store/Errors.ts"
import type { Json } from "../../../wire/json/Json.ts"
import { listedBatches, madeId, pathBeside, type RemoteBatch, remoteBatchOf } from "./Shapes.ts"

export class ProviderFailed extends Data.TaggedError("ProviderFailed")<{
  /** Null: nothing was answered. */
  readonly status: number | null
  readonly message: string
}> {
  /** Tells whether it may be over later. */
  get isPassing(): boolean {
    const { status } = this
    return status === null || status === 408 || status === 425 || status === 429 || status >= 500
  }
}

const limits = { timeoutMs: 60_000, maxBytes: 4 * 1_048_576 }
const uploadTimeoutMs = 600_000
const downloadTimeoutMs = 1_800_000
/** Most bytes of a file with results. */
const maxResultBytes = 4 * 1_073_741_824
const listed = 100

export interface ProviderClient {
  /** Uploads a file, and returns its id at the provider. */
  readonly upload: (path: string, boundary: string) => Effect.Effect<string, ProviderFailed | StoreError>
  readonly create: (fileId: string, endpoint: string, batchId: string) => Effect.Effect<RemoteBatch, ProviderFailed>
  /** The batch that was made of a file; null: none was, among the newest. */
  readonly find: (fileId: string) => Effect.Effect<RemoteBatch | null, ProviderFailed>
  readonly get: (id: string) => Effect.Effect<RemoteBatch, ProviderFailed>
  readonly cancel: (id: string) => Effect.Effect<void, ProviderFailed>
  /** Writes the content of a file to a path. */
  readonly download: (fileId: string, path: string) => Effect.Effect<void, ProviderFailed | StoreError>
  readonly remove: (fileId: string) => Effect.Effect<void, ProviderFailed>
}

const formOf = (path: string, bytes: number, boundary: string): BodySource => {
  const part = (name: string, more = "") =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`
  const head = Buffer.from(
    `${part("purpose")}batch\r\n${part("file", '; filename="batch.jsonl"\r\nContent-Type: application/jsonl')}`
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    bytes: head.length + bytes + tail.length,
    chunks: async function* () {
      yield head
      for await (const chunk of createReadStream(path)) yield chunk as Buffer
      yield tail
    }
  }
}

/** The interface of one account. */
interface Site {
  readonly upstream: typeof Upstream.Service
  readonly account: Account
  readonly endpoint: NonNullable<Account["endpoints"]["chat"]>
  /** Path of the chat completions, beside which the other paths are. */
  readonly chat: string
}

const failure = (error: RequestError) => new ProviderFailed({ status: null, message: failureText(error) })

const segment = encodeURIComponent

const request = (
  { account, chat, endpoint }: Site,
  method: UpstreamRequest["method"],
  path: string,
  body: UpstreamRequest["body"] = null,
  contentType = "application/json"
): UpstreamRequest => ({
  origin: endpoint.origin,
  path: pathBeside(chat, path) ?? path,
  method,
  headers: [
    ...endpoint.headers,
    ...(body === null ? [] : ["content-type", contentType]),
    "accept",
    "application/json",
    "accept-encoding",
    "identity"
  ],
  body,
  secrets: endpoint.secrets,
  owner: ownerOf(account.connection)
})

const refused = ({ account: { connection, spec } }: Site, status: number, body: Buffer) =>
  new ProviderFailed({ status, message: reasonOf(connection, spec, status, body) })

const ask = (
  site: Site,
  asked: UpstreamRequest,
  timeoutMs = limits.timeoutMs
): Effect.Effect<Json | undefined, ProviderFailed> =>
  site.upstream.request(asked, { ...limits, timeoutMs }).pipe(
    Effect.mapError(failure),
    Effect.flatMap(({ body, status }) =>
      status >= 200 && status < 300 ? Effect.succeed(parse(body) as Json | undefined) : refused(site, status, body)
    )
  )

const readAs = <A>(
  { account: { spec } }: Site,
  asked: Effect.Effect<Json | undefined, ProviderFailed>,
  read: (body: Json | undefined) => A | null
) =>
  Effect.flatMap(asked, (body) => {
    const found = read(body)
    return found === null
      ? new ProviderFailed({ status: 501, message: `${spec.name} has no batches in OpenAI's form.` })
      : Effect.succeed(found)
  })

const upload = (site: Site, path: string, boundary: string) =>
  Effect.gen(function* () {
    const { size } = yield* Effect.tryPromise({
      try: () => stat(path),
      catch: (cause) => new StoreError({ operation: "ProviderClient.upload", cause })
    })
    const body = formOf(path, size, boundary)
    const type = `multipart/form-data; boundary=${boundary}`
    return yield* readAs(site, ask(site, request(site, "POST", "/files", body, type), uploadTimeoutMs), madeId)
  })

const create = (site: Site, fileId: string, url: string, batchId: string) => {
  const body = JSON.stringify({
    input_file_id: fileId,
    endpoint: url,
    completion_window: "24h",
    metadata: { gateway_batch_id: batchId }
  })
  return readAs(site, ask(site, request(site, "POST", "/batches", body)), remoteBatchOf)
}

const find = (site: Site, fileId: string) =>
  Effect.map(
    ask(site, request(site, "GET", `/batches?limit=${listed}`)),
    (body) => listedBatches(body).find(({ inputFileId }) => inputFileId === fileId) ?? null
  )

const download = (site: Site, fileId: string, path: string) =>
  Effect.async<void, ProviderFailed | StoreError>((resume) => {
    const file = createWriteStream(path, { mode: 0o600 })
    const broken = (cause: unknown) =>
      resume(Effect.fail(new StoreError({ operation: "ProviderClient.download", cause })))
    let status = 0
    let bytes = 0
    const words: Array<Buffer> = []
    const call = site.upstream.dispatch(request(site, "GET", `/files/${segment(fileId)}/content`), {
      onHeaders: (told) => {
        status = told
      },
      onData: (chunk) => {
        bytes += chunk.length
        const isFile = status >= 200 && status < 300
        if (!isFile && bytes <= limits.maxBytes) words.push(chunk)
        if (bytes <= (isFile ? maxResultBytes : limits.maxBytes)) return isFile ? file.write(chunk) : true
        call.abort()
        file.destroy()
        resume(new ProviderFailed({ status: 502, message: "The provider's file with the results is too large." }))
        return false
      },
      onEnd: () => {
        if (status >= 200 && status < 300) return file.end(() => resume(Effect.void))
        file.destroy()
        resume(refused(site, status, Buffer.concat(words)))
      },
      onFail: (transport) => {
        file.destroy()
        resume(failure(transport))
      }
    })
    file.on("drain", () => call.resume())
    file.on("error", (cause) => {
      call.abort()
      broken(cause)
    })
    return Effect.sync(() => {
      call.abort()
      file.destroy()
    })
  }).pipe(
    Effect.timeoutFail({
      duration: downloadTimeoutMs,
      onTimeout: () => new ProviderFailed({ status: null, message: "The provider's file did not come in time." })
    })
  )

/** Null where the account has no such interface. */
export const clientOf = (upstream: typeof Upstream.Service, account: Account): ProviderClient | null => {
  const { connection, endpoints, spec } = account
  const endpoint = endpoints.chat
  const chat = endpoint?.path("", false)
  if (spec.batches !== "openai" || connection.authType === "oauth" || endpoint === undefined || chat === undefined) {
    return null
  }
  if (pathBeside(chat, "") === null) return null
  const site: Site = { upstream, account, endpoint, chat }
  return {
    upload: (path, boundary) => upload(site, path, boundary),
    create: (fileId, url, batchId) => create(site, fileId, url, batchId),
    find: (fileId) => find(site, fileId),
    get: (id) => readAs(site, ask(site, request(site, "GET", `/batches/${segment(id)}`)), remoteBatchOf),
    cancel: (id) => Effect.asVoid(ask(site, request(site, "POST", `/batches/${segment(id)}/cancel`))),
    download: (fileId, path) => download(site, fileId, path),
    remove: (fileId) => Effect.asVoid(ask(site, request(site, "DELETE", `/files/${segment(fileId)}`)))
  }
}
