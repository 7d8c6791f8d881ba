/** Brings the form of a request from the socket to memory or disk, no faster than the disk takes it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { IncomingMessage } from "node:http"
import { mkdir } from "node:fs/promises"
import {
  BodyNotDecoded,
  BodyTooLarge,
  type InferenceError,
  InvalidRequest,
  UnsupportedBody,
  UploadNotKept,
  UploadStalled
} from "../../domain/Errors.ts"
import type { Uploads } from "../../plane/request/Uploads.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Timers } from "../../platform/Timers.ts"
import type { BodyShare } from "../../plane/resilience/BodyBudget.ts"
import { uploadsFolder } from "../../store/DataFolder.ts"
import { announcedBytes, bodyOf } from "../listening/ContentCodings.ts"
import { StoreError } from "../../store/Errors.ts"
import { makeFormBody } from "./FormBody.ts"
import { type FormProblem, readForm } from "./FormReader.ts"
import { makeSpool, sweep } from "./Spool.ts"

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

export const make = Effect.gen(function* () {
  const { dataDir, maxUploadBytes: limitBytes } = yield* AppConfig
  const timers = yield* Timers
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const folder = uploadsFolder(dataDir)
  yield* Effect.tryPromise({
    try: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await sweep(folder)
    },
    catch: (cause) => new StoreError({ operation: "Forms.make", cause })
  })
  const tooLarge = (): BodyTooLarge => new BodyTooLarge({ limitBytes, setting: "GATEWAY_MAX_UPLOAD_MB" })

  const receive: typeof Forms.Service.receive = ({ files, id, request, share }, done) => {
    const source = bodyOf(request)
    let isOver = false
    const silence = timers.after(silentMs, () => refuse(new UploadStalled({ silentMs })))
    const spool = makeSpool(folder, id, share, {
      onReady: () => {
        if (isOver) return
        silence.restart()
        source.resume()
      },
      onFailure: (cause) => {
        if (isOver) return
        runFork(Effect.logError("An upload could not be kept on disk", cause))
        refuse(new UploadNotKept({ isDiskFull: isDiskFull(cause) }))
      }
    })
    const leave = (): boolean => {
      if (isOver) return false
      isOver = true
      silence.cancel()
      return true
    }
    const refuse = (result: InferenceError | "no_room" | "gone"): void => {
      if (!leave()) return
      spool.discard()
      done(result)
    }
    if (announcedBytes(request) > limitBytes + limits.maxOtherBytes) {
      refuse(tooLarge())
      return () => {}
    }
    const body = makeFormBody()
    const take = (chunk: Uint8Array | null): void => {
      if (chunk === null || isOver) return
      const taken = spool.write(chunk)
      if (taken === "no_room") refuse("no_room")
      else if (!taken) source.pause()
    }
    const parser = readForm(
      request.headers["content-type"] ?? "",
      { ...limits, maxFileBytes: limitBytes },
      {
        isFile: (name) => files.has(name),
        field: (name, value) => {
          if (!share.take(name.length + value.length)) refuse("no_room")
          else body.field(name, value)
        },
        file: (part) => {
          if (!files.has(part.name)) {
            const known = [...files].filter((name) => !name.endsWith("[]"))
            return {
              param: part.name,
              message: `A file of this form must be named ${known.map((name) => `'${name}'`).join(" or ")}.`
            }
          }
          body.file(part)
          spool.begin()
          return take
        },
        problem: (problem) => refuse(problem === "too_large" ? tooLarge() : invalid(problem)),
        done: () => {
          const problem = body.problem()
          if (problem !== null) return refuse(invalid(problem))
          spool.finish((uploads) => {
            received = uploads
            source.resume()
            if (hasEnded || epilogueBytes > maxEpilogueBytes) deliver()
          })
        }
      }
    )
    let received: Uploads | null = null
    let hasEnded = false
    let epilogueBytes = 0
    // The request ends behind the form's end: an answer before that would be cut with the connection.
    const deliver = (): void => {
      if (received === null || !leave()) return
      done({ body: body.bytes(received), uploads: received, discard: spool.discard })
    }
    source.on("data", (chunk: Buffer) => {
      if (isOver) return
      silence.restart()
      if (received !== null) {
        epilogueBytes += chunk.length
        if (epilogueBytes > maxEpilogueBytes) deliver()
        return
      }
      parser.write(chunk)
    })
    source.on("error", (cause) => {
      if (cause instanceof BodyNotDecoded) refuse(cause)
    })
    source.on("end", () => {
      hasEnded = true
      parser.end()
      deliver()
    })
    request.on("close", () => {
      if (!request.complete) refuse("gone")
    })
    if (request.destroyed && !request.complete) refuse("gone")
    return () => refuse("gone")
  }

  return Forms.of({ receive })
})

export const layer: Layer.Layer<Forms, StoreError, AppConfig | Timers> = Layer.effect(Forms, make)
