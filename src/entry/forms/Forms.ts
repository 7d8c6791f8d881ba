/** Brings the form of a request from the socket to memory or disk, no faster than the disk takes it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { IncomingMessage } from "node:http"
import { mkdir } from "node:fs/promises"
import type { Readable } from "node:stream"
import {
  BodyNotDecoded,
  BodyTooLarge,
  type InferenceError,
  InvalidRequest,
  UnsupportedBody,
  UploadNotKept,
  UploadStalled
} from "../../contract/domain/Errors.ts"
import type { Uploads } from "../../plane/request/Uploads.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { type Timer, Timers } from "../../platform/Timers.ts"
import type { BodyShare } from "../../plane/resilience/BodyBudget.ts"
import { uploadsFolder } from "../../store/DataFolder.ts"
import { announcedBytes, bodyOf } from "../listening/ContentCodings.ts"
import { StoreError } from "../../store/Errors.ts"
import { makeFormBody } from "./FormBody.ts"
import { type FilePart, type FormProblem, type FormSink, readForm } from "./FormReader.ts"
import { makeSpool, type Spool, sweep } from "./Spool.ts"

export interface ReceivedForm {
  readonly body: Buffer
  readonly uploads: Uploads
  /** Drops its files when the request is over. */
  readonly discard: () => void
}

export type FormResult = ReceivedForm | InferenceError | "no_room" | "gone"

export interface FormRequest {
  readonly request: IncomingMessage
  /** The request's own id. */
  readonly id: string
  /** Names of the parts that are files. */
  readonly files: ReadonlySet<string>
  readonly share: BodyShare
}

export class Forms extends Context.Tag("gateway/entry/forms/Forms")<
  Forms,
  {
    /**
     * Calls `done` once. Nothing is left of a form that was not received. The returned function cancels the reading.
     */
    readonly receive: (form: FormRequest, done: (result: FormResult) => void) => () => void
  }
>() {}

export const isForm = ({ headers }: Pick<IncomingMessage, "headers">): boolean =>
  /^multipart\/form-data\s*(?:;|$)/i.test(headers["content-type"] ?? "")

export const formOnly = new UnsupportedBody({
  message: "Send this request as multipart/form-data. Let your HTTP client set the Content-Type."
})

const limits = { maxParts: 64, maxFieldBytes: 262_144, maxOtherBytes: 2_097_152 }

/** Most bytes behind the closing boundary, which are dropped. */
const maxEpilogueBytes = 65_536

/** A client that sends nothing of its upload for this long has left without a word. */
const silentMs = 60_000

const invalid = ({ message, param }: FormProblem): InvalidRequest =>
  new InvalidRequest({ message, param, details: param === null ? [] : [{ field: param, message }] })

const isDiskFull = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "ENOSPC" || cause.code === "EDQUOT")

const unknownFile = (name: string, files: ReadonlySet<string>): FormProblem => {
  const known = [...files].filter((file) => !file.endsWith("[]")).map((file) => `'${file}'`)
  return { param: name, message: `A file of this form must be named ${known.join(" or ")}.` }
}

interface FormContext {
  readonly folder: string
  readonly limitBytes: number
  readonly timers: typeof Timers.Service
  readonly log: (effect: Effect.Effect<void>) => void
}

/** Reads the form of one request. `done` is called once. */
class FormReading implements FormSink {
  readonly #form: FormRequest
  readonly #context: FormContext
  readonly #done: (result: FormResult) => void
  readonly #source: Readable
  readonly #silence: Timer
  readonly #spool: Spool
  readonly #body = makeFormBody()
  #isOver = false
  /** The files of the whole form. */
  #received: Uploads | null = null
  #hasEnded = false
  #epilogueBytes = 0

  constructor(form: FormRequest, context: FormContext, done: (result: FormResult) => void) {
    this.#form = form
    this.#context = context
    this.#done = done
    this.#source = bodyOf(form.request)
    this.#silence = context.timers.after(silentMs, () => this.refuse(new UploadStalled({ silentMs })))
    this.#spool = makeSpool(context.folder, form.id, form.share, {
      onReady: () => {
        if (this.#isOver) return
        this.#silence.restart()
        this.#source.resume()
      },
      onFailure: (cause) => {
        if (this.#isOver) return
        context.log(Effect.logError("An upload could not be kept on disk", cause))
        this.refuse(new UploadNotKept({ isDiskFull: isDiskFull(cause) }))
      }
    })
  }

  start(): void {
    const { request } = this.#form
    const { limitBytes } = this.#context
    if (announcedBytes(request) > limitBytes + limits.maxOtherBytes) return this.problem("too_large")
    const parser = readForm(request.headers["content-type"] ?? "", { ...limits, maxFileBytes: limitBytes }, this)
    const source = this.#source
    source.on("data", (chunk: Buffer) => {
      if (this.#isOver) return
      this.#silence.restart()
      if (this.#received === null) parser.write(chunk)
      else this.#skip(chunk)
    })
    source.on("error", (cause) => {
      if (cause instanceof BodyNotDecoded) this.refuse(cause)
    })
    source.on("end", () => {
      this.#hasEnded = true
      parser.end()
      this.#deliver()
    })
    request.on("close", () => {
      if (!request.complete) this.refuse("gone")
    })
    if (request.destroyed && !request.complete) this.refuse("gone")
  }

  refuse(result: InferenceError | "no_room" | "gone"): void {
    if (!this.#leave()) return
    this.#spool.discard()
    this.#done(result)
  }

  isFile(name: string): boolean {
    return this.#form.files.has(name)
  }

  field(name: string, value: string): void {
    if (!this.#form.share.take(name.length + value.length)) this.refuse("no_room")
    else this.#body.field(name, value)
  }

  file(part: FilePart): ((chunk: Uint8Array | null) => void) | FormProblem {
    if (!this.isFile(part.name)) return unknownFile(part.name, this.#form.files)
    this.#body.file(part)
    this.#spool.begin()
    return this.#take
  }

  problem(problem: FormProblem | "too_large"): void {
    const { limitBytes } = this.#context
    this.refuse(
      problem === "too_large" ? new BodyTooLarge({ limitBytes, setting: "GATEWAY_MAX_UPLOAD_MB" }) : invalid(problem)
    )
  }

  done(): void {
    const problem = this.#body.problem()
    if (problem !== null) return this.problem(problem)
    this.#spool.finish((uploads) => {
      this.#received = uploads
      this.#source.resume()
      if (this.#hasEnded || this.#epilogueBytes > maxEpilogueBytes) this.#deliver()
    })
  }

  readonly #take = (chunk: Uint8Array | null): void => {
    if (chunk === null || this.#isOver) return
    const isTaken = this.#spool.write(chunk)
    if (isTaken === "no_room") this.refuse("no_room")
    else if (!isTaken) this.#source.pause()
  }

  /** Drops what comes behind the closing boundary. */
  #skip(chunk: Buffer): void {
    this.#epilogueBytes += chunk.length
    if (this.#epilogueBytes > maxEpilogueBytes) this.#deliver()
  }

  /** Hands the form over. The request ends behind the form's end: an answer before that would be cut with the connection. */
  #deliver(): void {
    const uploads = this.#received
    if (uploads === null || !this.#leave()) return
    this.#done({ body: this.#body.bytes(uploads), uploads, discard: this.#spool.discard })
  }

  #leave(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#silence.cancel()
    return true
  }
}

export const make = Effect.gen(function* () {
  const { dataDir, maxUploadBytes: limitBytes } = yield* AppConfig
  const timers = yield* Timers
  const log = Runtime.runFork(yield* Effect.runtime<never>())
  const folder = uploadsFolder(dataDir)
  yield* Effect.tryPromise({
    try: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await sweep(folder)
    },
    catch: (cause) => new StoreError({ operation: "Forms.make", cause })
  })
  return Forms.of({
    receive: (form, done) => {
      const reading = new FormReading(form, { folder, limitBytes, timers, log }, done)
      reading.start()
      return () => reading.refuse("gone")
    }
  })
})

export const layer: Layer.Layer<Forms, StoreError, AppConfig | Timers> = Layer.effect(Forms, make)
